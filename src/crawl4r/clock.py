"""What time is it, and how is it written?

A crawl reads its `Clock`, so that a test can let ten minutes pass in seconds. Files and answers
hold ISO 8601 in UTC, to the millisecond.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

# Names of fields that hold a time, besides those that end in `_at`.
_MOMENTS = frozenset(["at", "since", "until", "last_beat", "lastmod"])


class Clock(NamedTuple):
    """The clock that every decision about time reads. The event loop does the waiting.

    A faster clock needs an event loop whose `time()` is its `monotonic`. Sockets, threads and other
    processes get their timeouts in seconds of the machine, because no event loop speeds them up.
    """

    monotonic: Callable[[], float] = time.monotonic  # seconds that never go back
    wall: Callable[[], float] = time.time  # epoch seconds
    speed: float = 1.0  # seconds of this clock in one of the machine's

    def on_machine(self, seconds: float) -> float:
        """Seconds of this clock as seconds of the machine."""
        return seconds / self.speed

    def of_machine(self, seconds: float) -> float:
        """Seconds of the machine as seconds of this clock."""
        return seconds * self.speed


REAL_CLOCK = Clock()


def iso_time(epoch: float) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    seconds, milliseconds = divmod(round(epoch * 1000), 1000)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{moment}.{milliseconds:03d}Z"


def epoch_of(written: Any) -> float | None:
    """Read the output of `iso_time`, or seconds from earlier versions; None for other text."""
    if type(written) in {int, float}:
        return float(written)
    try:
        return datetime.fromisoformat(written).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def with_iso_times(value: Any) -> Any:
    """Write out the times in an answer: numbers in fields that hold a time, at any depth."""
    if isinstance(value, dict):
        return {name: _written(name, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_iso_times(each) for each in value]
    return value


def _written(name: Any, value: Any) -> Any:
    if type(value) in {int, float} and isinstance(name, str) and is_moment(name):
        try:
            return iso_time(value)
        except (OverflowError, ValueError, OSError):  # a year outside the range of datetime
            return value
    return with_iso_times(value)


def with_epoch_times(value: Any) -> Any:
    """Read the output of `with_iso_times`: times become numbers again."""
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
    """Whether the field of this name in an answer holds a time."""
    return name.endswith("_at") or name in _MOMENTS
