"""The links of a page as rows: bytes, URL and rules decide, and nothing else does."""

from __future__ import annotations

import csv
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.discovery.links.known import KnownLinks
from crawl4r.errors import InvalidUrl
from crawl4r.logs.edge_rows import EdgePage, EdgeReader, make_edge_reader
from crawl4r.urls.canonical import CanonicalRules, canonicalize
from crawl4r.urls.policy import spelling_as_json, spelling_from_json
from tests.site import links as link_pages

PAGE = "http://e.org/dir/page?q=1"
RULES = CanonicalRules()


def edges(html: str | bytes, url: str = PAGE, rules: CanonicalRules = RULES) -> list[list[str]]:
    """Rows without their source, which is always the page."""
    body = html.encode() if isinstance(html, str) else html
    text, count, note = EdgeReader(rules).read(EdgePage(body, url, "utf-8"))
    assert note == ""
    found = list(csv.reader(text.splitlines(), strict=True))
    assert len(found) == count
    assert {row[0] for row in found} <= {url}
    return [row[1:] for row in found]


def test_a_row_has_the_canonical_target_the_anchor_and_the_rel() -> None:
    html = (
        '<a rel="NoFollow UGC" href="../x?utm_source=a&b=2&a=1#part"> Some\n <b>bold</b>\ttext </a>'
    )
    assert edges(html) == [["http://e.org/x?a=1&b=2", "Some bold text", "nofollow ugc"]]


def test_links_stand_in_the_order_of_the_document_and_as_often() -> None:
    html = (
        '<link rel="canonical" href="/c"><link rel="next" href="2"><link rel="prev" href="0">'
        '<link rel="alternate" hreflang="de" href="/de"><meta http-equiv=refresh content="5; url=/r">'
        '<body><a href="/x">one</a><iframe src="/f">inside</iframe><map><area href="/area" alt=A></map>'
        '<a href="/x">two</a>'
    )
    assert edges(html) == [
        ["http://e.org/c", "", "canonical"],
        ["http://e.org/dir/2", "", "next"],
        ["http://e.org/dir/0", "", "prev"],
        ["http://e.org/de", "", "hreflang"],
        ["http://e.org/r", "", "meta-refresh"],
        ["http://e.org/x", "one", ""],
        ["http://e.org/f", "", "frame"],
        ["http://e.org/area", "", ""],
        ["http://e.org/x", "two", ""],
    ]


def test_links_are_read_relative_to_the_base_and_spelled_by_the_rules() -> None:
    html = (
        '<base href="http://other.org/deep/"><a href="a?keep=1&drop=2#x">a</a><a href="#y">here</a>'
    )
    rules = CanonicalRules(drop_params=frozenset(["drop"]))
    assert [row[0] for row in edges(html, rules=rules)] == [
        "http://other.org/deep/a?keep=1",
        "http://other.org/deep/",
    ]


def test_what_is_no_page_has_no_row() -> None:
    html = '<a href="mailto:a@b.c">m</a><a href="javascript:x()">j</a><a href="http://">n</a><a>none</a>'
    assert edges(html) == []


def test_anchors_are_cut_and_never_a_formula() -> None:
    html = f'<a href="/a">{"long " * 100}</a><a href="/b">=1+1</a><a href="/c">, "x"</a>'
    html += '<a rel="@x\ny" href="/d">＋1</a>'  # noqa: RUF001
    found = edges(html)
    assert found[0][1] == ("long " * 100)[:200]
    assert [row[1] for row in found[1:]] == ["'=1+1", ', "x"', "'＋1"]  # noqa: RUF001
    assert found[3][2] == "'@x y"


@pytest.mark.parametrize("name", link_pages.PAGES)
def test_all_that_a_crawl_would_follow_has_a_row(name: str) -> None:
    page = link_pages.PAGES[name]
    kinds = ("a", "area", "frame", "canonical", "alternate", "next", "refresh", "nofollow")
    found = {row[0] for row in edges(page.source(name), f"http://e.org/links/{name}")}
    named = {f"http://e.org{path}" for path in page.targets(*kinds)}
    assert named <= found
    assert not found & {f"http://e.org{path}" for path in page.targets("never", "image")}


def test_a_page_that_would_become_too_many_rows_is_cut_and_says_so() -> None:
    base = "http://e.org/" + "x" * 1_900 + "/"
    html = f'<base href="{base}">' + "<a href=y>z</a>" * 20_000
    text, count, note = EdgeReader(RULES).read(EdgePage(html.encode(), PAGE, "utf-8"))
    assert f"only the first {count:,} links" in note
    assert text.count("\n") == count
    assert 8 * 1024**2 < len(text) < 11 * 1024**2
    assert text.endswith("\n")


def test_a_page_that_breaks_its_reader_is_blamed() -> None:
    text, count, note = EdgeReader(RULES).read_or_blame(
        EdgePage(b"<a href=x>", "not a URL", "utf-8")
    )
    assert (text, count, bool(note)) == ("", 0, True)


def test_rules_survive_the_way_to_another_process() -> None:
    rules = CanonicalRules(drop_params=frozenset("ab"), keep_params=frozenset("c"), max_length=99)
    assert spelling_from_json(spelling_as_json(rules)) == rules
    read = make_edge_reader(spelling_as_json(RULES))
    html = b'<a href="/x">x</a>'
    head = [(PAGE, "utf-8", "", len(html)), (PAGE, "", "text/html", 5)]
    first, second = read(head, html + b"<p>xx")
    assert first == EdgeReader(RULES).read(EdgePage(html, PAGE, "utf-8"))
    assert second.rows == 0


SEGMENTS = st.sampled_from(
    ["a", "b.html", "..", ".", "", "a:b", "é", "x y", "%41", "a;b", "?", "\\"]
)
STARTS = st.sampled_from(
    ["", "/", "//", "//h.org/", "http://", "http:", "https:", "HTTP://e.org/", "?", "#", " ", "\t?",
     "\n#", "mailto:", "javascript:", "\\", "./", "../", "http://e.org", "ht\ntp://x.org/", "\x00/"]
)  # fmt: skip
HREFS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    STARTS,
    st.lists(SEGMENTS, max_size=3),
    st.sampled_from(["", "#f", "?q=1", "?b=2&a=1#f", "?utm_source=x", "#?", "?#", " "]),
).filter(bool)
BASES = st.sampled_from(
    ["http://e.org/", "http://e.org/a/", "http://e.org/a/b", "http://e.org/a/c?x=1", "https://e.org/a/b",
     "http://e.org/a/b/c", "http://f.org/a/b"]
)  # fmt: skip


@given(st.lists(st.tuples(BASES, HREFS), min_size=1, max_size=40))
def test_hrefs_of_one_key_lead_to_one_page(pairs: list[tuple[str, str]]) -> None:
    known: KnownLinks[str] = KnownLinks(most=25)
    for base, href in pairs:
        known.turn_to(base, spelled("", base))
        expected = spelled(href.partition("#")[0], base)
        assert known.setdefault(known.key(href), expected) == expected


def spelled(href: str, base: str) -> str:
    try:
        return canonicalize(href, base, RULES)
    except InvalidUrl:
        return ""


TEXTS = st.sampled_from(["", "a", "b", "=1", 'say "x"', "two  words", "é", "x" * 300])
RELS = st.sampled_from(["", "", " rel=nofollow", ' rel="a b"'])
LINKS = st.lists(st.tuples(HREFS, TEXTS, RELS), min_size=1, max_size=8)


@given(st.lists(st.tuples(BASES, LINKS), min_size=1, max_size=10))
def test_what_is_remembered_of_rows_changes_none(
    pages: list[tuple[str, list[tuple[str, str, str]]]],
) -> None:
    reader = EdgeReader(RULES)
    for url, links in pages:
        anchors = [f'<a href="{escape(h)}"{rel}>{escape(text)}</a>' for h, text, rel in links]
        page = "".join(anchors).encode()
        asked = EdgePage(page, url, "utf-8")
        assert reader.read(asked) == EdgeReader(RULES).read(asked)
