"""`health.json`: what a running crawl says of itself, for whoever asks from another process.

It is replaced whole, never synced and never needed: a crawl goes on when it cannot be written.
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

NAME = "health.json"  # storage/layout knows it by the same name
NO_NETWORK, PAUSED = "waiting for the network", "paused"  # two of its states
_UNKNOWN = {
    "why": "",
    "until": None,
    "last_beat": None,
    "last_stall": None,
    "last_store_loss": None,
}
_EVERY = 5.0  # seconds between two writes of the same state
_PATIENCE = 2.0  # seconds that writing it may take
_SILENT_AFTER = 60.0  # seconds without a word, though it should have said a dozen


def new_history() -> dict[str, Any]:
    """What a crawl met so far, and `health.json` tells: for whoever watches it to add to."""
    return {"stalls": 0, "last_stall": None, "store_losses": 0, "last_store_loss": None}


class HealthFile:
    """Written by a thread that must not hang, also where the disk does.

    `write` replaces the whole text of a file, or raises OSError.
    """

    def __init__(self, folder: Path, write: Callable[[Path, bytes], None]) -> None:
        self.folder = folder
        self._replace = write
        self._lock = threading.Lock()
        self._is_closed = False
        self._state = ""
        self._due_at = 0.0

    def is_due(self, now: float, state: str) -> bool:
        """Whether there is news, or the last ones are old."""
        return state != self._state or now >= self._due_at

    def tell(self, now: float, health: dict[str, Any]) -> None:
        self._state, self._due_at = health["state"], now + _EVERY
        within(_PATIENCE, lambda: self._write(health), None)

    def close(self, health: dict[str, Any]) -> None:
        """The last word: whoever is late with an earlier one keeps it."""
        within(_PATIENCE, lambda: self._write(health, is_last=True), None)

    def _write(self, health: dict[str, Any], *, is_last: bool = False) -> None:
        with self._lock, contextlib.suppress(OSError):
            if not self._is_closed:
                self._is_closed = is_last
                self._replace(self.folder / NAME, health_text(health))


def health_text(health: dict[str, Any]) -> bytes:
    """What the file holds: JSON, with moments as people read them."""
    return json.dumps(with_iso_times(health), default=str).encode()


def health_of(folder: Path, pid: int | None) -> dict[str, Any] | None:
    """What the crawl that runs there as `pid` says, or how the last one was when it ended.

    One that neither runs nor has ended was killed: its last word is then called so. One that runs and
    has said nothing for long is silent: it hangs, or has no disk to say it on.
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
    """What was written last; None when nothing was, or nothing that can be read."""
    try:
        found = read_json((folder / NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return with_epoch_times(found) if isinstance(found, dict) else None
