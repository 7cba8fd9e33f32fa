"""Rules for the pages of a list: what holds for all of them, looked for by Hypothesis."""

from __future__ import annotations

import json
from html import escape

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.discovery.pagination.finder import Pagination, find_pagination
from crawl4r.discovery.pagination.rule import PageRule, PageStyle
from crawl4r.discovery.pagination.slots import slots_of
from crawl4r.errors import InvalidUrl
from crawl4r.urls.canonical import canonicalize
from tests.properties import steady

HOST = "https://e.org"
words = st.text("abcdefgh", min_size=1, max_size=6)
folders = st.lists(words, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts))
params = st.dictionaries(words, words | st.integers(0, 9).map(str), max_size=3)
slashes = st.sampled_from(["", "/"])
TAILS = {
    PageStyle.FOLDER: [
        "/page/{n}",
        "/page-{n}",
        "/page{n}",
        "/seite/{n}",
        "/p{n}",
        "/page-{n}.html",
    ],
    PageStyle.NUMBER: ["/{n}"],
    PageStyle.FILE: ["/list-{n}.html", "/list_{n}.htm", "/list-{n}"],
}


def with_params(path: str, pairs: dict[str, str]) -> str:
    query = "&".join(f"{name}={value}" for name, value in sorted(pairs.items()))
    return f"{HOST}{path}?{query}" if query else HOST + path


@st.composite
def rules(draw: st.DrawFn) -> PageRule:
    style = draw(st.sampled_from(PageStyle))
    folder, others = draw(folders), draw(params)
    first = draw(st.sampled_from([0, 1]))
    if style in TAILS:
        tail = draw(st.sampled_from(TAILS[style]))
        path = folder + tail + ("" if tail.endswith(("html", "htm")) else draw(slashes))
        return PageRule(style, with_params(path, others), first)
    if style is PageStyle.QUERY:
        return PageRule(style, with_params(folder + "/", others | {"page": "{n}"}), first)
    step = draw(st.integers(5, 60))
    return PageRule(style, with_params(folder + "/", others | {"start": "{n}"}), first, step)


@steady
@given(rules(), st.integers(1, 100_000))
def test_the_number_of_the_url_of_a_number_is_that_number(rule: PageRule, number: int) -> None:
    assert rule.number_of(rule.url_of(number)) == number


@steady
@given(rules(), st.integers(1, 500))
def test_page_urls_are_spelled_canonically(rule: PageRule, number: int) -> None:
    url = rule.url_of(number)
    assert canonicalize(url) == url


@steady
@given(rules())
def test_a_rule_survives_json(rule: PageRule) -> None:
    assert PageRule.from_json(json.loads(json.dumps(rule.as_json()))) == rule


@steady
@given(rules(), st.integers(2, 500))
def test_the_order_of_parameters_does_not_matter(rule: PageRule, number: int) -> None:
    head, mark, query = rule.url_of(number).partition("?")
    turned = head + mark + "&".join(reversed(query.split("&")))
    assert rule.number_of(turned) == number
    head, mark, query = rule.template.partition("?")
    turned = head + mark + "&".join(reversed(query.split("&")))
    assert PageRule(rule.style, turned, rule.first, rule.step).key == rule.key


@steady
@given(rules(), st.integers(2, 60))
def test_what_is_not_of_the_list_has_no_number(rule: PageRule, number: int) -> None:
    url = rule.url_of(number)
    assert rule.number_of(url.replace(HOST, "https://f.org")) is None
    assert rule.number_of(url + ("&" if "?" in url else "?") + "zz=1") is None


def pager(rule: PageRule, current: int, last: int) -> str:
    """The links that a site shows around a page, by numbers and words."""
    shown = {1, last, *range(max(1, current - 2), min(last, current + 2) + 1)} - {current}
    links = [f'<a href="{escape(rule.url_of(n))}">{n}</a>' for n in sorted(shown)]
    if current > 1:
        links.append(f'<a href="{escape(rule.url_of(current - 1))}">Previous</a>')
    if current < last:
        links.append(f'<a href="{escape(rule.url_of(current + 1))}">Next</a>')
    return f'<div class="pagination">{" ".join(links)}</div>'


@steady
@given(rules(), st.integers(3, 14))
def test_every_page_of_a_list_gives_the_same_rule(rule: PageRule, last: int) -> None:
    for current in range(1, last + 1):
        page = LinkDocument(pager(rule, current, last).encode())
        found = find_pagination(page, rule.url_of(current))
        assert found.rule == rule
        assert found.rule.key == rule.key
        assert found.current == current
        assert found.next == (rule.url_of(current + 1) if current < last else None)
        assert found.previous == (rule.url_of(current - 1) if current > 1 else None)
        assert all(rule.url_of(number) == url for number, url in found.pages)
        assert msgspec.json.decode(msgspec.json.encode(found), type=Pagination) == found


@steady
@given(rules(), st.integers(3, 10))
def test_a_list_has_one_key_where_only_words_lead_on(rule: PageRule, last: int) -> None:
    """Nothing says how it counts; but it is one list, and each page knows its neighbours."""
    for current in range(1, last + 1):
        before, after = rule.url_of(max(1, current - 1)), rule.url_of(current + 1)
        html = f'<a href="{escape(before)}">Previous page</a>' if current > 1 else ""
        html += f'<a href="{escape(after)}">Next page</a>' if current < last else ""
        found = find_pagination(LinkDocument(html.encode()), rule.url_of(current))
        assert found.next == (after if current < last else None)
        assert found.previous == (before if current > 1 else None)
        if 1 < current < last:
            assert found.rule is not None
        assert found.rule is None or found.rule.key == rule.key


PIECES = (
    [
        '<a href="',
        '">',
        "</a>",
        "1",
        "2",
        "3",
        "Next",
        "»",
        "?page=",
        "?p=",
        "&start=",
        "10",
        "/page/",
    ]
    + ["/", "-2.html", "{n}", "{", "<link rel=next href=", "<base href=", " rel=next", "page", "'"]
    + [
        '<div class="pagination">',
        "<nav>",
        "%7Bn%7D",
        "é",
        "\ud800",
        "\x00",
        "=",
        "&",
        ";",
        "http://",
    ]
)


@steady
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(PIECES))
@example('<a href="?page={n}">2</a>', "")
def test_no_page_whatever_it_says_breaks_the_finder(html: str, tail: str) -> None:
    document = LinkDocument(html.encode("utf-8", "replace"))
    for url in (f"{HOST}/{tail}", tail, ""):
        found = find_pagination(document, url)
        assert all(number >= 1 for number, _ in found.pages)


@steady
@given(st.binary(max_size=200), st.text(max_size=60))
def test_arbitrary_bytes_and_urls_never_raise(html: bytes, url: str) -> None:
    find_pagination(LinkDocument(html), url)
    find_pagination(LinkDocument(html), f"{HOST}/{url}")
    slots_of(url)


@steady
@given(rules(), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_any_text_has_a_number_or_none(rule: PageRule, text: str) -> None:
    for url in (text, f"{HOST}/{text}"):
        number = rule.number_of(url)
        assert number is None or number >= 1
    try:
        url = canonicalize(f"{HOST}/{text}")
    except InvalidUrl:
        return
    for slot in slots_of(url):
        made = PageRule(slot.style, slot.template)
        assert slot.template.replace("{n}", str(slot.value)) == url
        assert made.number_of(made.opening) == 1


@pytest.mark.parametrize(
    ("style", "template"),
    [
        ("query", "https://e.org/news"),
        ("query", "https://e.org/{n}?page=2"),
        ("query", "https://e.org/?page={n}&p={n}"),
        ("number", "https://e.org/?page={n}"),
        ("number", "https://{n}.org/"),
    ],
)
def test_a_template_without_its_place_is_no_rule(style: str, template: str) -> None:
    with pytest.raises(ValueError, match=r"rule|number"):
        PageRule.from_json({"style": style, "template": template, "first": 1, "step": 1})


def test_there_is_no_page_before_the_first() -> None:
    rule = PageRule(PageStyle.QUERY, "https://e.org/news?page={n}")
    with pytest.raises(ValueError, match="counted from 1"):
        rule.url_of(0)
    assert rule.number_of("https://e.org/news?page=0") is None
    assert rule.number_of("https://e.org/news?page=1") == 1
    assert rule.number_of("https://e.org/news/") == 1
    assert rule.number_of("https://e.org/news?page=02") is None


@pytest.mark.parametrize(
    ("style", "template", "opening"),
    [
        ("query", "/news?page={n}&q=a", "/news?q=a"),
        ("query", "/?page={n}", "/"),
        ("folder", "/page/{n}/", "/"),
        ("folder", "/page/{n}", "/"),
        ("folder", "/news/page/{n}", "/news"),
        ("folder", "/news/page/{n}/?s=a", "/news/?s=a"),
        ("folder", "/news/page-{n}.html", "/news/"),
        ("folder", "/page:{n}/news", "/news"),
        ("folder", "/news/p{n}", "/news"),
        ("number", "/news/{n}/", "/news/"),
        ("number", "/{n}", "/"),
        ("file", "/news-{n}.html", "/news.html"),
        ("file", "/a/{n}.html", "/a/"),
    ],
)
def test_page_1_is_spelled_without_its_number(style: str, template: str, opening: str) -> None:
    rule = PageRule(PageStyle(style), HOST + template)
    assert rule.url_of(1) == rule.opening == HOST + opening
