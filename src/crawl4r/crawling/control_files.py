"""Control files: files in a workspace with which people and programs hold or end a crawl.

`pause` holds every crawl in the workspace until the file is gone, also after a restart; `stop` ends
them like Ctrl-C. A role as suffix (`pause.discover`, `stop.scrape`, `pause.crawl`) addresses that one
alone, and the name of a crawl (`pause@news`) that crawl.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from crawl4r import events
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.storage.control_names import file_of
from crawl4r.storage.layout import PAUSE, STOP

_LOOK_AGAIN = 0.5  # seconds


class ControlFiles:
    """Watches the files for one running crawl."""

    def __init__(
        self,
        folder: Path,
        role: str,
        crawl: str,
        pause_gate: PauseGate,
        stop: Callable[[], None],
        *,
        is_first: bool = True,
    ) -> None:
        """`is_first`: no other crawl runs here, so an order to stop everything is an old one."""
        self._pauses = [file_of(folder, PAUSE), file_of(folder, PAUSE, role)]
        self._pauses.append(file_of(folder, PAUSE, crawl=crawl))
        own_stop = file_of(folder, STOP, crawl=crawl)
        self._stops = [file_of(folder, STOP), file_of(folder, STOP, role), own_stop]
        self._pause_gate = pause_gate
        self._stop = stop
        for path in self._stops if is_first else [own_stop]:  # left from an earlier run
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(_LOOK_AGAIN)

    def look(self) -> None:
        if any(path.exists() for path in self._stops):
            self._stop()
        paused_by = next((path for path in self._pauses if path.exists()), None)
        if paused_by:
            if self._pause_gate.hold(PAUSE, f"paused by {paused_by}"):
                events.emit(events.CRAWL_PAUSED, 30, file=str(paused_by))
        elif self._pause_gate.let_go(PAUSE):
            events.emit(events.CRAWL_UNPAUSED, 30)
