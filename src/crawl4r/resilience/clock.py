"""What time is it? The one that a crawl goes by, so that a test can let ten minutes pass in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct


class Clock(Struct, frozen=True):
    """Every decision about time reads it; waiting is left to the event loop.

    A clock that hurries needs an event loop whose `time()` is its `monotonic`. What no event loop can
    hurry, because it is a socket, a thread or another process, is told in seconds of the machine.
    """

    monotonic: Callable[[], float] = time.monotonic  # seconds that never go back
    wall: Callable[[], float] = time.time  # epoch seconds
    speed: float = 1.0  # seconds of this clock in one of the machine's

    def on_machine(self, seconds: float) -> float:
        """How long the machine takes for so many seconds of this clock."""
        return seconds / self.speed

    def of_machine(self, seconds: float) -> float:
        """How long this clock takes for so many seconds of the machine."""
        return seconds * self.speed


REAL_CLOCK = Clock()
