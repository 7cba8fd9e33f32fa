"""Small tables of state.db: robots answers, host states, notes and running totals."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from crawl4r.model import HostMemory
from crawl4r.storage.database import Database

ROBOTS_RULES = "rules"  # the outcome of a robots.txt that was there


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
    """Notes and totals of the whole store."""

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
        """A running total over all crawls."""
        return self.tallies().get(name, 0)

    def tallies(self) -> dict[str, int]:
        rows = self._database.read("SELECT name, sum(value) FROM tallies GROUP BY name")
        return {str(name): int(value) for name, value in rows}
