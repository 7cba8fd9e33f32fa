"""HTML to markdown that keeps headings, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from urllib.parse import urljoin

from turbohtml import Element, Markdown

from crawl4r.content.markdown.escapes import without_lone_breaks, without_needless_escapes
from crawl4r.content.markdown.plain_text import TARGET
from crawl4r.content.markdown.safe_links import unlink_unsafe
from crawl4r.content.markdown.tables import level_rows, unfold_layout
from crawl4r.content.markdown.title import put_on_top
from crawl4r.formats.html import body_of, parse_html

# Marks that sites hang on a heading so that it can be linked to.
_PERMALINKS = "a:is(.headerlink,.anchor,.anchorjs-link,.header-anchor,.heading-anchor,.hash-link)"
# Inline wrappers say nothing in markdown, and highlighted code has hundreds of them.
_WRAPPERS = "span,font,tt,ins,abbr"
_STYLE = Markdown(
    links=Markdown.Links(autolink=False),
    images=Markdown.Images(mode="ignore"),
    tables=Markdown.Tables(cell_blocks="text"),
    escaping=Markdown.Escaping(underscores=False),  # names are full of them
)
# Emphasis and code are written as tags where signs would not be read as such, a blank that is no space
# as its number where it might get lost, and a link around an image alone has no words.
_LEFT_OVER = rf"</?(?:em|strong|del|s|code)>|<br>|&#\d+;|\[\]{TARGET}"
_ANYWHERE = re.compile(_LEFT_OVER)
# A piece of code ends within its block.
_NOT_IN_CODE = re.compile(rf"\\.|(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)|{_LEFT_OVER}", re.DOTALL)

_FENCE_SIGNS = "```"
_TWO_BLANK_LINES = "\n\n\n"
_BLANK_LINES = re.compile(r"\n{3,}")
_FENCE_BEGINS = re.compile(r"[ >]*(?:(?:[-*+]|\d+[.)]) +)*(`{3,})")  # also as an item of a list


def markdown_of(body: Element, url: str, title: str = "") -> str:
    """The markdown of a pruned body; links are made absolute with `url`. The tree is changed.

    A link that must not be followed (`safe_links`) leaves its words. The page's title, when it is
    known, stands on top: as the page's own heading, if it has one that says it.
    """
    body.remove(_PERMALINKS)
    for link in body.select("a[title]"):
        del link.attrs["title"]  # mostly the name of the target again
    body.strip_tags(_WRAPPERS)
    has_tables = body.find("table") is not None
    if has_tables:
        unfold_layout(body)
    if title:
        put_on_top(body, title)
    if url:
        _resolve_links(body, url)
    unlink_unsafe(body)
    markdown = body.to_markdown(_STYLE)
    # So the library writes tables whose rows are not of one length.
    if has_tables and "<table" in markdown:
        level_rows(body)
        markdown = body.to_markdown(_STYLE)
    markdown = _tidied(markdown, body)
    if _TWO_BLANK_LINES in markdown:
        markdown = outside_code(markdown, _with_single_blank_lines)
    return markdown.strip()


def _resolve_links(body: Element, url: str) -> None:
    try:
        body.resolve_links(url)
    except ValueError:  # it stops at the first that is no address, as `//[`
        body.rewrite_links(partial(_joined, url))


def _joined(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return href


def _with_single_blank_lines(markdown: str) -> str:
    return _BLANK_LINES.sub("\n\n", markdown) if _TWO_BLANK_LINES in markdown else markdown


def _tidied(markdown: str, body: Element) -> str:
    """Words and marks alone; what looks like a left-over in the page's own code stays."""
    has_left_overs = _has_signs(markdown)
    if has_left_overs and not _has_signs(body.text):
        markdown, has_left_overs = _ANYWHERE.sub(_replaced, markdown), False
    if not has_left_overs and "\\" not in markdown:
        return markdown
    return outside_code(markdown, _tidied_words if has_left_overs else _without_backslashes)


def _tidied_words(markdown: str) -> str:
    return _without_backslashes(_NOT_IN_CODE.sub(_replaced, markdown))


def _without_backslashes(markdown: str) -> str:
    """Without those that mean nothing."""
    if "\\" not in markdown:  # as in most of what stands between two pieces of code
        return markdown
    return without_needless_escapes(without_lone_breaks(markdown))


def _has_signs(text: str) -> bool:
    return _is_followed(text, "<", ("/", "br>")) or _is_followed(text, "&", ("#",)) or "[](" in text


def _is_followed(text: str, sign: str, by: tuple[str, ...]) -> bool:
    """From one of the signs to the next: there are few, and a single one is found in no time."""
    at = text.find(sign)
    while at >= 0:
        if text.startswith(by, at + 1):
            return True
        at = text.find(sign, at + 1)
    return False


def _replaced(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] in "\\`":
        return text
    return " " if text[0] == "&" or text == "<br>" else ""


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Change all that does not stand between two fences."""
    pieces = []
    done = looked = 0
    at = markdown.find(_FENCE_SIGNS)
    while at >= 0:
        line = markdown.rfind("\n", looked, at) + 1
        is_first = bool(line) or not looked  # of such signs on its line: others are no fence
        found = _FENCE_BEGINS.match(markdown, line) if is_first else None
        if found and found.start(1) == at:
            end = _end_of_code(markdown, at, found[1])
            pieces += [change(markdown[done:line]), markdown[line:end]]
            done = looked = end
        else:
            looked = at + len(_FENCE_SIGNS)
        at = markdown.find(_FENCE_SIGNS, looked)
    return "".join([*pieces, change(markdown[done:])])


def _end_of_code(markdown: str, start: int, fence: str) -> int:
    """Behind the line that ends what the fence at `start` begins."""
    looked = start + len(fence)
    while (at := markdown.find(fence, looked)) >= 0:
        line = markdown.rfind("\n", looked, at) + 1
        looked = at + len(fence)
        if line and not markdown[line:at].strip(" >"):
            return looked
    return len(markdown)


def markdown_of_html(html: str, url: str) -> str:
    body = body_of(parse_html(html))
    return markdown_of(body, url) if body is not None else ""
