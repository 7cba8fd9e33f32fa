"""A state.db as an earlier version left it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_TO_8 = """
DROP INDEX urls_again;
DROP TABLE unannounced;
ALTER TABLE announcements DROP COLUMN status;
ALTER TABLE announcements DROP COLUMN bytes;
ALTER TABLE announcements DROP COLUMN latency_ms;
DELETE FROM tallies WHERE name GLOB 'ended_*' OR name GLOB 'status_*' OR name GLOB 'imported_*'
    OR name IN ('visits', 'retries', 'not_asked', 'not_modified');
PRAGMA user_version = 8;
"""


def set_back_to_8(workspace: Path, more: str = "") -> None:
    """Undo what was added since version 8; no process may have the workspace open."""
    (workspace / "state.sum").unlink(missing_ok=True)
    with closing(sqlite3.connect(workspace / "state.db")) as database:
        database.executescript(_TO_8 + more)
