"""Answers that a test holds back until it lets them go: a slow server without a clock."""

import asyncio
from collections import defaultdict
from math import inf


class Gate:
    """Of one host: lets so many requests through, and holds the others until it is told of more."""

    def __init__(self) -> None:
        self._free: float = inf  # requests that may pass
        self._changed: asyncio.Future[None] | None = None  # what those who are held wait for
        self.held = 0  # requests

    def let(self, count: float) -> None:
        """So many may pass from now on, those first that are held."""
        self._free = count
        if self._changed:
            self._changed.set_result(None)
            self._changed = None

    async def passed(self) -> None:
        while self._free <= 0:
            self._changed = self._changed or asyncio.get_running_loop().create_future()
            self.held += 1
            try:
                # A client that leaves must not end the wait of the others.
                await asyncio.shield(self._changed)
            finally:
                self.held -= 1
        self._free -= 1


class Gates:
    """One for each host, open until a test closes it. Requests for robots.txt do not wait at it."""

    def __init__(self) -> None:
        self._gates: defaultdict[str, Gate] = defaultdict(Gate)

    def obey(self, command: str) -> None:
        """`hold HOST N`: answer N more requests, and no other until `release HOST`."""
        match command.split():
            case ["hold", host, after]:
                self._gates[host].let(int(after))
            case ["release", host]:
                self._gates[host].let(inf)

    def held(self) -> dict[str, int]:
        return {host: gate.held for host, gate in self._gates.items()}

    async def passed(self, host: str, path: str) -> None:
        if path != "/robots.txt":
            await self._gates[host].passed()
