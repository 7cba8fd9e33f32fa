"""A store for the tests of ledgers: its workers, its crawls and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import psycopg

from crawl4r.crawling.ledger.port import Kept, Ledger
from crawl4r.crawling.ledger.postgres.ledger import PostgresLedger
from crawl4r.crawling.ledger.postgres.links import CrawlRules
from crawl4r.crawling.ledger.sqlite import SqliteLedger
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Capture, Ending, Failure, Found, FoundBy, Lease, UrlState, Verdict, Visit
from crawl4r.storage.database import Database

CLAIM_SECONDS = 60.0
CAPS = {"posts": 2, "hosts": 3}
_owners = count(1)


class Store(Protocol):
    """Where workers keep their crawls."""

    page_of: str

    def worker(self) -> Ledger:
        """Another worker."""

    def crash(self, worker: Ledger) -> None:
        """Let a worker die: it writes nothing more."""

    def begin_crawl(self, number: int, state: str = "running") -> None:
        """Add a crawl, or give it this state."""

    def rows(self, sql: str) -> list[Any]:
        """The rows of a statement that both databases understand."""

    def clear(self) -> None:
        """Remove everything but the workers."""

    def close(self) -> None:
        """Let all workers die."""


_BEGIN = (
    "INSERT INTO crawls (id, name, kind, state, created_at) VALUES ({0}, 'crawl-{0}', 'crawl', '{1}',"
    " 0) ON CONFLICT (id) DO UPDATE SET state = excluded.state"
)


class SqliteStore:
    page_of = "p.id = r.page_id"  # joins rows to their pages
    _TABLES = (
        *(
            "announcements",
            "attempts",
            "captures",
            "claims",
            "crawls",
            "groups",
            "hosts",
            "lessons",
        ),
        *("pages", "revisits", "robots", "tallies", "units", "urls"),
    )

    def __init__(self, folder: Path) -> None:
        self._path = folder / "state.db"
        self._own = Database(self._path)
        self._databases: dict[int, Database] = {}

    def worker(self) -> Ledger:
        database = Database(self._path)
        frontiers: dict[int, SqliteFrontier] = {}

        def frontier_of(crawl: int) -> SqliteFrontier:
            if crawl not in frontiers:
                frontiers[crawl] = SqliteFrontier(database, crawl, breadth_first, CAPS)
            return frontiers[crawl]

        ledger = SqliteLedger(database, frontier_of, f"worker-{next(_owners)}", CLAIM_SECONDS)
        self._databases[id(ledger)] = database
        return ledger

    def crash(self, worker: Ledger) -> None:
        self._databases.pop(id(worker)).close()

    def begin_crawl(self, number: int, state: str = "running") -> None:
        self._own.write(_BEGIN.format(number, state))
        self._own.commit()

    def rows(self, sql: str) -> list[Any]:
        return self._own.read(sql)

    def clear(self) -> None:
        for table in self._TABLES:
            self._own.write(f"DELETE FROM {table}")
        self._own.commit()

    def close(self) -> None:
        for database in (*self._databases.values(), self._own):
            database.close()


class PostgresStore:
    page_of = "p.key = r.page"
    _TABLES = (
        *("attempts", "captures", "crawls", "groups", "hosts", "lessons", "pages", "revisits"),
        *("robots", "tallies", "units", "urls"),
    )

    def __init__(self, dsn: str, schema: str) -> None:
        self._dsn, self._schema = dsn, schema
        PostgresLedger(dsn, self._rules_of, "the first", CLAIM_SECONDS, schema).close()
        self._own = psycopg.connect(dsn, autocommit=True, options=f"-c search_path={schema}")
        self._ledgers: dict[int, PostgresLedger] = {}
        self._clears = 0

    @staticmethod
    def _rules_of(_crawl: int) -> CrawlRules:
        return CrawlRules(breadth_first, CAPS)

    def worker(self, dsn: str | None = None) -> Ledger:
        owner = f"worker-{next(_owners)}"
        ledger = PostgresLedger(
            dsn or self._dsn, self._rules_of, owner, CLAIM_SECONDS, self._schema
        )
        self._ledgers[id(ledger)] = ledger
        return ledger

    def crash(self, worker: Ledger) -> None:
        self._ledgers.pop(id(worker)).close()

    def begin_crawl(self, number: int, state: str = "running") -> None:
        self._own.execute(_BEGIN.format(number, state).encode())

    def rows(self, sql: str) -> list[Any]:
        return self._own.execute(sql.encode()).fetchall()

    def clear(self) -> None:
        self._clears += 1
        # To truncate takes longer, but what was deleted stays in the way of scans.
        how = "DELETE FROM" if self._clears % 100 else "TRUNCATE"
        clear = "; ".join(f"{how} {table}" for table in self._TABLES)
        self._own.execute(f"{clear}; UPDATE capture_numbers SET last = 0".encode())

    def close(self) -> None:
        for ledger in self._ledgers.values():
            ledger.close()
        self._own.close()


def found(url: str, depth: int = 1, by: str = FoundBy.LINK, **facts: Any) -> Found:
    facts = {"admitted": True, "rule": "", **facts}
    return Found(url, url.split("/")[2], depth, by, **facts)


def capture_of(lease: Lease, verdict: Verdict = Verdict.OK, **facts: Any) -> Capture:
    values: dict[str, Any] = {
        "url": lease.url,
        "fetched_at": 1.0,
        "status": 200,
        "verdict": verdict,
        "reason": "",
        "sha256": "ab" * 32 if verdict is Verdict.OK else None,
        "bytes": 5,
        "content_type": "text/html",
        "encoding": "utf-8",
        "headers": [("etag", '"1"'), ("x", "é")],
        "etag": '"1"',
        "last_modified": None,
        "page_type": lease.page_type,
        "depth": lease.depth,
        "referrer": lease.referrer,
        "latency_ms": 7,
        "retries": lease.attempts,
    }
    return Capture(**values | facts)


def visited(
    crawl: int,
    lease: Lease,
    state: UrlState = UrlState.DONE,
    verdict: Verdict = Verdict.OK,
    links: Sequence[Found] = (),
    due_at: float | None = None,
    **facts: Any,
) -> Kept:
    """A visit with a capture, or for a state without an answer one with a failure."""
    ending = Ending(lease.url_id, state, verdict, "", due_at)
    if state in {UrlState.DONE, UrlState.NEEDS_BROWSER}:
        capture = capture_of(lease, verdict, **facts)
        return Kept(crawl, Visit(lease, ending, capture, found=links))
    failure = Failure(verdict, "timeout: a test", transient=True)
    return Kept(crawl, Visit(lease, ending, failure=failure, found=links))
