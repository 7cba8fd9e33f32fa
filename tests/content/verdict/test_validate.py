"""Pages are told from substitutes; and a page about captchas is no captcha."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl4r.content.verdict import signatures, validate
from crawl4r.content.verdict.signature_list import PLACES, SIGNATURES
from crawl4r.content.verdict.validate import (
    Likeness,
    PageVerdict,
    is_hard,
    is_soft,
    likeness,
    resembles,
)
from crawl4r.formats.html import parse_html
from crawl4r.model import Verdict
from tests.content.verdict.verdict_pages import BAD, FOOTER, GOOD, NAV, PROSE, Page, page, site


def judge(html: str | bytes, **more: object) -> PageVerdict:
    body = html.encode() if isinstance(html, str) else html
    return validate.validate(parse_html(body), body, **more)  # type: ignore[arg-type]


def judge_page(page: Page) -> PageVerdict:
    return judge(page.body, url=page.url, status=page.status, headers=page.headers)


# The bar is 95 in 100 of pages not seen before; of these, which were, it is all but what is named here.
HARD_TO_TELL = {"blocked 157"}  # calls itself an error, and asks robots to write a letter


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_page_that_is_none_gets_the_right_verdict_and_says_why(bad: Page) -> None:
    if bad.name in HARD_TO_TELL:
        pytest.xfail("known not to be told")
    verdict = judge_page(bad)
    assert verdict.verdict is bad.verdict, verdict
    assert verdict.reason
    assert verdict.signals
    assert all(verdict.signals)


@pytest.mark.parametrize("good", GOOD, ids=lambda good: good.name)
def test_a_page_that_only_sounds_like_one_is_fine(good: Page) -> None:
    verdict = judge_page(good)
    assert (verdict.verdict, verdict.reason) == (Verdict.OK, ""), verdict


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len(BAD) >= 75
    assert len(GOOD) >= 18
    assert len({bad.name for bad in BAD}) == len(BAD)


def test_a_long_article_may_say_everything_that_block_pages_say() -> None:
    said = "Access denied. Please verify you are human. Too many requests. Page not found. Log in."
    article = site("On blocking", f"<h1>On blocking</h1><p>{said}</p>" + f"<p>{PROSE}</p>" * 6)
    assert judge(article).verdict is Verdict.OK
    assert judge(article, url="https://e.org/login", status=200).verdict is Verdict.OK


@pytest.mark.parametrize(
    "words",
    [
        "We found 10 results, sorted by price.",
        "Here are 120 products for your home.",
        "Casino records for the year.",
        "The Beano captain records forgotten songs.",
    ],
)
def test_a_number_or_a_word_that_ends_like_nothing_is_something(words: str) -> None:
    links = "".join(f"<li><a href='/{n}'>Thing number {n}</a></li>" for n in range(20))
    body = f"<title>Things</title><h1>Things</h1><p>{words}</p><ul>{links}</ul>".encode()
    assert judge(body).verdict is Verdict.OK
    assert judge(body.replace(words.encode(), b"No results found.")).verdict is Verdict.SOFT_404


def test_links_that_a_script_holds_make_no_index() -> None:
    link = '<A HREF="/1">One</A>\n'
    shell = "<title>App</title><body><div id=root></div>{}<script>let links = `{}`</script>"
    assert judge(shell.format(link, link.lower() * 150)).verdict is Verdict.NEEDS_BROWSER
    index = judge(shell.format(link * 150, ""))
    assert (index.verdict, index.signals) == (Verdict.OK, ())


def test_the_same_words_are_a_verdict_where_little_else_is_said() -> None:
    assert judge(page("On blocking", "<p>Access denied. You have been blocked.</p>")).verdict is (
        Verdict.BLOCKED
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, Verdict.LOGIN_WALL),
        (403, Verdict.BLOCKED),
        (404, Verdict.SOFT_404),
        (429, Verdict.BLOCKED),
        (500, Verdict.ERROR_PAGE),
    ],
)
def test_a_status_decides_where_the_page_says_nothing(status: int, expected: Verdict) -> None:
    verdict = judge("<html><body></body></html>", status=status)
    assert verdict.verdict is expected
    assert f"status-{status}" in verdict.signals


def test_a_header_of_a_challenge_decides() -> None:
    plain = page("example.org", "<p>One moment while the page is prepared for you.</p>")
    assert judge(plain).verdict is Verdict.OK
    verdict = judge(plain, headers=[("CF-Mitigated", "challenge")])
    assert verdict.verdict is Verdict.BLOCKED
    assert verdict.signals[0] == "challenge-header"


def test_the_strongest_signal_comes_first() -> None:
    verdict = judge(page("404", "<h1>Not found</h1>"), url="https://e.org/404.html")
    assert verdict.verdict is Verdict.SOFT_404
    assert verdict.signals[0] == "not-found-title"
    assert "not-found-address" in verdict.signals


def test_content_for_readers_without_scripts_is_content() -> None:
    shell = page(
        "Forum", f"<noscript><p>{PROSE}</p></noscript><div id=app></div><script>1</script>"
    )
    assert judge(shell).verdict is Verdict.OK


def test_only_a_refusal_cools_the_host_and_only_a_shell_waits_for_the_browser() -> None:
    assert [verdict for verdict in Verdict if is_hard(verdict)] == [Verdict.BLOCKED]
    assert [verdict for verdict in Verdict if is_soft(verdict)] == [Verdict.NEEDS_BROWSER]


ODD = {
    "nothing": b"",
    "a null": b"\0",
    "an open tag": b"<",
    "an open comment": b"<!-- ",
    "no head": b"<body>hi</body>",
    "frameset": b"<frameset><frame src=a></frameset>",
    "xhtml": b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head/><body/></html>',
    "utf-16": "<html><body>hi</body></html>".encode("utf-16"),
    "half a character": "<title>é</title>".encode()[:-9],
    "deep": b"<div>" * 50_000,
    "long title": b"<title>" + b"404 | " * 100_000,
    "many headings": b"<h1>404</h1>" * 20_000,
    "many open paragraphs": b"<p>" * 100_000,
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_no_input_is_too_odd(body: bytes) -> None:
    assert isinstance(judge(body, url="http://[", status=0, headers=[("", "")]), PageVerdict)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=400), st.text(max_size=30), st.integers(0, 700))
def test_any_bytes_are_judged(body: bytes, url: str, status: int) -> None:
    judge(body, url=url, status=status)
    judge(b"<html><title>" + body + b"</title><p>" + body, url=url, status=status)


def test_the_tree_is_left_as_it_was() -> None:
    for each in [*BAD, *GOOD]:
        tree = parse_html(each.body)
        before = tree.html
        validate.validate(tree, each.body, url=each.url)
        likeness(tree, each.url)
        assert tree.html == before


@pytest.mark.parametrize(
    "piece",
    [b"<a href=/x>link</a> ", b"<div><span></span>", b"<p>", b"<p>ab</p>", b"<h1><b>x", b"word "],
)
def test_the_time_grows_with_the_page_and_no_faster(piece: bytes) -> None:
    judge(piece)  # compiles the signatures

    def cpu(times: int) -> float:
        body = piece * times
        tree = parse_html(body)
        start = time.process_time()
        validate.validate(tree, body)
        return time.process_time() - start

    small = min(cpu(10_000) for _ in range(3))
    large = min(cpu(80_000) for _ in range(2))
    assert large < 8 * 4 * max(small, 0.002)


def test_every_signature_is_well_formed() -> None:
    entries = [entry for section in SIGNATURES.values() for entry in section]
    assert set(SIGNATURES) >= {Verdict.BLOCKED, Verdict.OK}
    assert len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        assert isinstance(entry.where, tuple) and set(entry.where) <= set(PLACES), entry
        assert 0 < entry.weight <= 1.5
        assert entry.words > 0
        assert entry.phrases or entry.patterns
        for text in (*entry.phrases, *entry.patterns):
            assert text == text.lower() or "\\W" in text or "\\pL" in text, text
        for pattern in entry.patterns:
            assert re2.compile(pattern)


MISSING = "<h1>We looked everywhere</h1><p>There is no {} among our boats and ferries. Ask us.</p>"


def seen(html: str, url: str) -> Likeness:
    return likeness(parse_html(html), url)


@pytest.fixture
def probe() -> Likeness:
    return seen(site("Ferries", MISSING.format("qx7 zzwv")), "https://e.org/qx7-zzwv")


def test_the_page_for_what_does_not_exist_is_known_again(probe: Likeness) -> None:
    for path in ("old-timetable", "shop/red-oar.html", "2019/05/news"):
        words = path.replace("/", " ").replace("-", " ").removesuffix(".html")
        missing = seen(site("Ferries", MISSING.format(words)), f"https://e.org/{path}")
        assert resembles(missing, probe)


def test_numbers_and_dates_do_not_make_a_page_another(probe: Likeness) -> None:
    html = site("Ferries", MISSING.format("x") + "<p>Request 8f3a91c2, 12:31:07</p>")
    assert resembles(seen(html, "https://e.org/x"), probe)


def test_a_page_of_the_same_template_is_not_taken_for_it(probe: Likeness) -> None:
    contents = [
        "<h1>Timetable</h1><p>The first ferry leaves at seven, the last at nine in the evening.</p>",
        "<h1>Red oar</h1><p>Beech, two metres long. In stock.</p>",
        f"<h1>Story</h1><p>{PROSE}</p>",
    ]
    for content in contents:
        assert not resembles(seen(site("Ferries", content), "https://e.org/a-page"), probe)


def test_a_large_template_does_not_hide_a_small_text() -> None:
    around = f"<div>{PROSE * 4}</div>" + NAV + FOOTER
    nowhere = seen(page("Ferries", around + "<p>Nothing here, captain.</p>"), "https://e.org/qx7")
    small = seen(
        page("Ferries", around + "<p>Oars cost twenty, ropes five.</p>"), "https://e.org/oars"
    )
    assert not resembles(small, nowhere)


def test_a_title_of_its_own_tells_a_page_apart(probe: Likeness) -> None:
    own = seen(site("Ferries of the north", MISSING.format("x")), "https://e.org/north")
    assert not resembles(own, probe)


def test_empty_shells_resemble_nothing() -> None:
    shell = page("", "<div id=root></div><script src=a.js></script>")
    assert not resembles(seen(shell, "https://e.org/a"), seen(shell, "https://e.org/qx7"))


def test_a_likeness_survives_json(probe: Likeness) -> None:
    text = msgspec.json.encode(probe)
    assert len(text) < 10_000
    assert msgspec.json.decode(text, type=Likeness) == probe


def test_a_likeness_of_a_large_page_stays_small() -> None:
    words = " ".join(
        f"w{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(9000)
    )
    large = seen(page("Large", f"<p>{words}</p>"), "https://e.org/large")
    assert len(msgspec.json.encode(large)) < 10_000
    assert resembles(large, large)


def test_signatures_are_ready_when_several_threads_ask_first() -> None:
    """A filter that another thread is still compiling must not be asked."""
    for _ in range(5):
        signatures.bundled.cache_clear()
        with ThreadPoolExecutor(8) as threads:
            asked = [
                threads.submit(signatures.bundled().heard, "text", "captcha", 0) for _ in range(16)
            ]
            assert len({len(each.result()) for each in asked}) == 1


REFERENCE = "<h1>{}</h1><p>{}</p>" + "<p>Use <code>scan()</code>.</p><pre>scan(1)</pre>" * 3
SOME_PROSE = "The function reads a row and gives it back to whoever asked for it. " * 5


def test_a_page_that_explains_code_needs_no_closer_look() -> None:
    page = site("scan() - Reference", REFERENCE.format("scan", SOME_PROSE))
    assert judge(page) == PageVerdict(Verdict.OK)


@pytest.mark.parametrize("title", ["500 Internal Server Error", "404 Not Found", "Access Denied"])
def test_code_does_not_speak_for_a_page_with_the_name_of_an_error(title: str) -> None:
    page = f"<title>{title}</title>" + REFERENCE.format(title, SOME_PROSE)
    assert judge(page).signals != ()


def test_an_error_with_a_piece_of_code_is_looked_at() -> None:
    said = f"<p>{SOME_PROSE}</p><pre>Traceback (most recent call last): x</pre>"
    assert judge(site("Something", said)).signals != ()
