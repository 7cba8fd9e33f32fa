"""The tables of the engine in PostgreSQL: who makes them, who refuses them, and rules of a crawl."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from crawl4r.crawling.ledger.port import Taught
from crawl4r.crawling.ledger.postgres.ledger import PostgresLedger
from crawl4r.crawling.ledger.postgres.links import CrawlRules
from crawl4r.crawling.ledger.postgres.schema import FORMAT
from crawl4r.errors import StorageError, UsageError, WorkspaceError
from crawl4r.frontier.priority import breadth_first
from crawl4r.model import UrlState
from tests.crawling.ledger.stores import PostgresStore, found, visited


def open_ledger(dsn: str, schema: str) -> PostgresLedger:
    return PostgresLedger(dsn, lambda _: CrawlRules(breadth_first), "worker", 60.0, schema)


@pytest.fixture
def rows(postgres_server: str, postgres_schema: str) -> Iterator[psycopg.Connection]:
    options = f"-c search_path={postgres_schema}"
    with psycopg.connect(postgres_server, autocommit=True, options=options) as opened:
        yield opened


def test_workers_that_start_at_once_make_the_tables_once(
    postgres_server: str, postgres_schema: str, rows: psycopg.Connection
) -> None:
    def start(_: int) -> int:
        with closing(open_ledger(postgres_server, postgres_schema)) as ledger:
            return ledger.unfinished(1)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(start, range(8))) == [0] * 8
    assert rows.execute("SELECT version FROM format").fetchall() == [(FORMAT,)]


def test_tables_of_a_newer_version_are_refused_by_name(
    postgres_server: str, postgres_schema: str, rows: psycopg.Connection
) -> None:
    open_ledger(postgres_server, postgres_schema).close()
    rows.execute("UPDATE format SET version = version + 1")
    with pytest.raises(WorkspaceError, match=rf"{postgres_schema} .* newer crawl4r \(format 2"):
        open_ledger(postgres_server, postgres_schema)


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'crawl4r\[postgres\]'"):
        open_ledger("postgresql://localhost", "x")


def test_an_error_of_the_server_shows_no_password() -> None:
    with pytest.raises(StorageError) as caught:
        open_ledger("postgresql://me:secret@127.0.0.1:1/x", "x")
    assert "PostgreSQL" in str(caught.value) and "secret" not in str(caught.value)


def test_a_crawl_that_keeps_to_known_pages_leases_only_those(
    postgres_server: str, postgres_schema: str
) -> None:
    known_only: set[int] = set()

    def rules_of(crawl: int) -> CrawlRules:
        return CrawlRules(breadth_first, keeps_to_known=crawl in known_only)

    with (
        closing(PostgresStore(postgres_server, postgres_schema)) as store,
        closing(PostgresLedger(postgres_server, rules_of, "me", 60.0, postgres_schema)) as ledger,
    ):
        store.begin_crawl(1)
        ledger.add(1, [found("http://a.org/"), found("http://b.org/")], 0.0)
        ledger.claim(1, 0.0)
        (lease,) = ledger.lease(1, "a.org", 9)
        ledger.keep("unit", [visited(1, lease)], Taught(), 0.0, 0.0)
        ledger.add(1, [found("http://a.org/new")], 0.0)
        ledger.let_go(["a.org"])
        known_only.add(1)
        assert ledger.claim(9, 1.0) == []
        ledger.requeue(1, [UrlState.DONE])
        assert [claim.host for claim in ledger.claim(9, 1.0)] == ["a.org"]
        assert [lease.url for lease in ledger.lease(1, "a.org", 9)] == ["http://a.org/"]
        known_only.clear()
        assert [claim.host for claim in ledger.claim(9, 1.0)] == ["b.org"]
        assert [lease.url for lease in ledger.lease(1, "a.org", 9)] == ["http://a.org/new"]
