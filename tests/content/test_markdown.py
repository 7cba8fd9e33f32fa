"""HTML to markdown and on to plain text: structure stays, marks go."""

from __future__ import annotations

from crawl4r.content.markdown import markdown_of, plain_text
from crawl4r.markup import body_of, parse_html

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
