"""A group of visits is durable as a whole, or not at all: over a real state.db and real segments."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crawl4r.errors import StorageFull
from crawl4r.model import Lease, UrlState, Validators, Verdict, Visit
from crawl4r.storage.database import Database
from tests.crawling.small_crawl import PAGE, SITE, SmallCrawl, answer, failure, small_crawl

NO_ANSWER = failure(Verdict.NETWORK_ERROR, transient=True)


class Witness:
    """A learner that notes what it is told, and what another connection sees at that moment."""

    def __init__(self, crawl: SmallCrawl) -> None:
        self._path = crawl.database.path
        self.told: list[tuple[str, int]] = []
        self.seen_outside: list[int] = []
        self.committed: list[int] = []

    def learn(self, visit: Visit, admitted: int) -> None:
        self.told.append((visit.lease.url, admitted))
        self.seen_outside.append(self._captures())

    def on_commit(self) -> None:
        self.committed.append(self._captures())

    def _captures(self) -> int:
        outside = Database(self._path, read_only=True)
        try:
            return int(outside.read("SELECT count(*) FROM captures")[0][0])
        finally:
            outside.close()


async def judged(crawl: SmallCrawl, path: str, given: Any, **facts: Any) -> Visit:
    return await crawl.judge.judge(crawl.lease(path, **facts), given)


def keep(crawl: SmallCrawl, *given: Any, **options: Any) -> Sequence[set[str]]:
    """Keep the visits of /0, /1 and so on together."""

    async def all_together() -> Sequence[set[str]]:
        visits = [await judged(crawl, f"/{n}", each) for n, each in enumerate(given)]
        keeper = crawl.keeper(group=len(visits), **options)
        return await asyncio.gather(*(keeper.keep(visit, len(visits)) for visit in visits))

    return asyncio.run(all_together())


@pytest.mark.parametrize(
    ("given", "state", "captures", "kept"),
    [
        (answer(200, PAGE), UrlState.DONE, 1, PAGE),
        (answer(200), UrlState.DONE, 1, b""),
        (answer(404, b"no"), UrlState.DONE, 1, b"no"),
        (answer(301, location="/b"), UrlState.DONE, 1, None),
        (answer(503), UrlState.WAITING, 0, None),
        (NO_ANSWER, UrlState.WAITING, 0, None),
        (failure(Verdict.TOO_LARGE, transient=False), UrlState.FAILED, 0, None),
        (failure(Verdict.EGRESS_REFUSED, transient=False), UrlState.REFUSED, 0, None),
    ],
)
def test_a_visit_is_in_the_archive_and_ends_its_lease(
    tmp_path: Path, given: Any, state: UrlState, captures: int, kept: bytes | None
) -> None:
    with small_crawl(tmp_path) as crawl:
        keep(crawl, given)
        crawl.database.rollback()  # what is there now was committed
        assert crawl.state_of("/0") == state
        rows = crawl.captures.of_url(SITE + "/0")
        assert len(rows) == captures
        sha256 = rows[0].sha256 if rows else None
        assert (crawl.blobs.read(sha256) if sha256 else None) == kept


def test_a_group_shares_one_commit_and_the_first_hears_of_new_hosts(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        witness = Witness(crawl)
        hosts = keep(
            crawl,
            answer(200, PAGE),
            answer(404),
            NO_ANSWER,
            learners=[witness],
            on_commit=witness.on_commit,
        )
        assert hosts == [{"e.org"}, set(), set()]
        assert witness.told == [(f"{SITE}/0", 1), (f"{SITE}/1", 0), (f"{SITE}/2", 0)]
        assert witness.seen_outside == [0, 0, 0], "learners are asked within the transaction"
        assert witness.committed == [2], "what follows is called after it, once"
        assert crawl.state_of("/next") == UrlState.PENDING


def test_pages_and_bytes_are_counted_with_what_they_count(tmp_path: Path) -> None:
    async def keep_twice(crawl: SmallCrawl) -> None:
        keeper = crawl.keeper()
        await keeper.keep(await judged(crawl, "/a", answer(200, PAGE)), 1)
        await keeper.keep(await judged(crawl, "/b", answer(404, b"no")), 1)
        assert (keeper.fetched_pages, keeper.fetched_bytes) == (1, len(PAGE) + 2)

    with small_crawl(tmp_path) as crawl:
        asyncio.run(keep_twice(crawl))
        again = crawl.keeper()
        assert (again.pages, again.bytes) == (1, len(PAGE) + 2)


def test_an_unchanged_page_keeps_the_bytes_that_it_had(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        keep(crawl, answer(200, PAGE, etag='"1"'))
        crawl.frontier.requeue([UrlState.DONE])
        (lease,) = crawl.frontier.lease("e.org", 1)
        assert lease.validators == Validators('"1"')

        async def unchanged(lease: Lease) -> None:
            visit = await crawl.judge.judge(lease, answer(304))
            await crawl.keeper().keep(visit, 1)

        asyncio.run(unchanged(lease))
        hashes = [capture.sha256 for capture in crawl.captures.of_url(lease.url)]
        assert len(hashes) == 2
        assert len(set(hashes)) == 1


def test_a_visit_that_others_do_not_join_is_committed_alone(tmp_path: Path) -> None:
    """Others are in flight and could share the commit, and do not come."""
    with small_crawl(tmp_path) as crawl:

        async def alone() -> None:
            visit = await judged(crawl, "/a", answer(200, PAGE))
            await crawl.keeper(group=8).keep(visit, in_flight=5)

        asyncio.run(alone())
        assert crawl.state_of("/a") == UrlState.DONE


def test_a_store_that_is_full_fails_every_visit_of_the_group(tmp_path: Path) -> None:
    class Full:
        def learn(self, visit: Visit, admitted: int) -> None:
            raise StorageFull("no room")

    async def keep_both(crawl: SmallCrawl) -> list[Any]:
        keeper = crawl.keeper(group=2, learners=[Full()])
        visits = [await judged(crawl, path, answer(200, PAGE)) for path in ("/a", "/b")]
        kept = (keeper.keep(visit, 2) for visit in visits)
        found = await asyncio.gather(*kept, return_exceptions=True)
        assert keeper.untold == []
        assert keeper.pages == 0
        return found

    with small_crawl(tmp_path) as crawl:
        assert [type(each) for each in asyncio.run(keep_both(crawl))] == [StorageFull] * 2
    with small_crawl(tmp_path) as again:
        assert again.captures.last_id() == 0


def test_what_was_kept_for_a_task_that_is_gone_is_told_later(tmp_path: Path) -> None:
    async def cancelled(crawl: SmallCrawl) -> None:
        keeper = crawl.keeper(group=2)
        visit = await judged(crawl, "/a", answer(200, PAGE))
        task = asyncio.create_task(keeper.keep(visit, 2))
        await asyncio.sleep(0)  # it waits for another to share its commit
        task.cancel()
        keeper.commit()
        await asyncio.wait([task])
        assert keeper.untold == [visit]

    with small_crawl(tmp_path) as crawl:
        asyncio.run(cancelled(crawl))
        assert crawl.state_of("/a") == UrlState.DONE


def test_what_a_failed_crawl_drops_is_fetched_again(tmp_path: Path) -> None:
    async def dropped(crawl: SmallCrawl) -> None:
        keeper = crawl.keeper(group=2)
        task = asyncio.create_task(
            keeper.keep(await judged(crawl, "/a", answer(200, PAGE)), in_flight=2)
        )
        await asyncio.sleep(0)
        keeper.drop()
        keeper.commit()
        task.cancel()

    with small_crawl(tmp_path) as crawl:
        asyncio.run(dropped(crawl))
        assert crawl.captures.last_id() == 0
        assert crawl.frontier.recover() == 1
        assert crawl.state_of("/a") == UrlState.PENDING
