"""How long does each connection keep the event loop busy?

The size of an answer does not say it: a server chooses how many packets, chunks and chunk extensions
it needs for a byte, and libcurl counts none of them against its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

_SLICE = 0.05  # seconds of work, after which the event loop gets a turn


class Effort:
    """Serves connections that are ready, a slice at a time, and counts what each of them costs."""

    def __init__(self, most: float, cpu: Callable[[], float]) -> None:
        """`most` is how many seconds one answer may cost, by a clock of CPU time.

        It must not be a clock of the wall: a process that was stopped for a while has not worked.
        """
        self._most = most
        self._cpu = cpu
        self._spent: dict[int, float] = {}  # seconds, by the number of the socket
        self._unserved: list[tuple[int, int]] = []

    def serve(
        self,
        poll: Callable[[], list[tuple[int, int]]],
        act: Callable[[int, int], object],
    ) -> Iterable[int]:
        """Call `act(fd, what)` for what is ready, until the slice is used up.

        Those that are left come first the next time, so that no busy connection starves another.
        Returns the sockets that have cost more than an answer may.
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
        """An answer on this connection has ended: the next one is counted from zero."""
        self._spent.pop(fd, None)
