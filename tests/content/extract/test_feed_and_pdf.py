"""Feeds and PDF files as documents."""

from __future__ import annotations

import pytest

from crawl4r.content.extract.feed import parse_xml, read_feed
from crawl4r.content.extract.language import language_of
from crawl4r.content.extract.pdf import read_pdf
from tests.content.extract.making_pdf import pdf_saying

RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News</title><item><title>One</title><link>http://e.org/1</link>
<pubDate>Mon, 02 Feb 2026 10:00:00 GMT</pubDate><description>short</description>
<content:encoded><![CDATA[<p>Long <b>text</b></p>]]></content:encoded></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title>
<entry><title>Two</title><link rel="self" href="/no"/><link href="http://e.org/2"/>
<updated>2026-01-01</updated><summary>plain</summary></entry></feed>"""


def test_an_rss_feed_has_a_section_for_each_entry() -> None:
    feed = read_feed(RSS, "http://e.org/feed")
    assert feed is not None
    assert (feed.title, feed.links) == ("News", ("http://e.org/1",))
    assert "## [One](http://e.org/1)" in feed.markdown and "Long **text**" in feed.markdown


def test_an_atom_feed_too() -> None:
    feed = read_feed(ATOM, "http://e.org/feed")
    assert feed is not None
    assert (feed.title, feed.links) == ("Blog", ("http://e.org/2",))
    assert "plain" in feed.markdown


@pytest.mark.parametrize(
    "xml",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]><rss>&a;</rss>',
        "<rss><channel>",
        "<html></html>",
        "",
    ],
)
def test_what_is_no_feed_or_declares_entities_is_none(xml: str) -> None:
    assert read_feed(xml, "http://e.org/") is None


def test_a_document_type_is_refused_wherever_it_hides() -> None:
    bomb = "<!-- " + "x" * 10_000 + ' --><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    assert parse_xml(bomb) is None


def test_a_pdf_file_gives_its_text_and_title() -> None:
    pdf = read_pdf(pdf_saying("Hello from a file", title="A title"))
    assert pdf is not None
    assert (pdf.markdown, pdf.title) == ("Hello from a file", "A title")


def test_a_title_that_is_half_a_character_costs_the_title_alone() -> None:
    pdf = read_pdf(pdf_saying("Hello from a file", title=b"\xfe\xff\xd8\x00"))
    assert pdf is not None
    assert (pdf.markdown, pdf.title) == ("Hello from a file", "")


@pytest.mark.parametrize("body", [b"%PDF-1.7", b"%PDF-1.4\n%%EOF", b"", b"%PDF-" + b"\0" * 1000])
def test_a_broken_pdf_file_gives_nothing(body: bytes) -> None:
    assert read_pdf(body) is None


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        ("The weather is fine today and we all go to the sea together.", "de", "en"),
        ("Das Wetter ist heute schön und wir fahren alle zusammen ans Meer.", "", "de"),
        ("The sun is out, and it will not be long. " + "Wir fahren ans Meer. " * 90, "en", "de"),
        ("今日は天気がいいのでみんなで海に行きます。", "", "ja"),
        ("x", "fr-CA", "fr"),
        ("", "", ""),
        ("12345 67890", "english please", ""),
    ],
)
def test_a_language_is_told_from_the_text_before_the_claim(
    text: str, declared: str, language: str
) -> None:
    assert language_of(text, declared) == language
