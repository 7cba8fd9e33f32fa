"""Which bodies name URLs without being pages, and which URLs those are. Bytes in, links out."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from crawl4r.crawling.listings import is_listing, read_listing
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.model import LISTING, FoundBy, Lease
from tests.crawling.small_crawl import HOST, IN_SCOPE, SITE

URLSET = (
    b"<urlset><url><loc>http://e.org/a</loc><lastmod>2026-01-02</lastmod></url>"
    b"<url><loc>http://other.org/b</loc></url><url><loc>mailto:x@e.org</loc></url></urlset>"
)
INDEX = b"<sitemapindex><sitemap><loc>/maps/1.xml</loc></sitemap></sitemapindex>"
RSS = (
    b"<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel>"
    b"<atom:link rel='next' href='http://e.org/feed?page=2'/>"
    b"<item><link>http://e.org/story</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>"
    b"</channel></rss>"
)
JSON_FEED = b'{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"http://e.org/story"}]}'
RESULTS = b'{"url": "http://e.org/a", "status": "200", "mime": "text/html"}\n'
PLAIN = b"http://e.org/a\nhttp://e.org/b\n"
BY_CHANCE = Lease(1, SITE + "/page", HOST, 2)
SITEMAP = Lease(1, SITE + "/sitemap.xml", HOST, 0, LISTING, by=FoundBy.SITEMAP)
FROM_INDEX = replace(SITEMAP, url="http://index.org/CC?url=e.org", by=FoundBy.COMMON_CRAWL)
XML, FEED = "application/xml", "application/rss+xml"


@pytest.mark.parametrize(
    ("lease", "content_type", "body", "names"),
    [
        (BY_CHANCE, XML, URLSET, True),
        (BY_CHANCE, XML, INDEX, True),
        (BY_CHANCE, XML, b"<note/>", False),
        (BY_CHANCE, XML, b" " * 5000 + URLSET, False),  # the root stands near the beginning
        (BY_CHANCE, FEED, RSS, True),
        (BY_CHANCE, "application/feed+json", JSON_FEED, True),
        (BY_CHANCE, "text/plain", PLAIN, False),
        (BY_CHANCE, "application/pdf", b"%PDF-1.4", False),
        (SITEMAP, "text/plain", PLAIN, True),  # asked for as one
        (SITEMAP, "application/pdf", b"%PDF-1.4", True),
    ],
)
def test_a_body_may_name_urls(lease: Lease, content_type: str, body: bytes, names: bool) -> None:
    assert is_listing(lease, content_type, body) is names


A_NEW_YEAR = 1_767_312_000.0  # 2026-01-02
STORY_AT = 1_793_613_600.0  # 2026-11-02T10:00:00Z
NAMED: dict[str, tuple[Lease, str, bytes, list[Any]]] = {
    # url, found by, depth, admitted, page type, date
    "a sitemap": (SITEMAP, XML, URLSET, [
        ("http://e.org/a", "sitemap", 1, True, "", A_NEW_YEAR),
        ("http://other.org/b", "sitemap", 1, False, "", None),
    ]),
    "an index of sitemaps": (SITEMAP, XML, INDEX, [
        ("http://e.org/maps/1.xml", "sitemap", 0, True, LISTING, None),
    ]),
    "lines": (SITEMAP, "text/plain", PLAIN, [
        ("http://e.org/a", "sitemap", 1, True, "", None),
        ("http://e.org/b", "sitemap", 1, True, "", None),
    ]),
    "a feed and its next page": (BY_CHANCE, FEED, RSS, [
        ("http://e.org/story", "feed", 3, True, "", STORY_AT),
        ("http://e.org/feed?page=2", "feed", 2, True, LISTING, None),
    ]),
    "a feed in JSON": (BY_CHANCE, "application/feed+json", JSON_FEED, [
        ("http://e.org/story", "feed", 3, True, "", None),
    ]),
    "an answer of an index": (FROM_INDEX, "text/x-ndjson", RESULTS, [
        ("http://e.org/a", "common-crawl", 1, True, "", None),
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("lease", "content_type", "body", "named"), NAMED.values(), ids=NAMED)
def test_a_listing_names_urls_that_are_judged_like_links(
    lease: Lease, content_type: str, body: bytes, named: list[Any]
) -> None:
    found = read_listing(lease, content_type, body, LinkJudge(IN_SCOPE)).found
    assert [
        (item.url, item.by, item.depth, item.admitted, item.page_type, item.lastmod)
        for item in found
    ] == named


@pytest.mark.parametrize(
    ("lease", "body"),
    [(SITEMAP, b""), (SITEMAP, b"<html>"), (SITEMAP, b"\x00\xff"), (FROM_INDEX, b"not found")],
)
def test_what_names_nothing_harms_nothing(lease: Lease, body: bytes) -> None:
    assert read_listing(lease, XML, body, LinkJudge(IN_SCOPE)).found == []


def test_a_listing_says_by_whom_it_was_named() -> None:
    (item,) = read_listing(SITEMAP, XML, INDEX, LinkJudge(IN_SCOPE)).found
    assert item.rule == f"named by {SITEMAP.url}"


def test_a_listing_that_is_broken_off_names_what_came_and_tells() -> None:
    listing = read_listing(SITEMAP, XML, URLSET[:60], LinkJudge(IN_SCOPE))
    assert [item.url for item in listing.found] == ["http://e.org/a"]
    assert listing.problem
