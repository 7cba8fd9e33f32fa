"""Files that attack their reader: bombs, and random bytes."""

from __future__ import annotations

import gzip
import json
import os
import random
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawl4r.discovery.listings.common_crawl import read_collections, read_page_count, read_results
from crawl4r.discovery.listings.feed import FeedListing, read_feed_links
from crawl4r.discovery.listings.sitemap import MOST_ENTRIES, Sitemap, SitemapEntry, read_sitemap
from crawl4r.formats.gzip import text_pieces, unpack
from crawl4r.urls.canonical import try_canonicalize
from tests.fetch.memory import MEGABYTE, watch_memory
from tests.properties import steady

HOME = "https://e.org/sitemap.xml"
MUTANTS = int(os.environ.get("CRAWL4R_FUZZ", "300"))
SEED = int(os.environ.get("CRAWL4R_FUZZ_SEED", "20261115"))
LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "https://e.org/"}">' for n in range(12)
)
DOCTYPES = {
    "billion laughs": f"<!DOCTYPE ROOT [{LAUGHS}]>",
    "quadratic blow-up": f'<!DOCTYPE ROOT [<!ENTITY l11 "{"a" * 100_000}">]>',
    "an external entity": '<!DOCTYPE ROOT [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>',
    "an entity from the network": '<!DOCTYPE ROOT [<!ENTITY l11 SYSTEM "http://127.0.0.1:1/">]>',
    "a parameter entity": '<!DOCTYPE ROOT [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]>',
    "parameter entities in each other": "<!DOCTYPE ROOT [<!ENTITY % a 'x'><!ENTITY % b '%a;%a;'> %b;]>",
    "an external subset": '<!DOCTYPE ROOT SYSTEM "http://127.0.0.1:1/x.dtd">',
    "a public one": '<!DOCTYPE ROOT PUBLIC "-//N//DTD RSS 0.91//EN" "http://127.0.0.1:1/rss.dtd">',
    "default attributes": '<!DOCTYPE ROOT [<!ATTLIST url xml:base CDATA "http://f.org/">]>',
    "nothing": "<!DOCTYPE ROOT>",
}
BODIES = {
    "urlset": "<urlset><url><loc>&l11;</loc></url><url><loc>/x</loc></url></urlset>",
    "rss": "<rss><channel><item><link>&l11;</link></item><item><link>/x</link></item></channel></rss>",
}


@pytest.mark.parametrize("doctype", DOCTYPES.values(), ids=DOCTYPES)
@pytest.mark.parametrize("root", BODIES)
def test_a_document_type_is_refused_with_all_that_follows(root: str, doctype: str) -> None:
    text = '<?xml version="1.0"?>\n' + doctype.replace("ROOT", root) + BODIES[root]
    found: Sitemap | FeedListing
    for found in (read_sitemap(text.encode(), HOME), read_feed_links(text.encode(), HOME)):
        assert (found.kind, list(found.entries)) == ("none", [])
        assert "a document type is refused" in found.problem


def test_a_document_type_in_utf_16_is_refused_too() -> None:
    text = DOCTYPES["an external entity"].replace("ROOT", "urlset") + BODIES["urlset"]
    assert read_sitemap(text.encode("utf-16"), HOME).entries == []


def test_an_entity_that_nobody_declared_breaks_the_file() -> None:
    found = read_sitemap(BODIES["urlset"].encode(), HOME)
    assert (found.kind, found.entries) == ("urlset", [])
    assert "undefined entity" in found.problem


def packed_zeros(size: int, start: bytes = b"") -> bytes:
    """Much of nothing in a few kilobytes, made without holding it."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(start)]
    parts += [packer.compress(bytes(MEGABYTE)) for _ in range(size // MEGABYTE)]
    return b"".join([*parts, packer.flush()])


def test_a_gzip_bomb_is_cut_at_the_cap() -> None:
    bomb = packed_zeros(512 * MEGABYTE, b"https://e.org/\n")
    with watch_memory() as growth:
        found = read_sitemap(bomb, HOME)
    assert [entry.url for entry in found.entries] == ["https://e.org/"]
    assert "unpacks to more than 50 MiB: the rest was left out" in found.problem
    assert growth.peak < 256 * MEGABYTE


@pytest.mark.parametrize("reads", [read_sitemap, read_feed_links])
def test_gzip_inside_gzip_is_refused(reads: Callable[[bytes, str], Sitemap | FeedListing]) -> None:
    found = reads(gzip.compress(gzip.compress(BODIES["urlset"].encode())), HOME)
    assert (found.kind, list(found.entries)) == ("none", [])
    assert "gzip inside gzip is refused" in found.problem


def test_thousands_of_gzip_members_are_not_followed() -> None:
    assert "more than 1,000 gzip members" in unpack(gzip.compress(b"a") * 5_000).problem


def test_a_body_is_cut_at_the_cap() -> None:
    assert unpack(b"a" * 2 * MEGABYTE, MEGABYTE) == (
        b"a" * MEGABYTE,
        "only the first 1 MiB were read",
    )
    assert unpack(gzip.compress(b"abc"), 3) == (b"abc", "")
    assert unpack(gzip.compress(b"abcd"), 3).body == b"abc"


HUGE = {
    "empty elements": b"<urlset>" + b"<a/>" * 1_100_000,
    "nested elements": b"<urlset>" + b"<url>" * 500_000,
    "attributes": b"<urlset " + b" ".join(b'a%d=""' % n for n in range(400_000)) + b">",
    "a comment": b"<urlset><!--" + b"-x" * 2_000_000,
    "a comment first": b"<!--" + b"-x" * 2_000_000 + b"--><urlset></urlset>",
    "a name": b"<urlset><" + b"x" * 4_000_000 + b"/></urlset>",
    "an instruction": b"<?xml version='1.0'?><?x " + b"?x" * 2_000_000 + b"?><urlset></urlset>",
}


@pytest.mark.parametrize("body", HUGE.values(), ids=HUGE)
def test_more_markup_than_a_sitemap_has_is_left_out(body: bytes) -> None:
    with watch_memory() as growth:
        found = read_sitemap(body, HOME)
    assert list(found.entries) == []
    assert found.problem
    assert growth.peak < 256 * MEGABYTE


def test_text_may_be_long_where_it_does_not_matter() -> None:
    body = b"<rss><item><description>%s</description><link>/x</link></item></rss>" % (
        b"x" * 5_000_000
    )
    found = read_feed_links(body, HOME)
    assert ([entry.url for entry in found.entries], found.problem) == (["https://e.org/x"], "")


def test_addresses_that_are_none_are_looked_at_in_bounds() -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>x:%d</loc></url>" % n for n in range(150_000))
    found = read_sitemap(body, HOME)
    assert (list(found.entries), "only the first 100,000 addresses" in found.problem) == ([], True)
    lines = b"http://e.org/\n" + b"x\n" * 150_000
    assert "the rest was left out" in read_sitemap(lines, HOME).problem


entries = st.lists(
    st.builds(
        SitemapEntry,
        st.text("abcXYZ019-._~?=&;+é日", max_size=20).map(lambda text: f"https://e.org/{text}"),
        st.one_of(st.none(), st.integers(0, 4_000_000_000).map(float)),
        st.sampled_from(["", "always", "daily", "never"]),
        st.one_of(st.none(), st.integers(0, 100).map(lambda number: number / 100)),
    ),
    max_size=20,
    unique_by=lambda entry: entry.url,
)


def written(found: list[SitemapEntry], prefix: str, space: str) -> str:
    def tag(name: str, value: str) -> str:
        return f"<{prefix}{name}>{value}</{prefix}{name}>{space}" if value else ""

    parts = []
    for entry in found:
        date = (
            "" if entry.lastmod is None else datetime.fromtimestamp(entry.lastmod, UTC).isoformat()
        )
        priority = "" if entry.priority is None else str(entry.priority)
        fields = (
            tag("lastmod", date) + tag("changefreq", entry.changefreq) + tag("priority", priority)
        )
        parts.append(tag("url", space + tag("loc", space + escape(entry.url)) + fields))
    return tag("urlset", space + "".join(parts) or " ")


def spelled(found: list[SitemapEntry]) -> list[SitemapEntry]:
    """With canonical URLs, the first mention of each."""
    first: dict[str, SitemapEntry] = {}
    for entry in found:
        url = try_canonicalize(entry.url)
        first.setdefault(url, entry._replace(url=url))
    return list(first.values())


@steady
@given(
    entries,
    st.sampled_from(["", "s:", "sitemap:"]),
    st.sampled_from(["", " ", "\n\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]),
    st.booleans(),
)
def test_any_entries_come_back_from_xml(
    found: list[SitemapEntry], prefix: str, space: str, encoding: str, packed: bool
) -> None:
    body = written(found, prefix, space).encode(encoding)
    read = read_sitemap(gzip.compress(body, 1) if packed else body, HOME)
    assert (read.kind, read.problem) == ("urlset", "")
    assert read.entries == spelled(found)


@steady
@given(entries, st.sampled_from(["\n", "\r\n", "\r", "\n\n "]), st.booleans())
def test_any_urls_come_back_from_text(found: list[SitemapEntry], end: str, packed: bool) -> None:
    body = end.join(entry.url for entry in found).encode()
    read = read_sitemap(gzip.compress(body, 1) if packed else body, HOME)
    assert [entry.url for entry in read.entries] == [entry.url for entry in spelled(found)]
    assert read.kind == ("text" if found else "none")


def read_all(body: bytes) -> None:
    """Every reader, on anything: no error, and nothing over the limits."""
    for packed in (body, gzip.compress(body, 1)):
        sitemap = read_sitemap(packed, HOME)
        assert len(sitemap.entries) <= MOST_ENTRIES
        assert all(entry.url.startswith(("http://", "https://")) for entry in sitemap.entries)
        assert not sitemap.entries or sitemap.kind != "none"
        feed = read_feed_links(packed, HOME)
        assert all(entry.url.startswith(("http://", "https://")) for entry in feed.entries)
    read_feed_links(body, HOME, "application/feed+json; charset=utf-16")
    read_collections(body)
    read_page_count(body)
    read_results(body)


PIECES = (
    [
        "<urlset>",
        "<url>",
        "<loc>",
        "/x",
        "</loc>",
        "</url>",
        "<",
        ">",
        "&",
        "&#0;",
        "<![CDATA[",
        "]]>",
    ]
    + ["<!--", "-->", "<?xml", "?>", "<!DOCTYPE", "<rss>", "<item>", "<link>", "<feed>", "<entry>"]
    + [
        "http://e.org/",
        "\n",
        "\0",
        "\ufeff",
        "\ud800",
        " ",
        '"',
        "=",
        "xml:base",
        "{",
        "}",
        "[",
        "1",
    ]
    + ['{"url":', '"version":"https://jsonfeed.org/version/1"', '"items":[', "encoding='utf-7'"]
    + ["<link rel='next' href='", "xmlns:", "é", "%", "<sitemap>", "<sitemapindex>"]
)
pieces = st.lists(st.sampled_from(PIECES), max_size=30).map(
    lambda chosen: "".join(chosen).encode("utf-8", "surrogatepass")
)


@steady
@given(st.one_of(st.binary(max_size=200), pieces))
@example(b"\x1f\x8b")
@example(b"\xff\xfe")
@example(b"<\0")
@example(b"<?xml version='1.0' encoding='utf-16'?><urlset/>")
@example(b"<?xml version='1.0' encoding='hex'?><urlset/>")
@example(b"[" * 5_000)
@example(b'{"a":' * 5_000)
@example(b'{"pages": ' + b"9" * 5_000 + b"}")
@example(b'{"url": "http://e.org/", "status": 12345678901234567890, "timestamp": 20240517}')
def test_any_bytes_are_read_without_an_error(body: bytes) -> None:
    read_all(body)
    assert sum(len(piece) for piece in text_pieces(body)) <= len(body)


def originals() -> list[bytes]:
    named = [SitemapEntry(f"https://e.org/{n}?a=1&b=2", n * 1e5, "daily", 0.5) for n in range(200)]
    sitemap = written(named, "", "\n")
    rss = "".join(
        f"<item><title>T</title><link>{escape(each.url)}</link><guid>{n}</guid></item>"
        for n, each in enumerate(named)
    )
    lines = "\n".join(each.url for each in named)
    items = [{"id": str(n), "url": each.url} for n, each in enumerate(named)]
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": items}
    texts = [sitemap, f"<rss><channel>{rss}</channel></rss>", lines, json.dumps(feed)]
    bodies = [text.encode() for text in texts]
    return [*bodies, gzip.compress(bodies[0]), sitemap.encode("utf-16")]


def mutated(chance: random.Random, body: bytes) -> bytes:
    start, end = sorted((chance.randrange(len(body)), chance.randrange(len(body))))
    piece = body[start : start + chance.randint(1, 200)]
    flipped = bytearray(body)
    for _ in range(chance.randint(1, 50)):
        flipped[chance.randrange(len(body))] = chance.choice(b"<>&\"'/=!-[]\0\xff\xfe \n")
    return chance.choice(
        [body[:start] + body[end:], body[:start] + piece * chance.randint(2, 300) + body[start:]]
        + [bytes(flipped), body[:end], body[start:]]
    )


def test_mutated_files_are_read_without_an_error() -> None:
    chance = random.Random(SEED)
    bodies = originals()
    for _ in range(MUTANTS):
        body = chance.choice(bodies)
        for _ in range(chance.randint(1, 3)):
            body = mutated(chance, body)[:400_000] or b"<"
        read_all(body)
