"""Small tables of state.db: robots answers, host states, notes and running totals."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from crawl4r.model import HostMemory
from crawl4r.storage.database import Database
from crawl4r.storage.migrations import VERSIONS
from crawl4r.storage.ownership import tables_of, why_foreign


class RobotsRecord(Struct, frozen=True):
    """The result of fetching an origin's robots.txt, valid until `expires_at` (epoch seconds)."""

    origin: str
    outcome: str
    status: int | None
    body: bytes
    fetched_at: float
    expires_at: float


class RobotsRecords:
    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, origin: str) -> RobotsRecord | None:
        rows = self._database.read("SELECT * FROM robots WHERE origin = ?", (origin,))
        return RobotsRecord(*rows[0]) if rows else None

    def put(self, record: RobotsRecord) -> None:
        self._database.write(
            "INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)",
            (
                record.origin,
                record.outcome,
                record.status,
                record.body,
                record.fetched_at,
                record.expires_at,
            ),
        )

    def forget(self, outcomes: Iterable[str]) -> None:
        """Delete failed robots answers, so that they are fetched again."""
        self._database.write_many(
            "DELETE FROM robots WHERE outcome = ?", [(outcome,) for outcome in outcomes]
        )


class HostMemories:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, memories: Iterable[HostMemory]) -> None:
        self._database.write_many(
            "INSERT INTO hosts (name, next_at, delay, failures, openings, open_until)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET next_at = excluded.next_at,"
            " delay = excluded.delay, failures = excluded.failures, openings = excluded.openings,"
            " open_until = excluded.open_until",
            [(m.host, m.next_at, m.delay, m.failures, m.openings, m.open_until) for m in memories],
        )

    def load(self, now: float) -> list[HostMemory]:
        """The hosts with a wait, a slow-down or a cooldown."""
        rows = self._database.read(
            "SELECT name, next_at, delay, failures, openings, open_until FROM hosts"
            " WHERE next_at > ? OR failures > 0",
            (now,),
        )
        return [HostMemory(*row) for row in rows]


# Running totals of durable data, and of its imported part, which no crawl has fetched.
PAGES, BYTES = "pages", "bytes"
IMPORTED_PAGES, IMPORTED_BYTES = "imported_pages", "imported_bytes"


class Notes:
    """Notes and totals of the whole workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> str | None:
        rows = self._database.read("SELECT value FROM notes WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def put(self, key: str, value: str) -> None:
        self._database.write("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))

    def forget(self, key: str) -> None:
        self._database.write("DELETE FROM notes WHERE key = ?", (key,))

    def tally(self, name: str) -> int:
        rows = self._database.read("SELECT value FROM tallies WHERE name = ?", (name,))
        return int(rows[0][0]) if rows else 0

    def tallies(self) -> dict[str, int]:
        rows = self._database.read("SELECT name, value FROM tallies")
        return {str(name): int(value) for name, value in rows}

    def count(self, name: str, more: int) -> None:
        self._database.write(
            "INSERT INTO tallies VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET value = value + excluded.value",
            (name, more),
        )


def peek_note(workspace: Path, key: str) -> str | None:
    """A note of a workspace that is not open; None when it is missing or unreadable."""
    file = workspace / "state.db"
    if not file.exists() or why_foreign(file, tables_of(VERSIONS)):
        return None
    # Without a log there is no writer, and a normal connection would leave new files behind.
    mode = "mode=ro" if file.with_name("state.db-wal").exists() else "mode=ro&immutable=1"
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
        source = f"{file.absolute().as_uri()}?{mode}"
        with contextlib.closing(sqlite3.connect(source, uri=True)) as connection:
            row = connection.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
            return str(row[0]) if row else None
    return None
