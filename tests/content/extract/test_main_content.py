"""Which parts of a page are kept."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from crawl4r.content.extract.blocks import walk
from crawl4r.content.extract.main_content import _clear_landmark, fingerprints, prune
from crawl4r.content.extract.whole_blocks import keep_whole, settle_lists
from crawl4r.formats.html import body_of, parse_html
from tests.debian import install

SENTENCE = (
    "The river rises in the hills to the north of the town, and it has been used for as long as"
    " anybody can remember, because the water is clear and there is enough of it in the summer."
)
MENU = "".join(f'<li><a href="/{name}">{name} pages</a></li>' for name in ("Home", "About", "Shop"))
PARAGRAPHS = "".join(f"<p>{number}. {SENTENCE}</p>" for number in range(6))
ARTICLE = f"""<!doctype html><html><head><title>The river</title></head><body>
<div class="cookie-banner"><p>We use cookies. <button>Accept all</button></p></div>
<header class="site-header"><nav class="menu"><ul>{MENU}</ul></nav></header>
<div id="content"><div class="entry-content">
<h1>The river</h1>{PARAGRAPHS}
<h2>How to get there</h2>
<pre><code>walk   north
  then  east</code></pre>
<p>{SENTENCE}</p>
<table><tr><th>Month</th><th>Level</th></tr><tr><td>May</td><td></td></tr>
<tr><td>June</td><td>4</td></tr></table>
<p>In the end, {SENTENCE}</p>
</div></div>
<aside class="sidebar related"><h3>Related posts</h3><ul>{MENU}</ul></aside>
<footer class="site-footer"><ul>{MENU}</ul><p>Copyright 2026 The Authors. All rights reserved.</p>
<form><input name="mail"><select><option>Weekly</option></select><button>Subscribe</button></form>
</footer><script>track()</script></body></html>"""
DOCUMENTATION = f"""<body><div class="related"><a href="/">index</a> <a href="/n">next</a></div>
<div class="document"><div class="body" role="main"><section><h1>Reading</h1><p>{SENTENCE}</p>
<pre>x = 1</pre><table><tr><td>a</td><td></td></tr></table><script>no()</script></section></div></div>
<div class="sphinxsidebar"><h4>Previous topic</h4></div></body>"""


def kept(html: str, repeated: frozenset[int] = frozenset()) -> str:
    return prune(parse_html(html), repeated).body.html or ""


def test_an_article_is_kept_without_what_is_around_it() -> None:
    html = kept(ARTICLE)
    assert html.count(SENTENCE) == 8
    for boilerplate in (
        "cookies",
        "Home pages",
        "Related posts",
        "Copyright",
        "Subscribe",
        "track",
    ):
        assert boilerplate not in html


def test_headings_code_and_tables_stay_as_they_were() -> None:
    html = kept(ARTICLE)
    assert "<h1>The river</h1>" in html
    assert "<h2>How to get there</h2>" in html
    assert "<pre><code>walk   north\n  then  east</code></pre>" in html
    assert "<tr><td>May</td><td></td></tr>" in html
    assert "<tr><td>June</td><td>4</td></tr>" in html


def test_a_landmark_that_holds_nothing_else_is_the_content() -> None:
    html = kept(DOCUMENTATION)
    assert "<h1>Reading</h1>" in html
    assert "<pre>x = 1</pre>" in html
    assert "<td></td>" in html
    for boilerplate in ("index", "Previous topic", "script"):
        assert boilerplate not in html


def test_a_short_page_between_long_menus_is_its_landmark() -> None:
    """Though they say more than the page: what it holds is all content, down to its last line."""
    menu = "".join(f'<li><a href="/{n}">{n} and further pages</a></li>' for n in range(25))
    page = (
        f'<body><ul>{menu}</ul><div role="main"><h1>Copyright</h1><p>All rights reserved.</p>'
        '<p>See <a href="/l">History and License</a> for details.</p></div></body>'
    )
    tree = parse_html(page)
    body = body_of(tree)
    assert body is not None
    assert _clear_landmark(tree, body) is not None
    html = kept(page)
    assert "History and License" in html
    assert "further pages" not in html


def test_a_landmark_with_next_to_nothing_in_it_is_not_taken_at_its_word() -> None:
    tree = parse_html(f"<body><main><p>Advertisement</p></main><div>{PARAGRAPHS}</div></body>")
    body = body_of(tree)
    assert body is not None
    assert _clear_landmark(tree, body) is None
    assert prune(tree).words.count(SENTENCE) == 6


def test_a_list_of_names_stays_in_a_section_like_one_that_is_kept() -> None:
    names = "".join(f"<tr><td>Name Surname{number}</td></tr>" for number in range(60))
    page = walk(
        parse_html(
            f'<div><div class="sect"><h3>Part</h3><p>{SENTENCE}</p></div>'
            f'<div class="sect"><h3>Thanks</h3><p>To these.</p><table>{names}</table></div></div>'
        )
    )
    kept = np.arange(len(page.blocks)) < 2
    keep_whole(page, kept)
    assert kept.all()


def _settled(html: str, kept: list[int], likely: float = 0.3) -> str:
    """The words of a page of which the model keeps some blocks, once its lists are settled."""
    page = walk(parse_html(html))
    some = np.isin(np.arange(len(page.blocks)), kept)
    settle_lists(page, some, np.where(some, 0.4, likely))
    return " ".join(
        block.text.strip() for block, is_kept in zip(page.blocks, some, strict=True) if is_kept
    )


def test_a_list_of_which_most_is_kept_is_kept_whole() -> None:
    items = "".join(f"<li>item {number}" for number in range(6))
    page = f"<p>{SENTENCE}</p><ul>{items}</ul>"
    assert _settled(page, [0, 1, 2, 4, 5], 0.41).endswith(
        "item 0 item 1 item 2 item 3 item 4 item 5"
    )
    assert _settled(page, [0, 3], 0.1) == SENTENCE  # or not at all


def test_a_list_of_terms_is_kept_whole_beside_kept_text_though_it_is_made_of_links() -> None:
    terms = "".join(
        f"<dt><a href=/{n}>8.{n} Types</a><dd><dl><dt><a href=/{n}#a>8.{n}.1 Kinds</a></dl></dd>"
        for n in range(5)
    )
    page = (
        f"<nav>menu</nav><div><h2>Types</h2><p>Contents</p><dl>{terms}</dl><p>{SENTENCE}</p></div>"
    )
    for kept in ([13], [4, 5], [1, 2]):
        assert _settled(page, kept).count("Kinds") == 5
    assert "menu" not in _settled(page, [13])


def test_a_row_of_cards_a_menu_and_a_long_item_are_judged_by_their_text() -> None:
    cards = "".join(f"<li><h3>Card {n}</h3><p>Price</p><p>Rating</p></li>" for n in range(3))
    assert _settled(f"<p>{SENTENCE}</p><ul>{cards}</ul>", [0, 1]).count("Card") == 1
    assert _settled(f"<p>{SENTENCE}</p><nav><ul>{MENU}</ul></nav>", [0, 1]).count("pages") == 1
    answers = f"<dl><dt>One?<dd>Yes.<dt>Two?<dd>{SENTENCE * 9}</dl>"
    assert _settled(answers, [0, 1]) == "One? Yes. Two?"


def test_lists_without_end_are_settled_in_time() -> None:
    for html in ("<ul><li>x" * 5_000, "<ul><li>x</ul>y" * 20_000, "<dl><dt><dl><dd>x" * 3_000):
        page = walk(parse_html(f"<p>{SENTENCE}</p>{html}"))
        kept = np.arange(len(page.blocks)) % 2 == 0
        started = time.process_time()
        settle_lists(page, kept, np.where(kept, 0.9, 0.1))
        assert time.process_time() - started < 10


def test_a_list_that_text_introduces_is_kept() -> None:
    items = "".join(f"<li>kind {number}</li>" for number in range(4))
    assert "kind 3" in _settled(f"<div><p>{SENTENCE}</p><ul>{items}</ul></div>", [0])
    linked = "".join(f"<li><a href=/{number}>kind {number}</a></li>" for number in range(4))
    assert "kind" not in _settled(f"<div><p>{SENTENCE}</p><ul>{linked}</ul></div>", [0])


def test_a_table_of_contents_of_real_documentation_is_complete() -> None:
    file = Path("/usr/share/doc/postgresql-doc-15/html/datatype.html")
    if not file.is_file():
        install("postgresql-doc-15")
    if not file.is_file():
        pytest.skip("needs Debian's postgresql-doc-15")
    html = file.read_text("utf-8")
    text = " ".join(prune(parse_html(html)).words.split())
    for link in parse_html(html).select("dl.toc a"):
        assert " ".join(link.text.split()) in text.replace(" .", ".")


@pytest.mark.parametrize(
    ("part", "is_content"),
    [
        ('<div class="note">', True),
        ('<aside class="footnote">', True),
        ('<aside class="sidebar"><p class="sidebar-title">Box</p>', True),
        ('<aside class="sidebar">', False),
        ('<nav class="contents">', True),
        ("<nav>", False),
        ("<aside>", False),
        ('<div class="related-posts">', False),
        ("<div hidden>", False),
        ('<div role="main">', False),
    ],
)
def test_a_landmark_is_taken_at_its_word_if_nothing_else_is_in_it(
    part: str, is_content: bool
) -> None:
    tree = parse_html(f'<body><div role="main"><p>{SENTENCE}</p>{part}x</body>')
    body = body_of(tree)
    assert body is not None
    assert (_clear_landmark(tree, body) is not None) is is_content


def test_posts_of_a_thread_are_all_kept() -> None:
    posts = "".join(
        f'<div class="post"><div class="post-body"><p>Answer {number}: {SENTENCE}</p></div></div>'
        for number in range(5)
    )
    html = kept(f'<body><nav><ul>{MENU}</ul></nav><div class="thread">{posts}</div></body>')
    assert all(f"Answer {number}:" in html for number in range(5))
    assert "Home pages" not in html


def test_text_that_only_readers_without_scripts_get_is_kept_and_visible() -> None:
    html = kept(
        f'<body><div id="app"></div><noscript><div class="post">{PARAGRAPHS}</div></noscript>'
    )
    assert SENTENCE in html
    assert "<noscript" not in html


@pytest.mark.parametrize("page", [ARTICLE, DOCUMENTATION])
def test_what_repeats_on_a_site_is_removed(page: str) -> None:
    extra = "Edit this page on our server, it is easy and we are glad of any help we can get."
    html = page.replace("<h1>", f"<p>{extra}</p><h1>")
    (mark,) = set(fingerprints(parse_html(f"<p>{extra}")))
    assert mark in fingerprints(parse_html(html))
    cleaned = kept(html, frozenset([mark]))
    assert extra not in cleaned
    assert SENTENCE in cleaned


def test_fingerprints_do_not_see_case_or_white_space() -> None:
    one, other = (
        fingerprints(parse_html(html))
        for html in ("<p>Read  <b>More</b></p><p>Other", "<div>read\nmore</div>")
    )
    assert len(one) == 2
    assert one[0] == other[0] != one[1]


def test_fingerprints_are_the_same_in_every_process() -> None:
    code = (
        "from crawl4r.formats.html import parse_html as P\n"
        "from crawl4r.content.extract.main_content import fingerprints\n"
        "print(fingerprints(P('<p>Read more')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(fingerprints(parse_html("<p>Read more")))


def test_the_same_page_gives_the_same_answer() -> None:
    assert len({kept(ARTICLE) for _ in range(3)}) == 1


@pytest.mark.parametrize(
    "html",
    [
        "",
        " ",
        "plain words",
        "<frameset><frame src=a></frameset>",
        "<body></body>",
        "<p>\x00</p>",
        "<p>\u200b</p>",
        "<div>" * 5_000 + "deep",
        "<a><div>" * 500 + "deep",
        "<table><tr><td>" * 300 + "deep",
        "<main>" * 300 + "deep",
        "<svg><p>out</svg><math><mi>x",
        "<body><script>only()</script><p hidden>x</p>",
        "<a>one<div></div><b>two<p>three</p></b></a>four",
        "<noscript><noscript><p>x</noscript>",
        "<ul>" + "<li><a href=x>y</a>" * 3_000,
        "<select><option>a<p>b</select><textarea><p>c</textarea>",
    ],
)
def test_no_page_is_too_odd(html: str) -> None:
    assert prune(parse_html(html)).body.html is not None
    assert prune(parse_html(html), frozenset([1])).body.html is not None
    assert isinstance(fingerprints(parse_html(html)), list)
