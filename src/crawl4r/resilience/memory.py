"""How much memory does this process hold, and does that only ever grow?"""

from __future__ import annotations

import os
from collections import deque
from itertools import pairwise
from pathlib import Path

_STATM = Path("/proc/self/statm")
_MB = 1024**2
_HOUR = 3600.0  # seconds
_HOURS = 4  # whole ones that must each have grown before it is called a leak


def own_mb() -> float | None:
    """Resident memory without mapped files, which the kernel takes back when it needs to."""
    try:
        _, resident, shared, *_ = (int(word) for word in _STATM.read_text("ascii").split())
    except (OSError, ValueError):
        return None
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") / _MB


class Growth:
    """The least that each hour held. What comes and goes with the pages is not in it."""

    def __init__(self) -> None:
        self._least: deque[tuple[int, float]] = deque(maxlen=_HOURS + 2)  # (hour, MB)

    def note(self, now: float, mb: float) -> None:
        """`now` is in seconds of any clock that never goes back."""
        hour = int(now // _HOUR)
        if self._least and self._least[-1][0] == hour:
            self._least[-1] = (hour, min(self._least[-1][1], mb))
        else:
            self._least.append((hour, mb))

    def mb_an_hour(self) -> float:
        """What every one of the last whole hours added at least; 0 while too few are known."""
        whole = list(self._least)[1:-1]  # the first may have begun late, the last goes on
        if len(whole) < _HOURS:
            return 0.0
        steps = [
            (after - before) / (later - hour) for (hour, before), (later, after) in pairwise(whole)
        ]
        return max(0.0, min(steps))
