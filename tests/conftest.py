"""A crawl indexes and explores by default; most tests look at something else, and at every request.
Nor do they have time for the rest that a host gets after a challenge.

Whoever runs the tests in the background may ignore Ctrl-C, and all that they start would inherit it.
"""

import os
import signal

os.environ.setdefault("CRAWL4R_INDEX__ENABLED", "false")
os.environ.setdefault("CRAWL4R_EXPLORE__ENABLED", "false")
os.environ.setdefault("CRAWL4R_POLITENESS__CHALLENGE_REST", "0")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
