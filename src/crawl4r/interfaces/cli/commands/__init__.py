"""commands: one file a command: parse, call, print."""
