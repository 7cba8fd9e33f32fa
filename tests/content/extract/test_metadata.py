"""The metadata of a page, from its most reliable place."""

from __future__ import annotations

import json

import pytest

from crawl4r.content.extract.metadata import Metadata, metadata_of
from crawl4r.formats.html import parse_html


def read(html: str) -> Metadata:
    return metadata_of(parse_html(html.encode()))


def linked(**thing: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(thing)}</script>'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>A</title>", "A"),
        ('<title>A | Site</title><meta property="og:title" content="B">', "B"),
        ('<title>A | Site</title><meta property="og:site_name" content="Site">', "A"),
        (
            "<title>How to bake bread - The Bakery</title><h1>How to bake bread</h1>",
            "How to bake bread",
        ),
        ("<title>A - B</title><h1>Other</h1>", "A - B"),
        ("<h1>Only <b>this</b></h1>", "Only this"),
        (linked(**{"@type": "NewsArticle", "headline": "News"}) + "<title>x</title>", "News"),
        ("<title>\n  many\n  blanks </title>", "many blanks"),
        ("<svg><title>icon</title></svg><p>x", ""),
        ("", ""),
    ],
)
def test_the_title_is_the_pages_and_not_the_sites(html: str, title: str) -> None:
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ('<meta name="author" content="Ada Lovelace">', "Ada Lovelace"),
        (linked(**{"@type": "Article", "author": {"name": "Grace"}}), "Grace"),
        (linked(**{"@type": "Article", "author": [{"name": "A"}, {"name": "B"}]}), "A, B"),
        ('<p class="byline">By Alan Turing</p>', "Alan Turing"),
        ("<body><p>an author</p>" * 3 + '<p class="byline">By Alan Turing</p>', "Alan Turing"),
        ("<p>author, author</p>" * 99 + '<p class="byline">By Alan Turing</p>', "Alan Turing"),
        ('<b title="1 > 0" class="author">Alan Turing</b>', "Alan Turing"),
        ('<b itemProp="author">Alan Turing</b>', "Alan Turing"),
        ("<p>The author is Alan Turing</p>", ""),
        ('<a rel="author" href="/x">Mary</a>', "Mary"),
        ('<meta property="article:author" content="https://example.org/me">', ""),
        ("<p>by the way</p>", ""),
    ],
)
def test_the_author_is_a_name(html: str, author: str) -> None:
    assert read(html).author == author


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ('<meta property="article:published_time" content="2024-02-03T04:05:06Z">',
         "2024-02-03T04:05:06+00:00"),
        (linked(**{"@type": "BlogPosting", "datePublished": "2023-01-02"}), "2023-01-02"),
        ('<time datetime="2022-12-31">yesterday</time>', "2022-12-31"),
        ('<meta name="date" content="Tue, 03 Feb 2026 10:00:00 GMT">', "2026-02-03T10:00:00+00:00"),
        ('<meta name="date" content="soon">', ""),
        ('<time datetime="2022-13-45">', ""),
        ('<time datetime="P3D">', ""),
        ('<b itemProp="datePublished" content="2021-05-06">May</b>', "2021-05-06"),
        ('<p>datePublished</p><i itemprop="datePublished">2021-05-06</i>', "2021-05-06"),
    ],
)  # fmt: skip
def test_the_date_is_iso_or_nothing(html: str, published: str) -> None:
    assert read(html).published == published


def test_the_rest_is_read_too() -> None:
    said = read(
        '<html lang="de-AT"><link rel=canonical href="/c"><meta name=keywords content="a, b,,a">'
        '<meta name=description content=" d  e "><meta property="og:image" content="/i.png">'
        '<meta property="og:site_name" content="S">'
    )
    assert (said.canonical, said.keywords, said.description) == ("/c", ("a", "b"), "d e")
    assert (said.image, said.site_name, said.declared_language) == ("/i.png", "S", "de-AT")


@pytest.mark.parametrize(
    "data",
    ["{", "[" * 10_000, '{"@type": 5}', '{"@graph": [{"@type": "Article", "author": 3}]}', "null"],
)
def test_broken_linked_data_does_no_harm(data: str) -> None:
    html = f'<title>T</title><script type="application/ld+json">{data}</script>'
    assert read(html).title == "T"
