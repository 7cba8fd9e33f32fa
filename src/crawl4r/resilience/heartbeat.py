"""The pulse of a crawl: when it last did something, and when something is to happen next."""

from __future__ import annotations

import time
from collections.abc import Callable


class Heartbeat:
    """Written by those who act, read by whoever watches. All times are of the one clock.

    `at` is when the crawl last did something: a turn handed out, a request, an answer, a commit.
    `due` holds the times that somebody sleeps until, so that waiting politely is no silence.
    """

    __slots__ = ("at", "clock", "due", "under_way")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.at = clock()
        self.due: dict[object, float] = {}  # who sleeps: until when
        self.under_way = 0  # requests that were sent and not yet answered

    def beat(self) -> None:
        self.at = self.clock()
