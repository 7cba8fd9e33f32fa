"""The title of a page stands on top of its markdown, once."""

from __future__ import annotations

import pytest

from crawl4r.content.markdown.convert import markdown_of
from crawl4r.formats.html import body_of, parse_html

TITLE = "How to bake bread"


def convert(html: str, title: str = TITLE) -> str:
    body = body_of(parse_html(html.encode()))
    assert body is not None
    return markdown_of(body, "http://e.org/a/", title)


def test_a_page_whose_heading_is_missing_gets_its_title() -> None:
    assert convert("<p>Take flour.</p>") == f"# {TITLE}\n\nTake flour."
    assert convert("<h2>Flour</h2><p>Take it.</p>") == f"# {TITLE}\n\n## Flour\n\nTake it."


def test_a_heading_that_is_the_title_stays_as_it_is() -> None:
    for level in (1, 2):
        html = f"<h{level}>{TITLE}</h{level}><p>Take flour.</p>"
        assert convert(html, f"{TITLE} | The Bakery") == f"{'#' * level} {TITLE}\n\nTake flour."


def test_a_heading_below_other_text_moves_to_the_top() -> None:
    page = f"<p>News, 3 May</p><h4>Recipes</h4><h1>{TITLE}</h1><p>Take flour.</p>"
    assert convert(page) == f"# {TITLE}\n\nNews, 3 May\n\n#### Recipes\n\nTake flour."


@pytest.mark.parametrize(
    "html",
    [
        f"<ul><li><h1>{TITLE}</h1>Take flour.</li></ul>",
        f"<a href=/><h1>{TITLE}</h1></a><p>Take flour.</p>",
        f"<hr><h1>{TITLE}</h1><p>Take flour.</p>",
        f"<h1 style='white-space:pre-wrap'>{TITLE}</h1><p>Take flour.</p>",
        f"<div><span>{TITLE}</span></div><p>Take flour.</p>",
        f"<p><b>{TITLE}</b></p><p>Take flour.</p>",
        f"{TITLE}<p>Take flour.</p>",
        f"<h1>{TITLE}</h1><h2>{TITLE}</h2><p>Take flour.</p>",
        f"<h3>{TITLE.upper()}</h3><p>{TITLE}, and more. Take flour.</p>",
    ],
)
def test_the_title_is_the_first_line_and_stands_there_once(html: str) -> None:
    first, *rest = convert(html).splitlines()
    assert first.lstrip("#").strip().lower() == TITLE.lower()
    assert first.startswith("#")
    assert not any(line.strip("#* ").lower() == TITLE.lower() for line in rest)
    assert any("Take flour." in line for line in rest)


def test_a_heading_of_the_first_level_may_say_the_title_in_other_words() -> None:
    page = "<h1>Bread: how to bake it</h1><p>Take flour.</p>"
    assert convert(page).startswith("# Bread: how to bake it\n\nTake")


def test_signs_in_a_title_are_words() -> None:
    assert convert("<p>x</p>", "*a* <b> [c](d)").startswith("# \\*a\\* \\<b> \\[c\\](d)\n")


def test_a_page_without_words_gets_no_title() -> None:
    assert convert("<p> </p><img src=x>") == ""
    assert convert("") == ""


@pytest.mark.parametrize("html", ["<h1></h1>x", "<h1>x", "<a><h1>x<p>y</h1></a>", "<h1><h2>x"])
@pytest.mark.parametrize("title", ["", "x", "y", "?!", "x " * 3_000])
def test_no_page_is_too_odd(html: str, title: str) -> None:
    assert "x" in convert(html, title)
