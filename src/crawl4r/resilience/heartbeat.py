"""The heartbeat of a crawl: the time of its last event, and the times of due events."""

from __future__ import annotations

import time
from collections.abc import Callable


class Heartbeat:
    """The crawl writes it, the watchdog reads it. All times are of one clock.

    `at` is the time of the last event: a turn handed out, a request, an answer, a commit.
    `due` holds the wake-up times of sleeping tasks, so that a polite wait is no stall.
    """

    __slots__ = ("at", "clock", "due", "under_way")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.at = clock()
        self.due: dict[object, float] = {}  # wake-up times by task
        self.under_way = 0  # requests in flight

    def beat(self) -> None:
        self.at = self.clock()
