"""Log the figures of a crawl every few seconds, and once at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crawl4r.archive.lines.metrics_csv import MetricsLog


class Meter:
    """Writes to the log beside a crawl."""

    def __init__(self, log: MetricsLog, every: float, wall: Callable[[], float]) -> None:
        """`every` is in seconds; `wall` gives epoch seconds."""
        self._log = log
        self._every = every
        self._wall = wall
        self._is_ending = asyncio.Event()

    async def follow(self) -> None:
        """Write until `end`, then write the final figures."""
        while not self._is_ending.is_set():
            try:
                async with asyncio.timeout(self._every):
                    await self._is_ending.wait()
            except TimeoutError:
                pass
            self._log.write(self._wall())

    def end(self) -> None:
        """Call when everything is committed."""
        self._is_ending.set()

    def stop(self) -> None:
        """Does nothing, because `end` follows soon."""
