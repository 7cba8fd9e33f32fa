"""A connection to PostgreSQL breaks around COMMIT: a unit is kept once, and its outcome is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from crawl4r.crawling.ledger.port import Taught
from crawl4r.errors import StorageError
from tests.crawling.ledger.postgres_proxy import LosingProxy
from tests.crawling.ledger.stores import PostgresStore, found, visited

PAGE, NEXT = "http://a.org/", "http://a.org/next"
MOMENTS = [("begin", "before"), ("commit", "before"), ("commit", "sent"), ("commit", "after")]


@pytest.fixture
def store(postgres_server: str, postgres_schema: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_server, postgres_schema)) as opened:
        opened.begin_crawl(1)
        yield opened


@pytest.fixture
def proxy(postgres_server: str) -> Iterator[LosingProxy]:
    opened = LosingProxy(postgres_server)
    yield opened
    opened.close()


def keep_while(proxy: LosingProxy, store: PostgresStore, lose: Callable[[], None]) -> None:
    """Keep a unit while the connection is lost, and again; look at what there is."""
    worker = store.worker(proxy.dsn)
    worker.add(1, [found(PAGE)], 0.0)
    worker.claim(1, 0.0)
    (lease,) = worker.lease(1, "a.org", 1)
    unit, taught = [visited(1, lease, links=[found(NEXT)])], Taught(tallies=[(1, "visits", 1)])
    lose()
    for now in (1.0, 2.0):
        outcome = worker.keep("unit", unit, taught, now, 0.0)
        assert (list(outcome.captures), list(outcome.admitted)) == ([1], [1])
    assert proxy.losses == 1
    assert [capture.url for capture in worker.captures_after(0, 9)] == [PAGE]
    assert store.rows("SELECT url, state FROM urls ORDER BY id") == [
        (PAGE, "done"),
        (NEXT, "pending"),
    ]
    assert store.rows("SELECT value FROM tallies WHERE name = 'visits'") == [(1,)]
    assert store.rows("SELECT at FROM units") == [(1.0,)]
    assert [lease.url for lease in worker.lease(1, "a.org", 5)] == [NEXT]


@pytest.mark.parametrize(("statement", "when"), MOMENTS)
def test_a_unit_whose_connection_broke_is_kept_once(
    proxy: LosingProxy, store: PostgresStore, statement: str, when: str
) -> None:
    keep_while(proxy, store, lambda: proxy.lose_at(statement, when))


def test_a_unit_whose_server_process_was_ended_at_commit_is_kept_once(
    proxy: LosingProxy, store: PostgresStore, postgres_server: str
) -> None:
    def end_processes() -> None:
        with psycopg.connect(postgres_server, autocommit=True) as own:
            own.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE application_name = 'to be ended'"
            )

    proxy.dsn += " application_name='to be ended'"
    keep_while(proxy, store, lambda: proxy.lose_at("commit", "sent", end_processes))


@pytest.mark.parametrize(("statement", "when"), MOMENTS)
def test_hosts_and_urls_whose_lease_was_lost_on_the_way_are_leased_later(
    proxy: LosingProxy, store: PostgresStore, statement: str, when: str
) -> None:
    worker = store.worker(proxy.dsn)
    proxy.lose_at(statement, when)
    assert worker.add(1, [found(PAGE)], 0.0) <= {"a.org"}
    proxy.lose_at(statement, when)
    claims, give_up_at = worker.claim(1, 0.0), time.monotonic() + 20
    while not claims and time.monotonic() < give_up_at:
        # Committed without an answer, or still locked by a process that does not know of the break.
        claims = worker.claim(1, 100.0)
    assert [claim.host for claim in claims] == ["a.org"]
    proxy.lose_at(statement, when)
    leases = worker.lease(1, "a.org", 1)
    if not leases:
        worker.let_go(["a.org"])
        worker.claim(1, 100.0)
        leases = worker.lease(1, "a.org", 1)
    assert [lease.url for lease in leases] == [PAGE]
    assert proxy.losses == 3


def test_a_server_that_stays_away_is_an_error(proxy: LosingProxy, store: PostgresStore) -> None:
    worker = store.worker(proxy.dsn)
    proxy.close()
    proxy.lose_at("begin", "before")
    with pytest.raises(StorageError, match="PostgreSQL"):
        worker.add(1, [found(PAGE)], 0.0)
