"""A rollback by SQLite itself on a full disk is handled as such."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.clock import REAL_CLOCK
from crawl4r.crawling.keeper import CommitTargets, Keeper
from crawl4r.errors import StorageFull
from crawl4r.frontier.revisits import Revisits
from crawl4r.model import Ending, Lease, UrlState, Verdict, Visit
from crawl4r.storage.database import Database
from crawl4r.storage.tables import HostMemories, Notes
from crawl4r.wiring.frontier import make_frontier
from tests.faults.small_disk import resize, small_disk


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with small_disk(tmp_path / "disk") as disk:
        opened = Database(disk / "state.db")
        try:
            yield opened
        finally:
            opened.close()


def write_until_it_is_full(notes: Notes) -> None:
    for number in range(20_000):
        notes.put(f"note {number}", "x" * 4096)


def test_half_a_group_is_never_committed(database: Database) -> None:
    notes = Notes(database)
    notes.put("before", "kept")
    database.commit()
    notes.put("first half", "lost")
    with pytest.raises(StorageFull):
        write_until_it_is_full(notes)
        database.commit()
    resize(database.path.parent, "64m")
    with pytest.raises(StorageFull):
        notes.put("second half", "must not be kept alone")
    with pytest.raises(StorageFull):
        database.commit()
    database.rollback()
    notes.put("after", "kept")
    database.commit()
    found = [notes.get(key) for key in ("before", "first half", "second half", "after")]
    assert found == ["kept", None, None, "kept"]


def test_who_shares_a_transaction_with_a_keeper_that_fails_does_not_go_on_behind_it(
    tmp_path: Path,
) -> None:
    """A document that was written and rolled back would otherwise be passed over for good."""
    full = StorageFull("no room")

    class Full:
        def learn(self, visit: Visit, admitted: int) -> None:
            raise full

    with crawl4r.open(tmp_path) as workspace:
        parts = workspace.parts
        crawl = parts.crawls.add("full", 0.0).id
        targets = CommitTargets(
            parts.database,
            make_frontier(parts, crawl, workspace.settings),
            parts.captures,
            parts.blobs,
            [],
            crawl,
            parts.notes_of(crawl),
            HostMemories(parts.database),
            Revisits(parts.database),
        )
        budgets = workspace.budgets_for(workspace.settings)
        lease = Lease(1, "http://example.org/", "example.org", 0)
        visit = Visit(lease, Ending(1, UrlState.FAILED, Verdict.UNREADABLE, ""))
        keeper = Keeper(
            targets,
            budgets,
            REAL_CLOCK,
            group=1,
            learners=[Full()],
        )
        parts.notes.put("first document", "of a batch")
        with pytest.raises(StorageFull):
            asyncio.run(keeper.keep(visit, in_flight=1))
        with pytest.raises(StorageFull):
            parts.notes.put("second document", "and the cursor behind both")
        with pytest.raises(StorageFull):
            parts.database.commit()
