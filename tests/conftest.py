"""A crawl indexes and explores by default; most tests look at something else, and at every request.
Nor do they have time for the rest that a host gets after a challenge.

A shell that runs the tests in the background may ignore Ctrl-C, and all that they start would
inherit it.

Property tests try the same examples at every run, so that `make test` says the same of the same code.
`CRAWL4R_RANDOM=1` draws new ones, as `make soak` does.

Files that take minutes begin first: the last of them would keep one core busy while the others idle.
"""

import os
import signal

import pytest
from hypothesis import settings

os.environ.setdefault("CRAWL4R_INDEX__ENABLED", "false")
os.environ.setdefault("CRAWL4R_EXPLORE__ENABLED", "false")
os.environ.setdefault("CRAWL4R_POLITENESS__CHALLENGE_REST", "0")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("steady", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.load_profile("random" if os.environ.get("CRAWL4R_RANDOM") else "steady")

_MINUTES = (
    "tests/faults/",
    "tests/indexing/test_index_kill.py",
    "tests/workspace/separated/",
    "tests/logs/",
    "tests/tenacity/",
    "tests/walkthroughs/",
    "tests/interfaces/cli/test_selftest.py",
    "tests/resilience/",
    "tests/worlds/",
    "tests/crawling/exploring/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(_MINUTES))  # stable within both
