"""The crawls of a store: their names, states, notes and running totals.

Crawl 0 is the store itself: its totals belong to no crawl, or to one that was deleted.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from crawl4r.errors import UsageError
from crawl4r.storage.database import Database
from crawl4r.storage.migrations import VERSIONS
from crawl4r.storage.ownership import tables_of, why_foreign

STORE = 0
_NAME = re.compile(r"[a-z0-9][a-z0-9._:-]{0,63}", re.ASCII)
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._:-]+", re.ASCII)
_FALLBACK = "crawl"
_SELECT = "SELECT id, name, kind, state, created_at, started_at, ended_at, ended_by FROM crawls"
_LAST_FIRST = "ORDER BY coalesce(started_at, created_at) DESC, id DESC"
_OF_CRAWL = ("urls", "groups", "crawl_notes", "lessons")
_ANNOUNCED = ("announcements", "unannounced")
_SCOPE_HOSTS = "scope_hosts"


class CrawlState(StrEnum):
    NEW = "new"
    RUNNING = "running"
    STOPPED = "stopped"  # by a person, a limit or a host; `ended_by` says which
    DONE = "done"  # nothing was left


class CrawlRecord(Struct, frozen=True):
    """A crawl as its row tells; times are epoch seconds."""

    id: int
    name: str
    kind: str
    state: str
    created_at: float
    started_at: float | None
    ended_at: float | None
    ended_by: str


def check_name(name: str) -> str:
    """The name of a crawl; raises UsageError for one that no crawl can have."""
    if not is_name(name):
        raise UsageError(
            f"{name!r} is no name for a crawl: use up to 64 lower-case letters, digits and . _ : -,"
            " beginning with a letter or digit, and not digits alone"
        )
    return name


def is_name(name: object) -> bool:
    """Whether a crawl can have this name."""
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and not name.isdigit()


class Crawls:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[CrawlRecord]:
        """Every crawl, in the order of their numbers."""
        return [CrawlRecord(*row) for row in self._database.read(f"{_SELECT} ORDER BY id")]

    def last(self) -> CrawlRecord | None:
        """The crawl that began last: what a command means that names none."""
        rows = self._database.read(f"{_SELECT} {_LAST_FIRST} LIMIT 1")
        return CrawlRecord(*rows[0]) if rows else None

    def running(self) -> list[CrawlRecord]:
        """The crawls that began and did not end; true while a process crawls in the store."""
        rows = self._database.read(f"{_SELECT} WHERE state = 'running' ORDER BY id")
        return [CrawlRecord(*row) for row in rows]

    def interrupt(self, but_for: int) -> None:
        """Those that a dead process left are not running."""
        self._database.write(
            "UPDATE crawls SET state = 'stopped', ended_by = 'interrupted'"
            " WHERE state = 'running' AND id != ?",
            (but_for,),
        )

    def with_seeds(self, seeds: Sequence[str]) -> CrawlRecord | None:
        """The crawl that began last of those that have all these seeds."""
        rows = self._database.read(
            f"{_SELECT} c WHERE NOT EXISTS (SELECT 1 FROM json_each(?) s WHERE NOT EXISTS"
            " (SELECT 1 FROM urls u WHERE u.crawl_id = c.id AND u.url = s.value"
            f" AND u.found_by = 'seed')) {_LAST_FIRST} LIMIT 1",
            (json.dumps(list(seeds)),),
        )
        return CrawlRecord(*rows[0]) if rows else None

    def find(self, word: str) -> CrawlRecord | None:
        """A crawl by its name or number; None when there is none."""
        column, value = ("id", int(word)) if word.isdecimal() else ("name", word)
        rows = self._database.read(f"{_SELECT} WHERE {column} = ?", (value,))
        return CrawlRecord(*rows[0]) if rows else None

    def get(self, word: str) -> CrawlRecord:
        """A crawl by its name or number. Raises UsageError that names the crawls there are."""
        found = self.find(word)
        if found is None:
            names = ", ".join(crawl.name for crawl in self.all()) or "none"
            raise UsageError(f"there is no crawl {word!r} in this store; there are: {names}")
        return found

    def add(self, name: str, now: float, kind: str = "crawl") -> CrawlRecord:
        """Add a crawl. Raises UsageError for a name that another one has."""
        if self.find(check_name(name)):
            raise UsageError(f"there is a crawl {name!r} in this store already: take another name")
        number = self._database.write(
            "INSERT INTO crawls (name, kind, state, created_at) VALUES (?, ?, ?, ?)",
            (name, kind, CrawlState.NEW.value, now),
        ).lastrowid
        return self.get(str(number))

    def free_name(self, host: str) -> str:
        """A name for a crawl of this host that no crawl has yet."""
        wanted = _NOT_IN_NAMES.sub("-", host.lower()).strip("-._:")[:56] or _FALLBACK
        if wanted.isdigit():
            wanted = f"{_FALLBACK}-{wanted}"
        taken = {crawl.name for crawl in self.all()}
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}-{number}"
        return name

    def begin(self, crawl: int, now: float) -> None:
        self._database.write(
            "UPDATE crawls SET state = ?, started_at = ?, ended_at = NULL, ended_by = ''"
            " WHERE id = ?",
            (CrawlState.RUNNING.value, now, crawl),
        )

    def end(self, crawl: int, state: CrawlState, why: str, now: float) -> None:
        self._database.write(
            "UPDATE crawls SET state = ?, ended_at = ?, ended_by = ? WHERE id = ?",
            (state.value, now, why, crawl),
        )

    def delete(self, crawl: int) -> None:
        """Delete what only this crawl has; its totals become the store's."""
        for table in _ANNOUNCED:
            self._database.write(
                f"DELETE FROM {table} WHERE url_id IN (SELECT id FROM urls WHERE crawl_id = ?)",
                (crawl,),
            )
        self._database.write("UPDATE captures SET crawl_id = NULL WHERE crawl_id = ?", (crawl,))
        for table in _OF_CRAWL:
            self._database.write(f"DELETE FROM {table} WHERE crawl_id = ?", (crawl,))
        for name, value in CrawlNotes(self._database, crawl).tallies().items():
            CrawlNotes(self._database, STORE).count(name, value)
        self._database.write("DELETE FROM tallies WHERE crawl_id = ?", (crawl,))
        self._database.write("DELETE FROM crawls WHERE id = ?", (crawl,))
        self._note_unused_numbers()

    def _note_unused_numbers(self) -> None:
        """So that the number of URLs is known without counting them; see `count_urls`."""
        unused = "(SELECT coalesce(max(id), 0) - count(*) FROM urls)"
        self._database.write(
            f"INSERT INTO notes VALUES ('unused_urls', {unused})"
            " ON CONFLICT DO UPDATE SET value = excluded.value"
        )


def count_urls(database: Database) -> int:
    """The number of URLs of all crawls. Rows are deleted only with a crawl, which notes the gap."""
    ((known,),) = database.read(
        "SELECT coalesce(max(id), 0) - coalesce((SELECT CAST(value AS INTEGER) FROM notes"
        " WHERE key = 'unused_urls'), 0) FROM urls"
    )
    return int(known)


class CrawlNotes:
    """Notes and totals of one crawl."""

    def __init__(self, database: Database, crawl: int) -> None:
        self._database = database
        self._crawl = crawl

    def get(self, key: str) -> str | None:
        rows = self._database.read(
            "SELECT value FROM crawl_notes WHERE crawl_id = ? AND key = ?", (self._crawl, key)
        )
        return str(rows[0][0]) if rows else None

    def put(self, key: str, value: str) -> None:
        self._database.write(
            "INSERT OR REPLACE INTO crawl_notes VALUES (?, ?, ?)", (self._crawl, key, value)
        )

    def forget(self, key: str) -> None:
        self._database.write(
            "DELETE FROM crawl_notes WHERE crawl_id = ? AND key = ?", (self._crawl, key)
        )

    def tally(self, name: str) -> int:
        rows = self._database.read(
            "SELECT value FROM tallies WHERE crawl_id = ? AND name = ?", (self._crawl, name)
        )
        return int(rows[0][0]) if rows else 0

    def tallies(self) -> dict[str, int]:
        rows = self._database.read(
            "SELECT name, value FROM tallies WHERE crawl_id = ?", (self._crawl,)
        )
        return {str(name): int(value) for name, value in rows}

    def count(self, name: str, more: int) -> None:
        self._database.write(
            "INSERT INTO tallies VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET value = value + excluded.value",
            (self._crawl, name, more),
        )

    def scope_hosts(self) -> list[str]:
        """The hosts of all seeds so far, and of the redirect targets of seeds."""
        return list(json.loads(self.get(_SCOPE_HOSTS) or "[]"))

    def note_scope_hosts(self, hosts: Sequence[str]) -> None:
        self.put(_SCOPE_HOSTS, json.dumps(hosts))


def peek_crawl_note(workspace: Path, key: str, crawl: str | None = None) -> str | None:
    """A note of a crawl, by default the last one, of a store that is not open.

    None when it is missing or unreadable. A store of an older version has one crawl.
    """
    file = workspace / "state.db"
    if not file.exists() or why_foreign(file, tables_of(VERSIONS)):
        return None
    column = "c.id" if crawl and crawl.isdecimal() else "c.name"
    which, values = ("", []) if crawl is None else (f"WHERE {column} = ?", [crawl])
    statements = [
        (
            "SELECT (SELECT value FROM crawl_notes n WHERE n.crawl_id = c.id AND n.key = ?) FROM"
            f" (SELECT * FROM crawls c {which} {_LAST_FIRST} LIMIT 1) c",
            (key, *values),
        ),
        ("SELECT value FROM notes WHERE key = ?", (key,)),
    ]
    # Without a log there is no writer, and a normal connection would leave new files behind.
    mode = "mode=ro" if file.with_name("state.db-wal").exists() else "mode=ro&immutable=1"
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
        source = f"{file.absolute().as_uri()}?{mode}"
        with contextlib.closing(sqlite3.connect(source, uri=True)) as connection:
            is_old = not connection.execute(
                "SELECT 1 FROM sqlite_master WHERE name = 'crawl_notes'"
            ).fetchone()
            row = connection.execute(*statements[is_old]).fetchone()
            return None if row is None or row[0] is None else str(row[0])
    return None
