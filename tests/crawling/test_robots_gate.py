"""What a site's answer for its robots.txt means for the site's URLs, without a server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawl4r.crawling.robots import ALLOW, REFUSED, UNREACHABLE
from crawl4r.model import Failure, Found, FoundBy, Response, Verdict
from crawl4r.politeness.host_budget import HostRules
from crawl4r.storage.tables import ROBOTS_RULES
from crawl4r.urls.policy import RobotsRules
from tests.crawling.small_crawl import HOST, SITE, SmallCrawl, answer, failure, small_crawl

ROBOTS = SITE + "/robots.txt"
ELSEWHERE = "http://other.org/robots.txt"
DENIES = answer(200, b"User-agent: *\nDisallow: /a\n", kind="text/plain")
DENIED, UNREACHED = Verdict.ROBOTS_DENIED, Verdict.ROBOTS_UNREACHABLE
RULE = "robots.txt: Disallow: /a (line 2)"
NO_GROUP = "robots.txt: no group for this agent"
LOOP = answer(301, location=ROBOTS)

WORDS = {
    "a rule": ({ROBOTS: DENIES}, ROBOTS_RULES, DENIED, RULE),
    "no rule for it": (
        {ROBOTS: answer(200, b"User-agent: *\nDisallow: /b")},
        ROBOTS_RULES, None, "robots.txt: no rule matches",
    ),
    "not there": ({ROBOTS: answer(404)}, ALLOW, None, NO_GROUP),
    "forbidden": ({ROBOTS: answer(403)}, ALLOW, None, NO_GROUP),
    "broken": ({ROBOTS: answer(500)}, UNREACHABLE, UNREACHED, "robots.txt: http-500"),
    "overloaded": ({ROBOTS: answer(429)}, UNREACHABLE, UNREACHED, "robots.txt: http-429"),
    "moved": (
        {ROBOTS: answer(301, location=ELSEWHERE), ELSEWHERE: DENIES}, ROBOTS_RULES, DENIED, RULE,
    ),
    "moved to a broken server": (
        {ROBOTS: answer(301, location=ELSEWHERE), ELSEWHERE: answer(503)},
        UNREACHABLE, UNREACHED, "robots.txt: http-503",
    ),
    "a circle": ({ROBOTS: LOOP}, ALLOW, None, NO_GROUP),
    "moved to no URL": (
        {ROBOTS: answer(301, location="http://")}, ALLOW, None, NO_GROUP,
    ),
    "no connection": (
        {ROBOTS: failure(Verdict.NETWORK_ERROR, transient=True)},
        UNREACHABLE, UNREACHED, "robots.txt: why",
    ),
    "a private address": (
        {ROBOTS: failure(Verdict.EGRESS_REFUSED, transient=False)},
        REFUSED, Verdict.EGRESS_REFUSED, "why",
    ),
}  # fmt: skip


async def load(crawl: SmallCrawl) -> int:
    """Ask until there is an answer to keep; how many times it was asked."""
    times = 1
    while (wait := await crawl.robots.load(SITE + "/a")) is not None:
        assert wait > 0
        times += 1
    return times


@pytest.mark.parametrize(("answers", "outcome", "verdict", "reason"), WORDS.values(), ids=WORDS)
def test_an_answer_is_a_word_on_every_url(
    tmp_path: Path,
    answers: dict[str, Response | Failure],
    outcome: str,
    verdict: Verdict | None,
    reason: str,
) -> None:
    with small_crawl(tmp_path, answers) as crawl:
        asyncio.run(load(crawl))
        assert crawl.robots.judge(SITE + "/a") == (verdict, reason)
        assert crawl.robots.allows(SITE + "/a") is (verdict is None)
        record = crawl.records.get(SITE)
    assert record is not None
    assert record.outcome == outcome


@pytest.mark.parametrize(
    ("given", "times"),
    [
        (answer(500), 3),
        (failure(Verdict.NETWORK_ERROR, transient=True), 3),
        (failure(Verdict.NETWORK_ERROR, transient=False), 1),
        (answer(404), 1),
    ],
)
def test_what_may_improve_is_asked_again_before_it_counts(
    tmp_path: Path, given: Response | Failure, times: int
) -> None:
    with small_crawl(tmp_path, {ROBOTS: given}) as crawl:
        assert asyncio.run(load(crawl)) == times
        assert crawl.transport.asked == [ROBOTS] * times


@pytest.mark.parametrize(
    ("given", "seconds"), [(DENIES, 24 * 3600.0), (answer(404), 24 * 3600.0), (answer(500), 600.0)]
)
def test_an_answer_holds_for_a_while_also_across_restarts(
    tmp_path: Path, given: Response, seconds: float
) -> None:
    with small_crawl(tmp_path, {ROBOTS: given}) as crawl:
        assert crawl.robots.needs(SITE + "/a")
        asyncio.run(load(crawl))
        crawl.database.commit()
    with small_crawl(tmp_path) as crawl:
        assert not crawl.robots.needs(SITE + "/a")
        crawl.now += seconds - 1
        assert not crawl.robots.needs(SITE + "/a")
        crawl.now += 1
        assert crawl.robots.needs(SITE + "/a")


def test_a_site_that_was_not_asked_allows_nothing(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        word = crawl.robots.judge(SITE + "/a")
    assert word == (UNREACHED, "robots.txt was not asked for")


def test_who_ignores_robots_needs_none(tmp_path: Path) -> None:
    with small_crawl(tmp_path, {ROBOTS: DENIES}, robots=RobotsRules(obey=False)) as crawl:
        assert not crawl.robots.needs(SITE + "/a")
        assert crawl.robots.judge(SITE + "/a") == (None, "robots.txt is ignored by your settings")
        crawl.robots.adopt(RobotsRules())
        assert crawl.robots.needs(SITE + "/a")


def test_a_rule_that_forbids_the_written_spelling_forbids_the_page(tmp_path: Path) -> None:
    rules = answer(200, b"User-agent: *\nDisallow: /list?sid=\n")
    with small_crawl(tmp_path, {ROBOTS: rules}) as crawl:
        asyncio.run(load(crawl))
        assert crawl.robots.judge(SITE + "/list").verdict is None
        assert crawl.robots.judge(SITE + "/list", "/list?sid=7").verdict is DENIED


def test_a_crawl_delay_slows_the_host_down(tmp_path: Path) -> None:
    rules = answer(200, b"User-agent: *\nCrawl-delay: 7\n")
    with small_crawl(tmp_path, {ROBOTS: rules}, host_rules=HostRules(delay=0.0)) as crawl:
        asyncio.run(load(crawl))
        assert crawl.budgets[HOST].delay == 7.0


def test_links_that_the_site_forbids_take_no_place_of_a_cap(tmp_path: Path) -> None:
    def link(path: str, *groups: str) -> Found:
        return Found(SITE + path, HOST, 1, FoundBy.LINK, True, "", groups=groups)

    with small_crawl(tmp_path, {ROBOTS: DENIES}) as crawl:
        asyncio.run(load(crawl))
        spared = crawl.robots.spare_places([link("/a", "cap"), link("/b", "cap"), link("/a")])
        assert [item.groups for item in spared] == [(), ("cap",), ()]
        uncounted = [link("/a"), link("/b")]
        assert crawl.robots.spare_places(uncounted) is uncounted
