"""A crawl indexes and explores by default; most tests look at something else, and at every request.

Whoever runs the tests in the background may ignore Ctrl-C, and all that they start would inherit it.
"""

import os
import signal

os.environ.setdefault("CRAWL4R_INDEX__ENABLED", "false")
os.environ.setdefault("CRAWL4R_EXPLORE__ENABLED", "false")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
