"""Both ends of the spool without a process: what is announced, what is fed, and who waits for whom."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from crawl4r.clock import iso_time
from crawl4r.crawling.separated import READ, Announcer, BackPressure, SpoolFeed, SpoolSource
from crawl4r.frontier.outbox import Announcements
from crawl4r.frontier.schedule import PageTurn, Schedule
from crawl4r.frontier.spool import Bookmark, Discovery, SpoolReader, SpoolWriter, segment_names
from crawl4r.frontier.spool_progress import SpoolProgress, is_held, read_progress, write_progress
from crawl4r.model import Found, FoundBy, Lease, UrlState
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.storage.tables import Notes
from crawl4r.urls.policy import RobotsRules
from tests.crawling.small_crawl import HOST, NOW, PAGE, SITE, SmallCrawl, answer, small_crawl

SMALL, LARGE = 1, 1024**2  # bytes, after which a new segment begins


def announce(spool: Path, *discoveries: Discovery, segment_bytes: int = LARGE) -> None:
    writer = SpoolWriter(spool / "discoveries", segment_bytes, lambda: NOW)
    for discovery in discoveries:
        writer.append([discovery])
    writer.close()


class Scraper:
    """A feed, with what it feeds."""

    def __init__(
        self,
        crawl: SmallCrawl,
        spool: Path,
        drained: str = "keep",
        may_come: Callable[[], bool] = lambda: True,
    ) -> None:
        self.hosts: list[str] = []
        self.schedule = Schedule(
            crawl.frontier, crawl.budgets.of_crawl(), crawl.clock, needs_robots=crawl.robots.needs
        )
        self.feed = SpoolFeed(
            SpoolSource(spool, drained, may_come),
            crawl.database,
            crawl.frontier,
            crawl.captures,
            self.schedule,
            crawl.links,
            wall=crawl.clock.wall,
            on_host=self.hosts.append,
        )


def rows(crawl: SmallCrawl) -> list[tuple[Any, ...]]:
    query = "SELECT url, state, found_by, depth, page_type, written FROM urls ORDER BY id"
    return crawl.database.read(query)


NUMBERED = {"number": 1}
READINGS: dict[str, tuple[Discovery, tuple[Any, ...] | None]] = {
    "of our discoverer": (
        Discovery(SITE + "/a", "article", 2, SITE + "/", NUMBERED),
        (SITE + "/a", "pending", FoundBy.SPOOL, 2, "article", ""),
    ),
    "of another program": (
        Discovery(SITE + "/a"), (SITE + "/a", "pending", FoundBy.SEED, 0, "", ""),
    ),
    "spelled oddly": (
        Discovery("HTTP://E.org:80/a/../b#c"), (SITE + "/b", "pending", FoundBy.SEED, 0, "", ""),
    ),
    "as its page wrote it": (
        Discovery(SITE + "/a", metadata={**NUMBERED, "written": "/a?sid=1"}),
        (SITE + "/a", "pending", FoundBy.SPOOL, 0, "", "/a?sid=1"),
    ),
    "out of scope": (
        Discovery("http://other.org/a"),
        ("http://other.org/a", "refused", FoundBy.SEED, 0, "", ""),
    ),
    "no URL": (Discovery("mailto:x@e.org"), None),
}  # fmt: skip


@pytest.mark.parametrize(("discovery", "row"), READINGS.values(), ids=READINGS)
def test_a_discovery_is_a_url_to_visit(
    tmp_path: Path, discovery: Discovery, row: tuple[Any, ...] | None
) -> None:
    spool = tmp_path / "spool"
    announce(spool, discovery)
    with small_crawl(tmp_path) as crawl:
        scraper = Scraper(crawl, spool)
        assert scraper.feed.take_some()
        assert not scraper.feed.take_some()
        assert rows(crawl) == ([row] if row else [])
        is_admitted = row is not None and row[1] == "pending"
        assert scraper.hosts == ([HOST] if is_admitted else [])


def test_the_bookmark_is_kept_with_what_was_read(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    announce(spool, Discovery(SITE + "/a"))
    with small_crawl(tmp_path) as crawl:
        Scraper(crawl, spool).feed.take_some()
        crawl.database.rollback()
        assert [row[0] for row in rows(crawl)] == [SITE + "/a"]
    announce(spool, Discovery(SITE + "/b"))
    with small_crawl(tmp_path) as crawl:
        Scraper(crawl, spool).feed.take_some()
        assert [row[0] for row in rows(crawl)] == [SITE + "/a", SITE + "/b"]
        assert Notes(crawl.database).tally(READ) == 2


@pytest.mark.parametrize(
    ("metadata", "state"),
    [
        ({}, UrlState.DONE),
        ({"again": True, "found_at": iso_time(NOW + 60)}, UrlState.PENDING),
        ({"again": True, "found_at": iso_time(NOW - 60)}, UrlState.DONE),  # visited since
        ({"again": True}, UrlState.DONE),
        ({"again": True, "found_at": "yesterday"}, UrlState.DONE),
    ],
)
def test_a_known_page_is_visited_again_when_it_was_asked_for_since(
    tmp_path: Path, metadata: dict[str, Any], state: UrlState
) -> None:
    spool = tmp_path / "spool"
    announce(spool, Discovery(SITE + "/a", metadata={**NUMBERED, **metadata}))
    with small_crawl(tmp_path) as crawl:

        async def visit(lease: Lease) -> None:
            await crawl.keeper().keep(await crawl.judge.judge(lease, answer(200, PAGE)), 1)

        asyncio.run(visit(crawl.lease("/a")))
        Scraper(crawl, spool).feed.take_some()
        assert crawl.state_of("/a") == state


@pytest.mark.parametrize(
    ("drained", "left", "archived"), [("keep", 3, 0), ("delete", 1, 0), ("archive", 1, 2)]
)
def test_segments_that_were_read_are_put_away_as_told(
    tmp_path: Path, drained: str, left: int, archived: int
) -> None:
    spool = tmp_path / "spool"
    announce(spool, *(Discovery(f"{SITE}/{n}") for n in range(3)), segment_bytes=SMALL)
    with small_crawl(tmp_path) as crawl:
        Scraper(crawl, spool, drained).feed.take_some()
    assert len(segment_names(spool / "discoveries")) == left
    assert len(list((spool / "archived").glob("*.jsonl"))) == archived


async def scrape(crawl: SmallCrawl, scraper: Scraper) -> list[str]:
    """Visit what the feed brings, until there is nothing more to come; which URLs those were."""
    following = asyncio.create_task(scraper.feed.follow())
    visited = []
    while isinstance(turn := await scraper.schedule.next(), PageTurn):
        visited.append(turn.lease.url)
        turn.host.withdraw(crawl.now)
        visit = await crawl.judge.judge(turn.lease, answer(404))
        crawl.frontier.settle([visit.ending])
        scraper.schedule.settled(HOST)
    following.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await following
    return visited


def test_a_scraper_ends_once_nothing_more_can_come(tmp_path: Path) -> None:
    """A discoverer that ends says its last word between two looks: that is still read."""
    spool = tmp_path / "spool"
    announce(spool, Discovery(SITE + "/a"))
    looks = [True, True]

    def may_come() -> bool:
        if looks:
            return looks.pop()
        if len(segment_names(spool / "discoveries")) == 1:
            announce(spool, Discovery(SITE + "/last"), segment_bytes=SMALL)
        return False

    with small_crawl(tmp_path, robots=RobotsRules(obey=False)) as crawl:
        scraper = Scraper(crawl, spool, may_come=may_come)
        visited = asyncio.run(asyncio.wait_for(scrape(crawl, scraper), 20))
    assert visited == [SITE + "/a", SITE + "/last"]
    assert read_progress(spool).bookmark != Bookmark(), "the discoverer is told how far it is"


@pytest.mark.parametrize(
    ("waiting", "held", "gap"),
    [(0, False, 0.0), (5, False, 0.0), (8, False, 0.36), (10, True, 1.0), (12, True, 1.96)],
)
def test_a_discoverer_is_slowed_down_and_held(
    tmp_path: Path, waiting: int, held: bool, gap: float
) -> None:
    announce(tmp_path, *(Discovery(f"{SITE}/{n}") for n in range(waiting)))
    gate = PauseGate()
    pressure = BackPressure(tmp_path, gate, lambda: 10)
    pressure.look()
    assert (pressure.backlog, gate.is_held, is_held(tmp_path)) == (waiting, held, held)
    assert gate.gap == pytest.approx(gap)


@pytest.mark.parametrize(("unfinished", "held"), [(9, True), (6, True), (5, False), (0, False)])
def test_a_discoverer_that_was_held_goes_on_at_half_the_backlog(
    tmp_path: Path, unfinished: int, held: bool
) -> None:
    gate = PauseGate()
    pressure = BackPressure(tmp_path, gate, lambda: 10)
    write_progress(tmp_path, SpoolProgress(Bookmark(), 10))
    pressure.look()
    assert gate.is_held
    write_progress(tmp_path, SpoolProgress(Bookmark(), unfinished))
    pressure.look()
    assert (gate.is_held, is_held(tmp_path)) == (held, held)


def announced(crawl: SmallCrawl, spool: Path, leases: Iterable[Lease]) -> list[Discovery]:
    """Visit URLs as a discoverer does; what is in the spool then."""
    writer = SpoolWriter(spool, LARGE, lambda: NOW)
    announcer = Announcer(Announcements(crawl.database, crawl.crawl), writer)

    async def visit() -> None:
        keeper = crawl.keeper(learners=[announcer], on_commit=announcer.pass_on)
        for lease in leases:
            announcer.admit(lease.url, NOW)
            await keeper.keep(await crawl.judge.judge(lease, answer(200, PAGE)), 1)

    asyncio.run(visit())
    announcer.pass_on()
    writer.close()
    return list(SpoolReader(spool).read(Bookmark(), 100).discoveries)


def test_a_visit_is_announced_once_with_what_came_of_it(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    with small_crawl(tmp_path) as crawl:
        (first,) = announced(crawl, spool, [crawl.lease("/a")])
        assert (first.url, first.depth) == (SITE + "/a", 0)
        assert first.metadata["status_code"] == 200
        assert first.metadata["content_length"] == len(PAGE)
        second = announced(crawl, spool, [crawl.lease("/b")])[1]
    assert (second.url, second.metadata["number"]) == (SITE + "/b", first.metadata["number"] + 1)


def test_numbers_go_on_from_those_in_the_spool(tmp_path: Path) -> None:
    """The database was lost, and the spool is there: no number is used twice."""
    spool = tmp_path / "spool"
    announce(tmp_path / "old", Discovery(SITE + "/x", metadata={"number": 41}))
    (tmp_path / "old" / "discoveries").rename(spool)
    with small_crawl(tmp_path) as crawl:
        found = announced(crawl, spool, [crawl.lease("/a")])
    assert [each.metadata["number"] for each in found] == [41, 42]


def test_a_url_that_is_only_known_is_not_announced(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        announcements = Announcements(crawl.database, crawl.crawl)
        seen = Found(SITE + "/a", HOST, 0, FoundBy.SEED, True, "")
        crawl.frontier.add([seen], None, NOW)
        announcements.note(seen.url, NOW)
        assert announcements.after(0, 10) == []
