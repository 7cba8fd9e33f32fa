"""Links of real pages, read like in a browser."""

import asyncio
import json
from html import escape
from typing import Any

import pytest

from crawl4r.crawling.reader import PageReading, Reader
from crawl4r.crawling.reading_process import make_reader
from crawl4r.crawling.safe_reader import SafeReader
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.model import Found, FoundBy, PageBody
from crawl4r.processes.entrypoints import READER
from crawl4r.processes.sandbox import Sandbox
from crawl4r.urls.policy import LinkRules
from crawl4r.urls.scope import ScopeRules

PAGE = "http://e.org/folder/page?q=1"


def read(html: str | bytes, url: str = PAGE, **rules: Any) -> PageReading:
    body = html.encode() if isinstance(html, str) else html
    return Reader(LinkRules(**rules)).read(PageBody(body, url, "text/html; charset=utf-8"), 1)


def links(html: str | bytes, url: str = PAGE) -> list[str]:
    return [found.url.removeprefix("http://e.org") for found in read(html, url).found]


def found(html: str, **rules: Any) -> Found:
    (only,) = read(html, **rules).found
    return only


HREFS = {
    "absolute": ('<a href="http://f.org/x">', ["http://f.org/x"]),
    "from the root": ('<a href="/x">', ["/x"]),
    "relative": ('<a href="x">', ["/folder/x"]),
    "upwards": ('<a href="../x">', ["/x"]),
    "another host": ('<a href="//f.org/x">', ["http://f.org/x"]),
    "a query alone": ('<a href="?q=2">', ["/folder/page?q=2"]),
    "a fragment of another page": ('<a href="x#y">', ["/folder/x"]),
    "a fragment alone": ('<a href="#y">', []),
    "nothing": ('<a href="">', []),
    "no value": ("<a href>", []),
    "no href": ("<a name=x>", []),
    "blanks around": ('<a href="\n\t /x \r\n">', ["/x"]),
    "blanks inside": ('<a href="/a\n  b\tc">', ["/a%20%20bc"]),
    "entities": ('<a href="/x?b=1&amp;a=&#50;&copy=3">', ["/x?a=2&b=1&copy=3"]),
    "no quotes": ("<a href=/x>", ["/x"]),
    "single quotes": ("<a href='/x'>", ["/x"]),
    "upper case": ("<A HREF=/x>", ["/x"]),
    "the scheme in upper case": ('<a href="HTTP://e.org/x">', ["/x"]),
    "backslashes": ('<a href="\\x\\y">', ["/x/y"]),
    "not closed": ('<p><a href="/x"<b>', ["/x"]),
    "twice": ('<a href="/x"></a><a href="/x">', ["/x"]),
    "an area": ('<map><area href="/x"></map>', ["/x"]),
    "an iframe": ('<iframe src="/x"></iframe>', ["/x"]),
    "a frame": ('<frameset><frame src="/x"></frameset>', ["/x"]),
    "javascript": ('<a href="javascript:void(0)">', []),
    "javascript in disguise": ('<a href=" JavaScript:void(0)"><a href="java\nscript:x">', []),
    "mail and telephone": ('<a href="mailto:a@e.org"><a href="tel:+1">', []),
    "data": ('<a href="data:text/html,hi">', []),
    "an unknown scheme": ('<a href="page:2">', []),
    "a colon in a path": ('<a href="./page:2">', ["/folder/page:2"]),
    "an impossible host": ('<a href="http://a b/"><a href="/x">', ["/x"]),
    "a comment": ('<!-- <a href="/hidden"> --><a href="/x">', ["/x"]),
    "a script": ("<script>document.write('<a href=\"/hidden\">')</script>", []),
    "a style, a text area": ("<style><a href=/h></style><textarea><a href=/h></textarea>", []),
    "a template": ("<template><a href=/hidden></a></template>", []),
    "images": ('<img src="/i.png" srcset="/i2.png 2x, /i3.png 3x"><source srcset="/i4.png">', []),
    "style sheets and scripts": (
        '<link rel=stylesheet href="/s.css"><script src="/s.js"></script>',
        [],
    ),
    "a NUL": ('<a href="/a\x00b">', ["/a%EF%BF%BDb"]),
    "bytes that are no UTF-8": (b'<a href="/caf\xe9">', ["/caf%EF%BF%BD"]),
}


@pytest.mark.parametrize(("html", "expected"), HREFS.values(), ids=HREFS)
def test_a_link_leads_where_a_browser_would_go(html: str | bytes, expected: list[str]) -> None:
    assert links(html) == expected


BASES = {
    "absolute": ('<base href="http://f.org/b/">', "http://f.org/b/x"),
    "relative": ('<base href="/b/c">', "/b/x"),
    "with blanks": ('<base href=" /b/ ">', "/b/x"),
    "the first of two": ('<base href="/b/"><base href="/c/">', "/b/x"),
    "one without an href first": ('<base target="_top"><base href="/b/">', "/b/x"),
    "of another scheme": ('<base href="about:blank">', "/folder/x"),
    "that cannot be parsed": ('<base href="http://a b/">', "/folder/x"),
    "after the body began": ('<div></div><base href="/b/">', "/b/x"),
    "in a head that a stray tag ended": (
        '<head><img src="/pixel"><base href="/b/"></head><body>',
        "/b/x",
    ),
}


@pytest.mark.parametrize(("base", "expected"), BASES.values(), ids=BASES)
def test_relative_links_count_from_the_base(base: str, expected: str) -> None:
    assert links(f'{base}<a href="x">') == [expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=/x", ["/x"]),
        ("0;URL='/x'", ["/x"]),
        ('5 ; url = "/x"', ["/x"]),
        ("0, url=/x", ["/x"]),
        ("0; /x", ["/x"]),
        ("0.5;url=x y", ["/folder/x%20y"]),
        ("5", []),
        ("5;", []),
        ("0; url=", []),
        ("0; url=javascript:alert(1)", []),
    ],
)
def test_a_refresh_leads_on(content: str, expected: list[str]) -> None:
    assert links(f'<meta http-equiv=Refresh content="{escape(content)}">') == expected


def test_a_link_in_a_template_is_none_yet() -> None:
    html = "<a href=/a></a><TEMPLATE><a href=/b></a><template><a href=/c></a></template></TEMPLATE>"
    assert links(f"{html}<a href=/d></a>") == ["/a", "/d"]


def test_a_refresh_counts_also_in_the_body() -> None:
    assert links('<p>Moved.</p><meta http-equiv=refresh content="0; url=/x">') == ["/x"]


def test_a_refresh_full_of_blanks_is_read_in_time() -> None:
    """A pattern that tries every split of 400 blanks would be stopped by the sandbox."""
    html = f'<meta http-equiv=refresh content="{" " * 400}\nx\ny"><a href=/x>'

    async def read_in_sandbox() -> PageReading:
        rules = LinkRules().as_json()
        async with Sandbox(READER, rules, seconds=5) as sandbox:
            return await SafeReader(sandbox).read(PageBody(html.encode(), PAGE), 0)

    assert "http://e.org/x" in [item.url for item in asyncio.run(read_in_sandbox()).found]


@pytest.mark.parametrize(
    ("html", "by", "depth"),
    [
        ('<a href="/x">', FoundBy.LINK, 2),
        ('<iframe src="/x">', FoundBy.FRAME, 2),
        ('<link rel="next" href="/x">', FoundBy.NEXT, 2),
        ('<link rel="prev" href="/x">', FoundBy.PREVIOUS, 2),
        ('<link rel="alternate" hreflang="de" href="/x">', FoundBy.HREFLANG, 2),
        ('<link rel="Canonical" href="/x">', FoundBy.CANONICAL, 1),
        ('<meta http-equiv="refresh" content="0;/x">', FoundBy.REFRESH, 1),
    ],
)
def test_a_find_says_what_named_it_and_how_deep_it_is(html: str, by: FoundBy, depth: int) -> None:
    """What a page calls its own address is no deeper than the page, which is at depth 1."""
    item = found(html)
    assert (item.url, item.host, item.by, item.depth) == ("http://e.org/x", "e.org", by, depth)


def test_an_alternate_without_a_language_is_no_page() -> None:
    html = '<link rel="alternate" type="application/rss+xml" href="/feed"><link rel=icon href=/i>'
    assert links(html) == []


@pytest.mark.parametrize("rel", ["nofollow", "noopener NOFOLLOW ugc"])
def test_nofollow_is_told_and_obeyed_when_asked_for(rel: str) -> None:
    html = f'<a rel="{rel}" href="/x">'
    assert (found(html).nofollow, found(html).admitted) == (True, True)
    refused = found(html, follow_nofollow=False)
    assert (refused.admitted, refused.rule) == (False, "nofollow")
    assert found('<a rel="nofollower" href="/x">', follow_nofollow=False).admitted


@pytest.mark.parametrize(
    ("html", "noindex", "nofollow"),
    [
        ('<meta name="robots" content="noindex, nofollow">', True, True),
        ('<meta name="ROBOTS" content="NONE">', True, True),
        (
            '<meta name="robots" content="noindex"><meta name="robots" content="nofollow">',
            True,
            True,
        ),
        ('<meta name="robots" content="index,follow">', False, False),
        ('<meta name="description" content="nofollow">', False, False),
        ('<div></div><meta name="robots" content="noindex,nofollow">', True, True),
        ('<head><img src=/i><meta name="robots" content="none"></head><body>', True, True),
    ],
)
def test_robots_directives_of_a_page_are_read(html: str, noindex: bool, nofollow: bool) -> None:
    reading = read(f'<a href="/x"></a>{html}' if "<div>" in html else f'{html}<a href="/x">')
    assert (reading.noindex, reading.nofollow) == (noindex, nofollow)
    assert [item.nofollow for item in reading.found] == [nofollow]


def test_links_past_the_depth_limit_are_refused_by_it() -> None:
    assert found('<a href="/x">', max_depth=2).admitted
    refused = found('<a href="/x">', max_depth=1)
    assert (refused.admitted, refused.rule) == (False, "depth 2 is past the limit of 1")


def test_links_out_of_scope_are_reported_with_their_rule() -> None:
    refused = found('<a href="http://f.org/">', scope=ScopeRules(hosts=["e.org"]))
    assert (refused.admitted, refused.rule) == (False, "host f.org is not in scope")


def test_keywords_in_the_anchor_raise_the_score() -> None:
    plain = found('<a href="/x">other</a>', keywords=["python"])
    wanted = found('<a href="/x">Learn <b>Python</b></a>', keywords=["python"])
    assert wanted.score > plain.score


def test_one_page_cannot_name_more_than_ten_thousand_links() -> None:
    html = "".join(f"<a href=/{number}>" for number in range(10_500))
    assert len(read(html).found) == 10_000


def test_the_rules_cross_to_the_reading_process_unchanged() -> None:
    rules = LinkRules(ScopeRules(hosts=["e.org"]), keywords=["a"], max_depth=3)
    plain = json.loads(json.dumps(rules.as_json()))
    assert json.loads(json.dumps(LinkRules.from_json(plain).as_json())) == plain
    read_page = make_reader(plain)
    head = ["page", 0, False, False, PAGE]
    assert read_page(head, b"<a href=/x>").found[0].url == "http://e.org/x"


@pytest.mark.parametrize(
    ("url", "is_told"),
    [
        ("http://e.org:8080/folder/page", False),
        ("http://127.0.0.1/folder/page", False),
        ("http://e.org/folder/page?q=1", True),
        ("http://e.org/2031/03/", True),
    ],
)
def test_words_are_told_of_addresses_that_may_be_one_of_many(url: str, is_told: bool) -> None:
    assert bool(read("<p>Something is said here.</p>", url).words) is is_told


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True),
        ({"url": "http://other.org/x", "host": "other.org"}, False),
        ({"host": "other.org"}, False),  # it would be asked for under another host's budget
        ({"depth": 4}, False),
        ({"depth": 0}, False),
        ({"url": "http://other.org/x", "host": "other.org", "admitted": False}, True),
    ],
)
def test_a_link_that_a_reader_names_is_held_against_the_rules(
    change: dict[str, Any], holds: bool
) -> None:
    judge = LinkJudge(LinkRules(ScopeRules(hosts=["e.org"]), max_depth=3))
    item = judge.judge("/x", PAGE, 2, FoundBy.LINK)
    assert item is not None
    assert judge.confirms(item._replace(**change), 2) is holds
