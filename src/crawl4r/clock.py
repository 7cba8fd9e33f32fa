"""What time is it, and how is it written?

A crawl asks its `Clock`, so that a test can let ten minutes pass in seconds. Every file and every
answer has ISO 8601 in UTC, to the millisecond.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

# Names of moments in answers, besides those that end in `_at`.
_MOMENTS = frozenset(["at", "since", "until", "last_beat", "lastmod"])


class Clock(NamedTuple):
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


def iso_time(epoch: float) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    seconds, milliseconds = divmod(round(epoch * 1000), 1000)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{moment}.{milliseconds:03d}Z"


def epoch_of(written: Any) -> float | None:
    """What `iso_time` wrote, or seconds as earlier versions wrote them; None for anything else."""
    if type(written) in {int, float}:
        return float(written)
    try:
        return datetime.fromisoformat(written).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def with_iso_times(value: Any) -> Any:
    """An answer with its moments written out: numbers under the name of a moment, at any depth."""
    if isinstance(value, dict):
        return {name: _written(name, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_iso_times(each) for each in value]
    return value


def _written(name: Any, value: Any) -> Any:
    if type(value) in {int, float} and isinstance(name, str) and is_moment(name):
        try:
            return iso_time(value)
        except (OverflowError, ValueError, OSError):  # a site may name a year that no clock has
            return value
    return with_iso_times(value)


def with_epoch_times(value: Any) -> Any:
    """What `with_iso_times` wrote, with its moments as numbers again."""
    if isinstance(value, list):
        return [with_epoch_times(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: epoch_of(each)
        if is_moment(name) and isinstance(each, str)
        else with_epoch_times(each)
        for name, each in value.items()
    }


def is_moment(name: str) -> bool:
    """Whether what has this name in an answer is a moment."""
    return name.endswith("_at") or name in _MOMENTS
