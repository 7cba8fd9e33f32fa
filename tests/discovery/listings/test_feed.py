"""Feeds in all their dialects, as lists of pages."""

import gzip
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.discovery.listings.feed import (
    MOST_ENTRIES,
    FeedEntry,
    FeedListing,
    feed_links_of,
    read_feed_links,
)
from tests.properties import steady

HOME = "https://e.org/blog/feed"
MOMENT = datetime(2024, 5, 17, 6, 30, tzinfo=UTC).timestamp()


def read(text: str, content_type: str = "") -> FeedListing:
    return read_feed_links(text.encode(), HOME, content_type)


def urls(text: str) -> list[str]:
    return [entry.url.removeprefix("https://e.org") for entry in read(text).entries]


def rss(*items: str, top: str = "") -> str:
    inside = "".join(f"<item>{item}</item>" for item in items)
    return (
        '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>T</title><link>https://e.org/</link>{top}{inside}</channel></rss>"
    )


def atom(*entries: str, top: str = "", attributes: str = "") -> str:
    inside = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}>{top}{inside}</feed>'


WHOLE = {
    "RSS 2.0": (
        "rss",
        rss(
            "<title>A &amp; B</title><link> https://e.org/a?x=1&amp;y=2 </link>"
            "<pubDate>Fri, 17 May 2024 08:30:00 +0200</pubDate><guid isPermaLink='false'>7</guid>",
            "<link><![CDATA[https://e.org/b]]></link>",
        ),
    ),
    "RSS 0.91": (
        "rss",
        '<rss version="0.91"><channel><link>/</link><image><link>/logo</link></image>'
        "<item><link>/a?x=1&amp;y=2</link><pubDate>17 May 24 06:30 GMT</pubDate></item>"
        "<item><link>/b</link></item><textInput><link>/search</link></textInput></channel></rss>",
    ),
    "RSS 1.0": (
        "rss",
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        ' xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<channel rdf:about="/"><link>/</link><items><rdf:Seq><rdf:li resource="/li"/></rdf:Seq>'
        '</items></channel><item rdf:about="/about"><link>/a?x=1&amp;y=2</link>'
        '<dc:date>2024-05-17T08:30+02:00</dc:date></item><item rdf:about="/b"/></rdf:RDF>',
    ),
    "RSS 0.9": (
        "rss",
        '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        ' xmlns="http://my.netscape.com/rdf/simple/0.9/"><item><link>/a?x=1&amp;y=2</link>'
        "<dc:date>2024-05-17T06:30:00Z</dc:date></item><item><link>/b</link></item></rdf:RDF>",
    ),
    "Atom": (
        "atom",
        atom(
            "<id>tag:e.org,2024:a</id><link rel='edit' href='/edit'/>"
            "<link rel='alternate' type='application/json' href='/a.json'/>"
            "<link rel='alternate' type='text/html' href='https://e.org/a?x=1&amp;y=2'/>"
            "<link rel='enclosure' href='/a.mp3'/><updated>2024-06-01T00:00:00Z</updated>"
            "<published>2024-05-17T06:30:00Z</published>"
            "<source><link href='/source'/><updated>2001</updated></source>",
            "<link href='/b'/><author><uri>/author</uri></author>",
            top="<link href='https://e.org/'/><link rel='self' href='/feed'/>",
        ),
    ),
    "Atom 0.3": (
        "atom",
        '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry>'
        '<link rel="alternate" type="text/html" href="/a?x=1&amp;y=2"/>'
        "<issued>2024-05-17T08:30:00+02:00</issued><modified>2025</modified></entry>"
        '<entry><link rel="alternate" href="/b"/></entry></feed>',
    ),
    "Atom with a prefix": (
        "atom",
        '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:link href="/a?x=1&amp;y=2"/>'
        "<a:updated>2024-05-17T06:30:00Z</a:updated></a:entry>"
        '<a:entry><a:link href="/b"/></a:entry></a:feed>',
    ),
    "JSON Feed": (
        "json",
        json.dumps(
            {
                "version": "https://jsonfeed.org/version/1.1",
                "home_page_url": "https://e.org/",
                "items": [
                    {
                        "id": "7",
                        "url": "https://e.org/a?x=1&y=2",
                        "external_url": "https://f.org/",
                        "date_published": "2024-05-17T08:30:00+02:00",
                    },
                    {"id": "https://e.org/b"},
                    {"id": "no address"},
                    {"id": 8, "url": None},
                    "no item",
                ],
            }
        ),
    ),
}


@pytest.mark.parametrize(("kind", "text"), WHOLE.values(), ids=WHOLE)
def test_a_feed_names_its_pages_and_when_they_were_published(kind: str, text: str) -> None:
    entries = [FeedEntry("https://e.org/a?x=1&y=2", MOMENT), FeedEntry("https://e.org/b")]
    assert read(text) == FeedListing(kind, entries)  # type: ignore[arg-type]
    assert read_feed_links(gzip.compress(text.encode()), HOME).entries == entries


ADDRESSES = {
    "a permanent guid": ("<guid>https://e.org/x</guid>", ["/x"]),
    "a guid that says it is one": ("<guid isPermaLink='true'>https://e.org/x</guid>", ["/x"]),
    "a guid that says it is none": ("<guid isPermaLink='False'>https://e.org/x</guid>", []),
    "the same in another case": ("<guid ispermalink=' FALSE '>https://e.org/x</guid>", []),
    "a guid that is a number": ("<guid>123</guid>", []),
    "a link before a guid": ("<guid>https://e.org/y</guid><link>/x</link>", ["/x"]),
    "an empty link": ("<link/><guid>https://e.org/x</guid>", ["/x"]),
    "a link that is none": ("<link>urn:x</link><guid>https://e.org/x</guid>", ["/x"]),
    "an Atom link": ("<atom:link href='/x'/>", ["/x"]),
    "an Atom link to itself": ("<atom:link rel='self' href='/self'/><link>/x</link>", ["/x"]),
    "where a feed service was put in between": (
        "<link>https://feedproxy.google.com/~r/e/~3/1</link>"
        "<feedburner:origLink>https://e.org/x</feedburner:origLink>",
        ["/x"],
    ),
    "media": ("<media:group><link>/no</link></media:group><enclosure url='/a.mp3'/>", []),
    "a comment page": ("<comments>/x#comments</comments>", []),
}


@pytest.mark.parametrize(("item", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_item_has_the_best_of_its_addresses(item: str, expected: list[str]) -> None:
    assert urls(rss(item)) == expected


def test_an_orig_link_of_atom_counts_too() -> None:
    item = '<link href="http://feeds.e.org/1"/><feedburner:origLink>/x</feedburner:origLink>'
    assert urls(atom(item)) == ["/x"]


def test_relative_addresses_count_from_their_base() -> None:
    text = atom(
        '<link href="a"/>',
        '<link xml:base="/deep/" href="b"/>',
        '<link href="c"/>',
        attributes='xml:base="https://e.org/base/"',
    )
    assert urls(text) == ["/base/a", "/deep/b", "/base/c"]
    nested = text.replace("<entry>", '<entry xml:base="more/">', 1)
    assert urls(nested)[0] == "/base/more/a"
    assert urls(rss("<link>x</link>")) == ["/blog/x"]


@pytest.mark.parametrize(
    "date",
    ["<pubDate>nonsense</pubDate><dc:date>2024-05-17T06:30:00Z</dc:date>"]
    + ["<updated>2024-05-17T06:30:00Z</updated>", "<pubDate> 2024-05-17 06:30:00 </pubDate>"],
)
def test_a_date_is_taken_where_there_is_one(date: str) -> None:
    assert read(rss(f"<link>/x</link>{date}")).entries == [FeedEntry("https://e.org/x", MOMENT)]


NEXT = {
    "a paged feed": atom(top='<link rel="next" href="?page=2"/>'),
    "an archived one": atom(top='<link rel="prev-archive" href="?page=2"/>'),
    "both": atom(top='<link rel="prev-archive" href="/old"/><link rel="next" href="?page=2"/>'),
    "its name in full": atom(
        top='<link rel="http://www.iana.org/assignments/relation/next" href="?page=2"/>'
    ),
    "RSS": rss(top='<atom:link rel="next" href="?page=2"/>'),
    "JSON Feed": json.dumps({"version": "https://jsonfeed.org/version/1", "next_url": "?page=2"}),
}


@pytest.mark.parametrize("text", NEXT.values(), ids=NEXT)
def test_a_feed_says_where_it_goes_on(text: str) -> None:
    assert read(text).next == "https://e.org/blog/feed?page=2"


def test_a_feed_that_goes_on_with_itself_ends() -> None:
    assert read(atom(top=f'<link rel="next" href="{HOME}"/>')).next == ""
    feed = {"version": "https://jsonfeed.org/version/1", "next_url": HOME}
    assert read(json.dumps(feed)).next == ""
    assert read(atom('<link rel="next" href="/of-the-entry"/>')).next == ""


def test_a_broken_feed_keeps_what_came_before() -> None:
    found = read(rss("<link>/a</link>", "<link>/b</link>")[: -len("</item></channel></rss>")])
    assert [entry.url for entry in found.entries] == ["https://e.org/a", "https://e.org/b"]
    assert found.problem == "the file ends too early"
    found = read("<rss><item><link>/a</link></item>\n<item><title>&nbsp;</title>")
    assert (len(found.entries), found.problem[:18]) == (1, "broken in line 2: ")


NO_FEEDS = {
    "HTML": "<!doctype html><html><link rel=alternate href=/x>",
    "other XML": "<opml/>",
    "a sitemap": "<urlset><url><loc>/x</loc></url></urlset>",
    "other JSON": '{"items": [{"url": "https://e.org/x"}]}',
    "a JSON list": '[{"url": "https://e.org/x"}]',
    "broken JSON": '{"version": "https://jsonfeed.org/version/1", "items": [{"url": "https://e',
    "nothing": "",
    "text": "https://e.org/x",
}


@pytest.mark.parametrize("text", NO_FEEDS.values(), ids=NO_FEEDS)
@pytest.mark.parametrize("content_type", ["", "application/feed+json"])
def test_what_is_no_feed_is_told_apart(text: str, content_type: str) -> None:
    found = read(text, content_type)
    assert (found.kind, list(found.entries), found.next) == ("none", [], "")
    assert found.problem


def test_a_header_tells_the_encoding_where_the_file_does_not() -> None:
    body = "<rss><item><link>/é</link></item></rss>".encode("latin-1")
    found = read_feed_links(body, HOME, 'application/rss+xml; charset="ISO-8859-1"')
    assert [entry.url for entry in found.entries] == ["https://e.org/%C3%A9"]


def test_a_feed_gives_at_most_ten_thousand_entries() -> None:
    links = [f"<link>/{number}</link>" for number in range(MOST_ENTRIES + 1)]
    assert (len(read(rss(*links[1:])).entries), read(rss(*links[1:])).problem) == (MOST_ENTRIES, "")
    assert len(read(rss(*links)).entries) == MOST_ENTRIES
    assert read(rss(*links)).problem == "more than 10,000 entries: the rest was left out"
    items = [{"url": f"/{number}"} for number in range(MOST_ENTRIES + 1)]
    found = read(json.dumps({"version": "https://jsonfeed.org/version/1", "items": items}))
    assert len(found.entries) == MOST_ENTRIES
    assert found.problem == "more than 10,000 entries: the rest was left out"


def test_json_is_read_up_to_a_size() -> None:
    feed = {"version": "https://jsonfeed.org/version/1", "description": "x" * 11_000_000}
    assert read(json.dumps(feed)).problem == "JSON of more than 10 MiB"


names = st.lists(st.integers(0, 10**6).map("https://e.org/{}".format), max_size=20, unique=True)


@steady
@given(names, st.booleans())
def test_any_links_come_back(found: list[str], packed: bool) -> None:
    items = [{"url": url} for url in found]
    texts = [
        rss(*(f"<link>{url}</link>" for url in found)),
        atom(*(f'<link href="{url}"/>' for url in found)),
        json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}),
    ]
    for text in texts:
        body = gzip.compress(text.encode(), 1) if packed else text.encode()
        assert [entry.url for entry in read_feed_links(body, HOME).entries] == found


def test_a_page_names_its_feeds() -> None:
    html = b"""<head>
        <link rel=alternate type="application/rss+xml" title="Posts" href="/feed">
        <link rel="ALTERNATE home" type="Application/Atom+XML; charset=utf-8" href="atom.xml">
        <link rel="feed" type="application/feed+json" href="//e.org/feed.json">
        <link rel=alternate type="application/rss+xml" href="/feed">
        <link rel=alternate type="application/rss+xml" href="">
        <link rel=alternate type="application/rss+xml" href="feed:x">
        <link rel=alternate type="application/json" href="/wp-json/1">
        <link rel=alternate hreflang=de href="/de"> <link rel=stylesheet type="text/css" href="/s">
        <link rel=stylesheet type="application/rss+xml" href="/odd">
        </head><body><a href="/rss" type="application/rss+xml">RSS</a>"""
    assert feed_links_of(LinkDocument(html).tree, "https://e.org/blog/") == [
        "https://e.org/feed",
        "https://e.org/blog/atom.xml",
        "https://e.org/feed.json",
    ]
    many = "".join(
        f'<link rel=alternate type="application/rss+xml" href="/{n}">' for n in range(99)
    )
    assert len(feed_links_of(LinkDocument(many.encode()).tree, HOME)) == 20
