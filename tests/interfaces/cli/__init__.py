"""The executable, from the outside: words, shapes, exit codes, signals."""
