"""`health.json`: the state of a running crawl, for other processes.

The file is replaced as a whole and never synced. A crawl goes on when it cannot write the file.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawl4r.clock import with_epoch_times, with_iso_times
from crawl4r.resilience.diagnostics import within
from crawl4r.safe_text import read_json

NAME = "health.json"  # the same name as in storage/layout
NO_NETWORK, PAUSED = "waiting for the network", "paused"  # states of a crawl
_UNKNOWN = {
    "why": "",
    "until": None,
    "last_beat": None,
    "last_stall": None,
    "last_store_loss": None,
}
_EVERY = 5.0  # seconds between two writes of the same state
_PATIENCE = 2.0  # seconds that a write may take
_SILENT_AFTER = 60.0  # seconds without a write, which is a dozen missing ones


def new_history() -> dict[str, Any]:
    """The events of a crawl for `health.json`. The watchdog adds to them."""
    return {"stalls": 0, "last_stall": None, "store_losses": 0, "last_store_loss": None}


class HealthFile:
    """Writes the file from a thread that must not hang, even if the disk does.

    `write` replaces the text of a file, or raises OSError.
    """

    def __init__(self, folder: Path, write: Callable[[Path, bytes], None]) -> None:
        self.folder = folder
        self._replace = write
        self._lock = threading.Lock()
        self._is_closed = False
        self._state = ""
        self._due_at = 0.0

    def is_due(self, now: float, state: str) -> bool:
        """Whether the state is new, or the last write is old."""
        return state != self._state or now >= self._due_at

    def tell(self, now: float, health: dict[str, Any]) -> None:
        self._state, self._due_at = health["state"], now + _EVERY
        within(_PATIENCE, lambda: self._write(health), None)

    def close(self, health: dict[str, Any]) -> None:
        """Write the last state. A later call writes nothing: the last state stays."""
        within(_PATIENCE, lambda: self._write(health, is_last=True), None)

    def _write(self, health: dict[str, Any], *, is_last: bool = False) -> None:
        with self._lock, contextlib.suppress(OSError):
            if not self._is_closed:
                self._is_closed = is_last
                self._replace(self.folder / NAME, health_text(health))


def health_text(health: dict[str, Any]) -> bytes:
    """The text of the file: JSON with ISO times."""
    return json.dumps(with_iso_times(health), default=str).encode()


def health_of(folder: Path, pid: int | None) -> dict[str, Any] | None:
    """The state of the crawl that runs as `pid`, or the final state of the last crawl.

    A crawl that neither runs nor wrote a final state gets the state `killed`. A running one without a
    recent write gets the state `silent`: it hangs, or cannot write.
    """
    health = read_health(folder)
    if health is None:
        return None
    is_over = str(health.get("state")).startswith("ended")
    if health.get("pid") != pid and (pid is not None or not is_over):
        health["state"] = "killed" if pid is None else "starting"
    elif not is_over and _age_of(health) > _SILENT_AFTER:
        health["why"] = f"it hangs, or cannot write here; its last word was: {health['state']}"
        health["state"] = "silent"
    return _UNKNOWN | health


def _age_of(health: dict[str, Any]) -> float:
    at = health.get("at")
    return time.time() - at if isinstance(at, float | int) else 0.0


def read_health(folder: Path) -> dict[str, Any] | None:
    """The last written state; None when the file is missing or unreadable."""
    try:
        found = read_json((folder / NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return with_epoch_times(found) if isinstance(found, dict) else None
