"""cli: what does a person or a script type?"""

import gc

# Before anything is loaded: a command is thousands of objects that stay, and a collector that looks
# through them again and again takes a tenth of its start.
gc.set_threshold(50_000)
