"""A crawl's numbers over time, taken every few seconds and once more at its end."""

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
        """Until `end`; what is written then is the crawl's last word."""
        while not self._is_ending.is_set():
            try:
                async with asyncio.timeout(self._every):
                    await self._is_ending.wait()
            except TimeoutError:
                pass
            self._log.write(self._wall())

    def end(self) -> None:
        """Everything is committed."""
        self._is_ending.set()

    def stop(self) -> None:
        """There is nothing to leave out: `end` is near."""
