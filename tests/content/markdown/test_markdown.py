"""HTML to markdown and on to plain text: structure stays, marks go."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.content.markdown.convert import markdown_of, outside_code
from crawl4r.content.markdown.plain_text import plain_text
from crawl4r.formats.html import body_of, parse_html

PAGE = """
<h1>Title<a class=headerlink href="#title">¶</a></h1>
<p>See <a href="b.html">the <b>next</b> page</a> and <code>x = [1]</code>.</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<pre><code class="language-python">def <span class=nf>f</span>(x):
    return <span class=mi>1</span>  # a  b
</code></pre>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead>
<tbody><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></tbody></table>
"""


def convert(html: str) -> str:
    body = body_of(parse_html(html.encode()))
    assert body is not None
    return markdown_of(body, "http://e.org/a/")


def test_headings_lists_code_and_tables_stay_as_they_were() -> None:
    markdown = convert(PAGE)
    assert markdown.startswith("# Title\n")
    assert "[the **next** page](http://e.org/a/b.html)" in markdown
    assert "```python\ndef f(x):\n    return 1  # a  b\n```" in markdown
    assert "- one\n" in markdown and "inner" in markdown
    rows = [line.replace(" ", "") for line in markdown.splitlines() if line.startswith("|")]
    assert rows[0] == "|Name|Value|" and rows[2:] == ["|a|1|", "|b|2|"]


def test_plain_text_holds_the_words_and_the_code_alone() -> None:
    text = plain_text(convert(PAGE))
    assert "See the next page and x = [1]." in text
    assert "def f(x):\n    return 1  # a  b" in text
    assert "http" not in text and "```" not in text and "|" not in text
    assert "Name" in text and "inner" in text


def test_marks_inside_code_are_no_marks() -> None:
    assert plain_text("```\n# not a heading\n[a](b) *c*\n```") == "# not a heading\n[a](b) *c*"
    assert plain_text("~~~\n```\n~~~\n**x**") == "```\nx"


def test_a_fence_that_never_ends_is_code_to_the_end() -> None:
    assert plain_text("a\n\n```\n**b**") == "a\n**b**"


def test_hostile_markdown_is_read_in_time() -> None:
    """Nested brackets, stars and parentheses: a pattern that backtracks would never end."""
    for text in ("[" * 5_000, "*" * 20_000, "[a](" * 5_000, "**a" * 5_000, "[[a]" * 5_000):
        assert isinstance(plain_text(text), str)


def test_a_tooltip_goes_and_code_that_looks_like_one_stays() -> None:
    html = '<p><a class=x href="/t" title="The target">t</a></p><pre>&lt;a title="kept"&gt;</pre>'
    body = body_of(parse_html(html))
    assert body is not None
    markdown = markdown_of(body, "https://a.example/")
    assert "The target" not in markdown
    assert '<a title="kept">' in markdown


def test_a_table_has_a_cell_for_each_column_whatever_its_rows_and_spans_say() -> None:
    spans = (
        "<table><tr><th colspan=2>H</th><th>I</th></tr><tr><td rowspan=2>a</td><td>b</td><td>c</td>"
        "</tr><tr><td>d</td><td>e</td></tr></table>"
    )
    assert _cells(convert(spans)) == [["H", "", "I"], ["a", "b", "c"], ["", "d", "e"]]
    ragged = "<table><tr><td>a</td></tr><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"
    assert _cells(convert(ragged)) == [["a", ""], ["1", "2"], ["3", ""]]
    odd = "<table><tr><td rowspan=x colspan=-1>a<td colspan=99999999>b</table>"
    assert _cells(convert(odd))[0][:2] == ["a", "b"]


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    inner = "<table><tr><td>x</td><td>y</td></tr></table>"
    html = (
        f"<table><tr><td>menu</td><td><h2>Head</h2><p>one</p><pre>a\n b</pre>{inner}</td></table>"
    )
    markdown = convert(html)
    assert "## Head\n\none\n\n```\na\n b\n```" in markdown
    assert _cells(markdown) == [["x", "y"]]


def test_what_marks_cannot_say_is_left_as_words_and_not_as_tags() -> None:
    assert convert("<p>a <b>b.</b>c <code>x</code><code>y</code></p>") == "a b.c `x`y"
    assert convert("<h2>Part\u00a0III</h2>") == "## Part III"
    assert convert('<p>see <a href="/x"><img src=y alt=z></a></p>') == "see"
    code = "<p><b>b.</b>c</p><pre>&lt;em&gt;x&lt;/em&gt; &amp;#160; [](y)</pre>"
    assert convert(code) == "b.c\n\n```\n<em>x</em> &#160; [](y)\n```"


def test_links_are_made_absolute_as_a_browser_would() -> None:
    html = '<p><a href="../x?q#f">1</a> <a href="//h/y">2</a> <a href="?p">3</a> <a href="#t">4</a></p>'
    assert convert(html) == (
        "[1](http://e.org/x?q#f) [2](http://h/y) [3](http://e.org/a/?p) [4](http://e.org/a/#t)"
    )


@pytest.mark.parametrize("broken", ["//[", "http://[::1"])
def test_an_address_that_is_none_is_left_alone_and_the_others_are_made_absolute(
    broken: str,
) -> None:
    page = f'<p><a href="b">first</a> <a href="{broken}">odd</a> <a href="/c#d">last</a></p>'
    assert convert(page) == (f"[first](http://e.org/a/b) [odd]({broken}) [last](http://e.org/c#d)")


def test_what_is_escaped_in_markdown_is_not_in_the_text() -> None:
    words = "2*3 [b] <div> &amp; ~x~ `c` \\ snake_case #1 a|b"
    html = words.replace("&", "&amp;").replace("<", "&lt;")
    assert plain_text(convert(f"<p>{html}</p>")) == words


def _cells(markdown: str) -> list[list[str]]:
    rows = [line for line in markdown.splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_blank_lines_stay_in_code_alone() -> None:
    """A link around an image has no words, and leaves nothing behind."""
    image = "<p><a href=x><img src=y></a></p>"
    code = "<ul><li><pre>x\n\n\n\ny</pre></li></ul>"
    markdown = convert(f"<p>a</p>{image}<p>b</p>{code}{image}<pre>```\n\n\n</pre>{image}<p>c</p>")
    inside = markdown.replace(" ", "")
    assert markdown.startswith("a\n\nb\n\n")
    assert "x\n\n\n\ny" in inside and "```\n\n\n" in inside
    assert markdown.endswith("\n\nc") and not markdown.endswith("\n\n\nc")


def outside_code_line_by_line(markdown: str) -> str:
    """What `outside_code` does with `str.upper`, told slowly."""
    lines, fence = [], ""
    for line in markdown.split("\n"):
        begins = re.match(r"[ >]*(?:(?:[-*+]|\d+[.)]) +)*(`{3,})", line)
        if fence:
            lines.append(line)
            rest = line.lstrip(" >")
            if rest.startswith(fence):
                lines[-1] = line[: len(line) - len(rest) + len(fence)]
                lines[-1] += rest[len(fence) :].upper()
                fence = ""
        elif begins:
            lines.append(line)
            fence = begins[1]
        else:
            lines.append(line.upper())
    return "\n".join(lines)


@given(st.lists(st.sampled_from(["```", "````", "\n", "> ", " ", "- ", "1. ", "a", "\n\n"])))
def test_what_stands_in_code_is_left_alone(parts: list[str]) -> None:
    markdown = "".join(parts)
    assert outside_code(markdown, str.upper) == outside_code_line_by_line(markdown)


def test_many_fences_on_one_line_are_read_in_no_time() -> None:
    hostile = "a" + "```" * 200_000 + "\n" + " " * 200_000 + "b```" * 200_000
    assert outside_code(hostile, str) == hostile
