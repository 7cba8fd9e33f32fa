"""The state of separated mode for `status`, from its files. Read-only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawl4r.frontier.spool import SpoolReader, segment_names
from crawl4r.frontier.spool_progress import is_held, read_progress
from crawl4r.resilience.health_file import health_of
from crawl4r.storage.lock import holder_of


def spool_status(spool: Path, max_backlog: int) -> dict[str, Any] | None:
    """The state of the spool; None for a workspace without one."""
    if not spool.exists():
        return None
    progress = read_progress(spool)
    unread = SpoolReader(spool / "discoveries").unread(progress.bookmark)
    discoverer = holder_of(spool / "discover")
    return {
        "discoverer": discoverer,
        "segments": len(segment_names(spool / "discoveries")),
        "archived_segments": len(segment_names(spool / "archived")),
        "bookmark": progress.bookmark._asdict(),
        "unread": unread,
        "unfinished": progress.unfinished,
        "backlog": unread + progress.unfinished,
        "max_backlog": max_backlog,
        "is_held": discoverer is not None and is_held(spool),
        "resilience": health_of(spool / "discover", discoverer),
    }
