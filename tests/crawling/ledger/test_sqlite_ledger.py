"""What only the ledger in state.db does: it starts again after a kill, and waits for the disk once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawl4r.crawling.ledger.port import ClaimLost, Taught
from crawl4r.crawling.ledger.sqlite import SqliteLedger
from crawl4r.errors import StorageError
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.storage.crawls import Crawls
from crawl4r.storage.database import Database
from tests.crawling.ledger.stores import found, visited


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "state.db")) as opened:
        crawls = Crawls(opened)
        crawls.begin(crawls.add("crawl", 0.0).id, 0.0)
        opened.commit()
        yield opened


def ledger_of(database: Database, owner: str = "me") -> SqliteLedger:
    frontier = SqliteFrontier(database, 1, breadth_first)
    return SqliteLedger(database, lambda _: frontier, owner, 60.0)


def test_the_only_worker_goes_on_at_once_after_a_kill(database: Database) -> None:
    killed = ledger_of(database, "killed")
    killed.add(1, [found("http://a.org/"), found("http://a.org/2")], 0.0)
    killed.claim(1, 0.0)
    killed.lease(1, "a.org", 2)
    heir = ledger_of(database, "heir")
    assert heir.claim(1, 1.0) == []
    assert heir.end_all_claims() == 2
    (claim,) = heir.claim(1, 1.0)
    assert claim.is_inherited
    assert len(heir.lease(1, "a.org", 2)) == 2
    with pytest.raises(ClaimLost):
        killed.lease(1, "a.org", 1)


def test_leases_wait_for_no_disk_and_another_connection_sees_them(database: Database) -> None:
    ledger = ledger_of(database)
    ledger.add(1, [found("http://a.org/")], 0.0)
    ledger.claim(1, 0.0)
    (lease,) = ledger.lease(1, "a.org", 1)
    assert database.read("PRAGMA synchronous") == [(2,)], "the next commit waits again"
    with closing(Database(database.path)) as other:
        assert other.read("SELECT state FROM urls") == [("leased",)]
        other.write("UPDATE hosts SET delay = 1")  # nothing holds the lock
        other.commit()
    ledger.release([lease])
    database.rollback()
    assert database.read("SELECT state FROM urls") == [("pending",)]


def test_what_others_wrote_before_a_refused_unit_is_not_lost(database: Database) -> None:
    ledger = ledger_of(database)
    ledger.add(1, [found("http://a.org/")], 0.0)
    ledger.claim(1, 0.0)
    (lease,) = ledger.lease(1, "a.org", 1)
    ledger.let_go(["a.org"])
    database.write("INSERT INTO notes VALUES ('key', 'value')")
    with pytest.raises(ClaimLost):
        ledger.keep("unit", [visited(1, lease)], Taught(), 1.0, 0.0)
    database.commit()
    assert database.read("SELECT value FROM notes WHERE key = 'key'") == [("value",)]


def test_after_a_failed_write_the_ledger_writes_nothing_more(database: Database) -> None:
    ledger = ledger_of(database)
    ledger.add(1, [found("http://a.org/")], 0.0)
    ledger.claim(1, 0.0)
    (lease,) = ledger.lease(1, "a.org", 1)
    database.write("DROP TABLE units")
    database.commit()
    with pytest.raises(StorageError, match="units"):
        ledger.keep("unit", [visited(1, lease)], Taught(), 1.0, 0.0)
    with pytest.raises(StorageError, match="units"):
        ledger.add(1, [found("http://a.org/3")], 2.0)
    assert database.read("SELECT count(*) FROM captures") == [(0,)]
