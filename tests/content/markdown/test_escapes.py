"""Backslashes go where markdown reads the text the same without them."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from turbohtml import Element, Text

from crawl4r.content.markdown.convert import markdown_of
from crawl4r.content.markdown.escapes import without_lone_breaks, without_needless_escapes
from crawl4r.content.markdown.plain_text import plain_text
from crawl4r.formats.html import body_of, parse_html

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def convert(html: str) -> str:
    body = body_of(parse_html(html.encode()))
    assert body is not None
    return markdown_of(body, "http://e.org/a/")


@pytest.mark.parametrize(
    "words",
    [
        "2.4GHz", "see 1. and 2.", "-5 degrees", "+49 30 123", "#hashtag", "snake_case_name",
        "Price*", "oil*, salt**, sugar***", "2 * 3", "~40%", "[1]", "see [b] and [[c]]", "C:\\dir",
        "char* p", "a < b", "<5", "AT&T", "x => y", "5' 3\"", "[edit] here", "it's `", "=)", "1)a",
    ],
)  # fmt: skip
def test_words_that_mean_nothing_to_markdown_are_written_as_they_are(words: str) -> None:
    escaped = words.replace("&", "&amp;").replace("<", "&lt;")
    written = convert(f"<p>{escaped}</p>")
    assert written == words
    assert plain_text(written) == words


@pytest.mark.parametrize(
    "words",
    [
        "1. item", "- item", "+ item", "# heading", "> quote", "***", "---", "===", "*a*", "a*b*c",
        "~~gone~~", "`code`", "[a](b)", "[a][b]", "[a]: b", "<div>", "&amp;", "\\*", "* item", "```",
        "~~~", "12) item", "## heading ##", "- - -", "<!-- x -->", "![a](b)", "a\\", "-", "1.",
    ],
)  # fmt: skip
def test_words_that_would_mean_something_stay_words(words: str) -> None:
    body = parse_html("<p></p>").find("p")
    assert isinstance(body, Element)
    body.append(Text(words))
    written = markdown_of(body, "")
    tokens = RENDERER.parse(written)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {child.type for child in tokens[1].children or ()} <= {"text", "text_special"}
    assert "".join(child.content for child in tokens[1].children or ()) == words


PIECES = st.sampled_from(
    ["*", "**", "_", "~", "~~", "`", "``", "[", "]", "(", ")", "](", "#", "-", "+", "=", ">", "<"]
    + ["&amp;", "1.", "2)", ".", "!", "\\", "|", ":", " ", " ", "a", "b c", "x", '"', "é", "、", "5"]
    + ["<br>", "<b>d</b>", "<i>e</i>", "<code>*f\\_</code>", '<a href="/u_(v)*">g</a>', "<br><br>"]
)  # fmt: skip
BLOCKS = st.sampled_from(["p", "h2", "li", "blockquote", "td", "pre", "dd"])


@given(st.lists(st.tuples(BLOCKS, st.lists(PIECES, max_size=14)), max_size=4))
@example([("p", ["`", "<br><br>", "`"])])
def test_a_text_is_read_the_same_without_them(blocks: list[tuple[str, list[str]]]) -> None:
    html = "".join(
        f"<{tag}>{''.join(pieces).replace('< ', '&lt; ')}</{tag}>" for tag, pieces in blocks
    )
    body = body_of(parse_html(html.encode()))
    assert body is not None
    for paragraph in re.split(r"\n{2,}", body.to_markdown()):
        if "```" not in paragraph:
            tidy = without_needless_escapes(paragraph)
            assert len(tidy) <= len(paragraph)
            assert RENDERER.render(tidy) == RENDERER.render(paragraph)


def test_a_break_alone_on_its_line_ends_the_paragraph() -> None:
    assert (
        convert("<p>one<br><br>two<br>three<br><br><br>four</p>") == "one\n\ntwo  \nthree\n\nfour"
    )
    assert convert("<ul><li>one<br><br>two</li></ul>") == "- one\n\n  two"
    assert convert("<blockquote>one<br><br>two</blockquote>") == "> one\n>\n> two"
    assert convert("<p><br><br>one</p><p>two<br><br></p>") == "one\n\ntwo"


def test_no_break_is_left_alone_within_emphasis_or_at_the_start_of_an_item() -> None:
    for html in (
        "<p><b>one<br><br>two</b> x</p>",
        "<ul><li><br><br>one</li><li>two<br></li></ul>",
        "<p>a *<br><br>b* <i>c<br><br></i>d</p>",
    ):
        written = convert(html)
        assert not re.search(r"^[ >*-]*\\$", written, re.MULTILINE), written
        assert "\\\\" not in written


def test_many_signs_are_read_in_time() -> None:
    for sign in (
        "\\*",
        "\\[",
        "\\]",
        "\\`",
        "\\\n",
        "a  \n\\\n",
        "\\[a\\]",
        "`\\",
        "\\_",
        "[a  \n\\\n",
        "-  ",
        "1. \\*",
    ):
        for hostile in (sign * 50_000, sign * 1_000 + "\\*", (sign * 300 + "\\#\n") * 100):
            started = time.process_time()
            assert without_needless_escapes(without_lone_breaks(hostile)) is not None
            assert time.process_time() - started < 5
