"""Generated attacks on every layer with untrusted input, run against the real command.

`make soak` runs `python -m tests.attacks --seconds 3600`. A round is made of its seed, its number
and its layer alone, so that it can be repeated: `--seed S --round N --only LAYER`.
"""
