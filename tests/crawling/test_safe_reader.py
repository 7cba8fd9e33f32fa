"""Every page is read in a process without privileges; a crash costs only its page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crawl4r.crawling.reader import PageReading
from crawl4r.crawling.safe_reader import SafeReader, Unreadable
from crawl4r.model import FoundBy, Lease, PageBody
from crawl4r.processes.entrypoints import READER
from crawl4r.processes.sandbox import Sandbox
from crawl4r.urls.policy import LinkRules
from tests.content.parser_killers import KILLERS

PAGE = "http://e.org/"
SITEMAP = b"<urlset><url><loc>http://e.org/%s</loc><lastmod>2026-01-02</lastmod></url></urlset>"
FEED = (
    b"<rss><channel><item><link>http://e.org/%s</link>"
    b"<pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>"
)


def in_reader(use: Callable[[SafeReader, Sandbox], Awaitable[Any]], **limits: Any) -> Any:
    async def main() -> Any:
        async with Sandbox(READER, LinkRules().as_json(), **limits) as sandbox:
            return await use(SafeReader(sandbox), sandbox)

    return asyncio.run(main())


def test_pages_listings_and_shapes_are_read_by_one_process() -> None:
    async def use(reader: SafeReader, sandbox: Sandbox) -> Any:
        page = await reader.read(PageBody(b"<p>x<a href=/x>", PAGE), 0)
        lease = Lease(1, PAGE + "feed", "e.org", 0, by=FoundBy.SITEMAP)
        sitemap = await reader.read_listing(lease, "text/xml", SITEMAP % b"s")
        feed = await reader.read_listing(lease, "application/rss+xml", FEED % b"f")
        shape = await reader.shape_of(PageBody(b"<title>Nothing here</title>", PAGE))
        urls = [item.url for item in [*page.found, *sitemap.found, *feed.found]]
        return urls, len(shape.title), sandbox.workers

    urls, words, workers = in_reader(use)
    assert urls == [PAGE + "x", PAGE + "s", PAGE + "f"]
    assert (words, workers) == (2, 1)


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_kr", "gb18030", "iso2022_jp", "koi8-r"])
def test_a_reader_knows_every_encoding_though_it_can_open_no_file(encoding: str) -> None:
    body = "<title>я 日本</title><a href=/x>x".encode(encoding, "ignore")

    async def use(reader: SafeReader, _: Sandbox) -> PageReading:
        return await reader.read(PageBody(body, PAGE, f"text/html; charset={encoding}"), 0)

    assert [item.url for item in in_reader(use).found] == [PAGE + "x"]


@pytest.mark.parametrize("killer", KILLERS)
def test_a_page_that_kills_its_reader_is_blamed_and_the_others_of_its_batch_are_read(
    killer: bytes,
) -> None:
    good = [b"<a href=/%d>" % number for number in range(4)]

    async def use(reader: SafeReader, sandbox: Sandbox) -> Any:
        pages = [PageBody(body, PAGE) for body in (*good[:2], killer, *good[2:])]
        jobs = (reader.read(page, 0) for page in pages)
        return await asyncio.gather(*jobs, return_exceptions=True), sandbox.killed

    (first, second, blamed, third, fourth), killed = in_reader(use)
    # What a parser does after it wrote outside its buffers is not the same each time.
    assert isinstance(blamed, Unreadable)
    assert str(blamed).startswith("the reading process died of SIG")
    assert killed >= 1
    urls = [reading.found[0].url for reading in (first, second, third, fourth)]
    assert urls == [f"{PAGE}{number}" for number in range(4)]


def test_a_page_that_breaks_the_reader_is_blamed() -> None:
    async def use(reader: SafeReader, _: Sandbox) -> PageReading:
        return await reader.read(PageBody(b"<a href=x>", "not a URL"), 0)

    with pytest.raises(Unreadable, match="ValueError"):
        in_reader(use)
