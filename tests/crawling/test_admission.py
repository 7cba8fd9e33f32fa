"""Which URLs are sent, and which links are taken in: rules of the crawl, of the site, of nesting."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawl4r.crawling.admission import Admission
from crawl4r.crawling.listing_depth import ListingDepth
from crawl4r.crawling.trap_filter import TrapRules, TrapWatch
from crawl4r.model import LISTING, Found, FoundBy, Lease, UrlState, Verdict, Visit
from crawl4r.storage.host_lessons import Lessons
from crawl4r.urls.policy import LinkRules
from crawl4r.urls.scope import ScopeRules
from tests.crawling.small_crawl import HOST, SITE, SmallCrawl, answer, small_crawl

ROBOTS = {SITE + "/robots.txt": answer(200, b"User-agent: *\nDisallow: /private\n")}
BROKEN = {SITE + "/robots.txt": answer(500)}
LEASE = Lease(1, SITE + "/a", HOST, 1)
TRAP = "/a" * 30  # more segments than a path may have
BARREN = "/print?doc={}"  # pages of this shape brought nothing new

REFUSALS: dict[str, tuple[Any, Lease, LinkRules, Any]] = {
    "allowed": (ROBOTS, LEASE, LinkRules(), None),
    "the site forbids it": (
        ROBOTS, replace(LEASE, url=SITE + "/private"), LinkRules(),
        (UrlState.REFUSED, Verdict.ROBOTS_DENIED),
    ),
    "the site forbids it as it was written": (
        ROBOTS, replace(LEASE, written="/private?x"), LinkRules(),
        (UrlState.REFUSED, Verdict.ROBOTS_DENIED),
    ),
    "the site could not be asked": (
        BROKEN, LEASE, LinkRules(), (UrlState.FAILED, Verdict.ROBOTS_UNREACHABLE),
    ),
    "the scope of now": (
        ROBOTS, LEASE, LinkRules(ScopeRules(deny=["/a$"])),
        (UrlState.REFUSED, Verdict.OUT_OF_SCOPE),
    ),
    "the depth of now": (
        ROBOTS, LEASE, LinkRules(max_depth=0), (UrlState.REFUSED, Verdict.CAPPED),
    ),
    "the depth does not concern a listing": (
        ROBOTS, replace(LEASE, page_type=LISTING), LinkRules(max_depth=0), None,
    ),
    "the index of the settings": (
        ROBOTS,
        replace(LEASE, page_type=LISTING, by=FoundBy.COMMON_CRAWL),
        LinkRules(ScopeRules(hosts=["other.org"])),
        None,
    ),
    "a trap": (
        ROBOTS, replace(LEASE, url=SITE + BARREN.format(7)), LinkRules(),
        (UrlState.REFUSED, Verdict.CAPPED),
    ),
    "a trap that was a page before": (
        ROBOTS, replace(LEASE, url=SITE + BARREN.format(7), is_revisit=True), LinkRules(), None,
    ),
}  # fmt: skip


def with_traps(crawl: SmallCrawl) -> Admission:
    traps = TrapWatch(TrapRules(), Lessons(crawl.database), crawl.clock.wall)
    for number in range(TrapRules().streak + 1):
        traps.guard.admit(SITE + BARREN.format(number))
        traps.guard.observe(SITE + BARREN.format(number), False, [])
    return Admission(crawl.robots, crawl.judge, ListingDepth(crawl.database, 3), traps)


async def ask_for_robots(crawl: SmallCrawl) -> None:
    while await crawl.admission.load_robots(SITE + "/") is not None:
        pass


@pytest.mark.parametrize(("answers", "lease", "links", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_a_url_is_sent_or_refused(
    tmp_path: Path, answers: Any, lease: Lease, links: LinkRules, expected: Any
) -> None:
    with small_crawl(tmp_path, answers, links=links) as crawl:
        asyncio.run(ask_for_robots(crawl))
        refused = with_traps(crawl).refusal(lease)
        assert crawl.transport.asked == [SITE + "/robots.txt"] * len(crawl.transport.asked)
    if expected is None:
        assert refused is None
    else:
        assert refused is not None
        assert (refused.ending.state, refused.ending.verdict) == expected
        assert refused.ending.reason
        assert refused.capture is None


def link(path: str, by: FoundBy = FoundBy.LINK, **facts: Any) -> Found:
    return Found(SITE + path, HOST, 2, by, True, "host", **facts)


@pytest.mark.parametrize(
    ("found", "admitted"),
    [
        (link("/b"), True),
        (link(TRAP), False),
        (link(TRAP, FoundBy.SEED), True),  # the user asked for it
        (link(TRAP, FoundBy.REDIRECT), True),
        (link(TRAP, FoundBy.PATTERN), True),  # has bounds of its own
    ],
)
def test_a_link_that_looks_like_a_trap_is_not_taken_in(
    tmp_path: Path, found: Found, admitted: bool
) -> None:
    with small_crawl(tmp_path, ROBOTS) as crawl:
        asyncio.run(ask_for_robots(crawl))
        ending = asyncio.run(crawl.judge.judge(LEASE, answer(404))).ending
        screened = with_traps(crawl).screen(Visit(LEASE, ending, found=[found]))
    (item,) = screened.found
    assert item.admitted is admitted
    assert item.rule.startswith("trap: ") is not admitted


@pytest.mark.parametrize(
    ("level", "admitted"),
    [(1, {"index": True, "page": True}), (2, {"index": True, "page": True}),
     (3, {"index": False, "page": True}), (4, {"index": False, "page": False})],
)  # fmt: skip
def test_sitemaps_lie_so_deep_in_each_other_and_no_deeper(
    tmp_path: Path, level: int, admitted: dict[str, bool]
) -> None:
    with small_crawl(tmp_path, ROBOTS) as crawl:
        asyncio.run(ask_for_robots(crawl))
        referrer = None
        for number in range(level):
            listing = link(f"/{number}.xml", FoundBy.SITEMAP, page_type=LISTING)
            crawl.frontier.add([listing], referrer, 0.0)
            referrer = crawl.frontier.id_of(listing.url)
        assert referrer is not None
        lease = replace(LEASE, url_id=referrer, page_type=LISTING, by=FoundBy.SITEMAP)
        named = [
            link("/index", FoundBy.SITEMAP, page_type=LISTING),
            link("/page", FoundBy.SITEMAP),
        ]
        ending = asyncio.run(crawl.judge.judge(LEASE, answer(404))).ending
        screened = crawl.admission.screen(Visit(lease, ending, found=named)).found
    assert {item.url.removeprefix(SITE + "/"): item.admitted for item in screened} == admitted


def test_a_visit_without_links_is_passed_as_it_is(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        visit = asyncio.run(crawl.judge.judge(LEASE, answer(404)))
        assert with_traps(crawl).screen(visit) is visit
