"""Measure how long each connection keeps the event loop busy.

The size of an answer does not tell: a server may use many packets, chunks and chunk extensions for a
byte, and libcurl's limits count none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

_SLICE = 0.05  # seconds of work before the event loop gets a turn


class Effort:
    """Serves ready connections in time slices, and sums up the cost of each."""

    def __init__(self, most: float, cpu: Callable[[], float]) -> None:
        """`most`: the seconds of CPU that one answer may cost.

        The clock must measure CPU time: a stopped process does no work.
        """
        self._most = most
        self._cpu = cpu
        self._spent: dict[int, float] = {}  # seconds by socket number
        self._unserved: list[tuple[int, int]] = []

    def serve(
        self,
        poll: Callable[[], list[tuple[int, int]]],
        act: Callable[[int, int], object],
    ) -> Iterable[int]:
        """Call `act(fd, what)` for ready sockets until the slice is used up.

        The rest comes first in the next slice, so that no busy connection starves another.
        Returns the sockets above the limit.
        """
        ready = self._unserved or poll()
        began = now = self._cpu()
        costly = []
        for number, (fd, what) in enumerate(ready, 1):
            before = now
            act(fd, what)
            now = self._cpu()
            spent = self._spent[fd] = self._spent.get(fd, 0.0) + now - before
            if spent > self._most:
                costly.append(fd)
            if now - began > _SLICE:
                self._unserved = ready[number:]
                return costly
        self._unserved = []
        return costly

    def forget(self, fd: int) -> None:
        """Reset the cost of a connection after an answer."""
        self._spent.pop(fd, None)
