"""What an answer means for its URL: a table of answers and endings, without a server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from crawl4r.crawling.judge import AnswerRules, is_wanted
from crawl4r.model import LISTING, FoundBy, Lease, UrlState, Validators, Verdict, Visit
from crawl4r.urls.policy import LinkRules
from crawl4r.urls.scope import ScopeRules
from tests.crawling.small_crawl import (
    BACKOFF,
    HOST,
    IN_SCOPE,
    NOW,
    PAGE,
    SITE,
    SmallCrawl,
    answer,
    failure,
    small_crawl,
)

CHALLENGE = (
    b"<html><head><title>Just a moment...</title></head><body><h1>Checking your browser before"
    b" accessing e.org</h1><form id='challenge-form'></form></body></html>"
)
SHELL = (
    b"<html><head><title>App</title></head><body><noscript>You need to enable JavaScript to run this"
    b" app.</noscript><div id='root'></div><script src='/app.js'></script></body></html>"
)
OFFERS = b"<!doctype html><title>Shop</title><h1>Our shop</h1><p>See what we offer this week.</p>"
SITEMAP = b"<urlset><url><loc>http://e.org/named</loc></url></urlset>"
DONE, FAILED, WAITING, REFUSED = (
    UrlState.DONE,
    UrlState.FAILED,
    UrlState.WAITING,
    UrlState.REFUSED,
)
KNOWN = {"validators": Validators(etag='"1"')}
LAST = {"attempts": BACKOFF.retries}
NETWORK = Verdict.NETWORK_ERROR

ENDINGS = {
    "a page": (answer(200, PAGE), {}, DONE, Verdict.OK, ""),
    "an empty page": (answer(200), {}, DONE, Verdict.OK, ""),
    "a file": (answer(200, b"%PDF-1.4", kind="application/pdf"), {}, DONE, Verdict.OK, ""),
    "an unchanged page": (answer(304), KNOWN, DONE, Verdict.NOT_MODIFIED, ""),
    "unchanged, but we have none": (answer(304), {}, DONE, Verdict.HTTP_ERROR, "http-304"),
    "a redirect": (answer(301, location="/b"), {}, DONE, Verdict.REDIRECT, f"to {SITE}/b"),
    "a redirect to nowhere": (answer(301), {}, DONE, Verdict.HTTP_ERROR, "http-301"),
    "a redirect to no URL": (
        answer(302, location="http://"), {}, DONE, Verdict.REDIRECT,
        "redirects to 'http://', which is no URL",
    ),
    "one redirect too many": (
        answer(301, location="/b"), {"redirects": 3}, DONE, Verdict.REDIRECT,
        "more than 3 redirects",
    ),
    "not there": (answer(404, PAGE), {}, DONE, Verdict.HTTP_ERROR, "http-404"),
    "forbidden": (answer(403, PAGE), {}, DONE, Verdict.HTTP_ERROR, "http-403"),
    "an odd status": (answer(299, PAGE), {}, DONE, Verdict.OK, ""),
    "overloaded": (answer(503), {}, WAITING, Verdict.HTTP_ERROR, "http-503"),
    "overloaded for good": (
        answer(503), LAST, FAILED, Verdict.HTTP_ERROR, "http-503 after 3 attempts",
    ),
    "not implemented": (answer(501), {}, DONE, Verdict.HTTP_ERROR, "http-501"),
    "a challenge": (answer(200, CHALLENGE), {}, WAITING, Verdict.BLOCKED, None),
    "a challenge to the end": (answer(200, CHALLENGE), LAST, FAILED, Verdict.BLOCKED, None),
    "a shell": (answer(200, SHELL), {}, UrlState.NEEDS_BROWSER, Verdict.NEEDS_BROWSER, None),
    "no connection": (failure(NETWORK, transient=True), {}, WAITING, NETWORK, "why"),
    "no connection at last": (
        failure(NETWORK, transient=True), LAST, FAILED, NETWORK, "why (attempt 3, the last)",
    ),
    "a bad certificate": (failure(NETWORK, transient=False), {}, FAILED, NETWORK, "why"),
    "too large": (
        failure(Verdict.TOO_LARGE, transient=False), {}, FAILED, Verdict.TOO_LARGE, "why",
    ),
    "a private address": (
        failure(Verdict.EGRESS_REFUSED, transient=False), {}, REFUSED, Verdict.EGRESS_REFUSED, "why",
    ),
}  # fmt: skip


def judged(
    folder: Path,
    given: Any,
    facts: dict[str, Any] | None = None,
    *,
    sick: bool = False,
    **rules: Any,
) -> Visit:
    with small_crawl(folder, **rules) as crawl:
        lease = Lease(
            **{"url_id": 1, "url": SITE + "/a", "host": HOST, "depth": 1, **(facts or {})}
        )
        return asyncio.run(crawl.judge.judge(lease, given, is_host_sick=sick))


@pytest.mark.parametrize(
    ("given", "facts", "state", "verdict", "reason"), ENDINGS.values(), ids=ENDINGS
)
def test_an_answer_ends_a_visit(
    tmp_path: Path,
    given: Any,
    facts: dict[str, Any],
    state: UrlState,
    verdict: Verdict,
    reason: str | None,
) -> None:
    ending = judged(tmp_path, given, facts).ending
    assert (ending.state, ending.verdict) == (state, verdict)
    assert reason in {None, ending.reason}
    assert (ending.due_at is not None) is (state is WAITING)


@pytest.mark.parametrize(
    ("given", "facts", "kept"),
    [
        (answer(200, PAGE), {}, PAGE),
        (answer(200), {}, b""),
        (answer(404, PAGE), {}, PAGE),
        (answer(301, location="/b"), {}, None),
        (answer(304), KNOWN, None),
        (answer(200, CHALLENGE), LAST, CHALLENGE),
        (answer(200, CHALLENGE), {}, None),
        (failure(NETWORK, transient=True), {}, None),
    ],
)
def test_bytes_are_kept_of_what_is_final(
    tmp_path: Path, given: Any, facts: dict[str, Any], kept: bytes | None
) -> None:
    assert judged(tmp_path, given, facts).body == kept


@pytest.mark.parametrize(
    ("given", "wait"),
    [
        (answer(503, retry_after="200"), 200.0),
        (answer(429, retry_after="90000"), 500.0),  # capped
        (answer(429, retry_after="1"), None),  # less than the backoff of 5 to 10 seconds
        (answer(503), None),
        (failure(NETWORK, transient=True, retry_after=60.0), 60.0),
    ],
)
def test_a_retry_is_due_when_the_server_asks_for_it(
    tmp_path: Path, given: Any, wait: float | None
) -> None:
    due_at = judged(tmp_path, given).ending.due_at
    assert due_at is not None
    assert due_at == NOW + wait if wait else NOW + 5 <= due_at <= NOW + 10


def test_a_sick_host_uses_up_no_retry_of_a_url(tmp_path: Path) -> None:
    visit = judged(tmp_path, answer(503), LAST, sick=True)
    assert (visit.ending.state, visit.ending.is_blamed) == (WAITING, False)
    assert visit.lease.attempts == BACKOFF.retries
    assert judged(tmp_path, answer(404), LAST, sick=True).ending.is_blamed


def test_a_page_names_links_and_a_redirect_its_target(tmp_path: Path) -> None:
    page = judged(tmp_path, answer(200, PAGE))
    assert [(item.url, item.depth, item.by) for item in page.found] == [(f"{SITE}/next", 2, "link")]
    moved = judged(tmp_path, answer(301, location="/b"), {"redirects": 1})
    (target,) = moved.found
    assert (target.url, target.depth, target.by, target.redirects) == (
        f"{SITE}/b", 1, "redirect", 2,
    )  # fmt: skip
    assert moved.capture is not None
    assert moved.capture.location == target.url


def test_a_scraper_leaves_the_target_of_a_redirect_to_the_discoverer(tmp_path: Path) -> None:
    assert not judged(tmp_path, answer(301, location="/b"), {"by": FoundBy.SPOOL}).found


@pytest.mark.parametrize(
    ("facts", "moved", "admitted"),
    [
        ({"depth": 0, "by": FoundBy.SEED}, ["www.e.org"], False),
        ({"depth": 0, "by": FoundBy.LINK}, [], False),
        ({"depth": 1, "by": FoundBy.REDIRECT}, [], False),
    ],
)
def test_a_seed_that_moves_to_another_host_is_told(
    tmp_path: Path, facts: dict[str, Any], moved: list[str], admitted: bool
) -> None:
    """Whether the host then is in scope is for the run to say, which hears of it."""
    with small_crawl(tmp_path) as crawl:
        lease = Lease(**{"url_id": 1, "url": SITE + "/", "host": HOST, **facts})
        away = answer(301, location="http://www.e.org/")
        visit = asyncio.run(crawl.judge.judge(lease, away))
        assert crawl.seeds_moved == moved
        assert [item.admitted for item in visit.found] == [admitted]


def test_what_a_listing_redirects_to_is_a_listing(tmp_path: Path) -> None:
    facts = {"page_type": LISTING, "by": FoundBy.SITEMAP}
    (target,) = judged(tmp_path, answer(302, location="/maps.xml"), facts).found
    assert (target.by, target.page_type) == (FoundBy.SITEMAP, LISTING)


@pytest.mark.parametrize(
    ("facts", "links", "named"),
    [
        ({"page_type": LISTING, "by": FoundBy.SITEMAP}, {}, [f"{SITE}/named"]),
        ({}, {"follow_feeds": True}, [f"{SITE}/named"]),
        ({}, {}, []),  # a sitemap by chance, and none is asked for
        ({"page_type": LISTING, "by": FoundBy.SITEMAP}, {"follow_links": False}, []),
    ],
)
def test_a_sitemap_names_urls_where_they_are_wanted(
    tmp_path: Path, facts: dict[str, Any], links: dict[str, Any], named: list[str]
) -> None:
    rules = LinkRules(ScopeRules(hosts=[HOST]), **links)
    visit = judged(tmp_path, answer(200, SITEMAP, kind="application/xml"), facts, links=rules)
    assert [item.url for item in visit.found] == named
    assert visit.body == SITEMAP


def test_a_page_that_breaks_its_reader_is_kept_and_says_so(tmp_path: Path) -> None:
    visit = judged(tmp_path, answer(200, PAGE), {"url": "not a URL", "depth": 0})
    assert (visit.ending.state, visit.ending.verdict) == (DONE, Verdict.UNREADABLE)
    assert visit.body == PAGE


def test_a_type_that_is_not_wanted_is_noted_without_its_bytes(tmp_path: Path) -> None:
    rules = AnswerRules(BACKOFF, 3, 500.0, ["text/*"])
    visit = judged(tmp_path, answer(200, b"GIF89a", kind="image/gif"), answer_rules=rules)
    assert (visit.ending.state, visit.ending.verdict) == (DONE, Verdict.UNWANTED)
    assert visit.ending.reason == "image/gif is not among fetch.types"
    assert visit.capture is not None
    assert visit.body is None


def test_later_links_are_judged_by_the_rules_of_then(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        lease = Lease(1, SITE + "/a", HOST, 1)
        crawl.judge.rescope(LinkRules(ScopeRules(hosts=[HOST], deny=["/next"])))
        visit = asyncio.run(crawl.judge.judge(lease, answer(200, PAGE)))
        assert [(item.admitted, item.rule) for item in visit.found] == [(False, "deny /next")]
        crawl.judge.rescope(IN_SCOPE)
        visit = asyncio.run(crawl.judge.judge(lease, answer(200, PAGE)))
        assert [item.admitted for item in visit.found] == [True]


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        (answer(200, OFFERS), Verdict.SOFT_404),
        (answer(404, OFFERS), Verdict.OK),
        (answer(200, PAGE), Verdict.OK),
        (failure(NETWORK, transient=True), Verdict.OK),
    ],
)
def test_a_page_is_a_soft_404_when_its_host_shows_it_for_missing_pages(
    tmp_path: Path, shown: Any, verdict: Verdict
) -> None:
    async def visit(crawl: SmallCrawl) -> Visit:
        await crawl.robots.load(SITE + "/")
        crawl.transport.otherwise = shown
        seen = await crawl.judge.judge(Lease(1, SITE + "/a", HOST, 1), answer(200, OFFERS))
        return await crawl.judge.compare_with_missing(seen)

    with small_crawl(tmp_path, probes=True) as crawl:
        judged_again = asyncio.run(visit(crawl))
        asked = crawl.transport.asked[1:]
    assert judged_again.ending.verdict is verdict
    assert [url.rpartition("-")[0] for url in asked] == [f"{SITE}/crawlr-asks-for-a-missing-page"]


@pytest.mark.parametrize(
    ("content_type", "types", "wanted"),
    [
        ("text/html", [], True),
        ("text/html", ["text/html"], True),
        ("text/plain", ["text/*"], True),
        ("image/gif", ["text/*", "application/pdf"], False),
        ("", ["text/html"], True),  # the server named none
    ],
)
def test_types_are_wanted_by_name_or_family(
    content_type: str, types: list[str], wanted: bool
) -> None:
    assert is_wanted(content_type, types) is wanted
