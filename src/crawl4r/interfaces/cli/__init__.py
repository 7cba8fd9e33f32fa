"""cli: what does a person or a script type?"""

import gc

# Before the imports: they create thousands of objects that stay, and garbage collections during the
# imports take a tenth of the start.
gc.set_threshold(50_000)
