"""Measure the memory of this process, and detect constant growth."""

from __future__ import annotations

import os
from collections import deque
from itertools import pairwise
from pathlib import Path

_STATM = Path("/proc/self/statm")
_MB = 1024**2
_HOUR = 3600.0  # seconds
_HOURS = 4  # whole hours that must all show growth for a leak


def own_mb() -> float | None:
    """Resident memory without mapped files, which the kernel can reclaim."""
    try:
        _, resident, shared, *_ = (int(word) for word in _STATM.read_text("ascii").split())
    except (OSError, ValueError):
        return None
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") / _MB


class Growth:
    """The minimum of each hour, which excludes short-lived memory of pages."""

    def __init__(self) -> None:
        self._least: deque[tuple[int, float]] = deque(maxlen=_HOURS + 2)  # (hour, MB)

    def note(self, now: float, mb: float) -> None:
        """Add a measurement; `now` is in seconds of a monotonic clock."""
        hour = int(now // _HOUR)
        if self._least and self._least[-1][0] == hour:
            self._least[-1] = (hour, min(self._least[-1][1], mb))
        else:
            self._least.append((hour, mb))

    def mb_an_hour(self) -> float:
        """The least growth of each of the last whole hours; 0 while too few are known."""
        whole = list(self._least)[1:-1]  # the first hour may be partial, the last is unfinished
        if len(whole) < _HOURS:
            return 0.0
        steps = [
            (after - before) / (later - hour) for (hour, before), (later, after) in pairwise(whole)
        ]
        return max(0.0, min(steps))
