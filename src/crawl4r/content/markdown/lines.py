"""What a line of markdown begins, and the line where that ends (CommonMark and GFM)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

CODE_INDENT = 4  # blanks from which a line is code

ATX = re.compile(r"(#{1,6})(?: +|$)(.*)")
SETEXT = re.compile(r" {0,3}(=+|-+)$")
FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
RULE = re.compile(r"(?:\* *+){3,}+$|(?:- *+){3,}+$|(?:_ *+){3,}+$")
ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?! )| |$)")
_INTERRUPTING_ITEM = re.compile(r"(?:[-*+]|1[.)]) +\S")
_LONGEST_RAW = 1_000  # lines in which the end of a script or the like is looked for
_RAW_HTML = re.compile(
    r"<(?:(script|style|textarea|pre)(?=[\s>]|$)|!--|\?|!\[CDATA\[)", re.IGNORECASE
)
_RAW_END = {"<!--": "-->", "<?": "?>", "<![cdata[": "]]>"}
_HTML = re.compile(
    r"</?(?:address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset"
    r"|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|nav|ol|option|p|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)"
    r"(?=[\s/>]|$)",
    re.IGNORECASE,
)
_BLOCK_STARTS = frozenset("#`~>-*+_<1")  # what can interrupt a paragraph begins with one of these
# Many empty lines in a row are one: there can be millions of them.
_LINE = re.compile(r"(?:[ \t]*+(?:\r\n?+|\n)){64,}+|[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class Line(NamedTuple):
    """A line within its containers (lists, quotes): their marks and indents are taken off."""

    start: int  # where the whole line begins in the document
    text: str  # what is left of it: tabs expanded, right end stripped


def split_lines(text: str) -> list[str]:
    """The lines with their ends. Only CR, LF and CRLF end a line, unlike in `str.splitlines`.

    A long run of empty lines counts as one line.
    """
    return _LINE.findall(text)


def lines_of(markdown: str) -> list[Line]:
    """The lines of a document, not yet in any container."""
    lines, start = [], 0
    for line in split_lines(markdown):
        text = line.rstrip()
        lines.append(Line(start, text.expandtabs(4) if "\t" in text else text))
        start += len(line)
    return lines


def indent(text: str) -> int:
    """Blanks before the first character that is none."""
    return len(text) - len(text.lstrip(" "))


def interrupts(text: str) -> bool:
    """Whether a line begins a block even right below a paragraph."""
    body = text.lstrip(" ")
    if body[0] not in _BLOCK_STARTS or indent(text) >= CODE_INDENT:
        return False
    patterns = (ATX, FENCE, RULE, _INTERRUPTING_ITEM, _RAW_HTML, _HTML)
    return body[0] == ">" or any(pattern.match(body) for pattern in patterns)


def end_of_indented(lines: Sequence[Line], at: int) -> int:
    """The line after code that is marked by nothing but its indent."""
    while at < len(lines) and (not lines[at].text or indent(lines[at].text) >= CODE_INDENT):
        at += 1
    return at


def end_of_fence(lines: Sequence[Line], at: int, fence: str) -> int:
    """The line after the closing fence; without one the block takes the rest, as browsers do."""
    for end in range(at + 1, len(lines)):
        body = lines[end].text.lstrip(" ")
        if (
            body.startswith(fence)
            and not body.strip(fence[0])
            and indent(lines[end].text) < CODE_INDENT
        ):
            return end + 1
    return len(lines)


def end_of_html(lines: Sequence[Line], at: int, body: str) -> int | None:
    """The line after a block of HTML: its closing tag, or a blank line. None when none begins."""
    if raw := _RAW_HTML.match(body):
        closing = f"</{raw[1].lower()}>" if raw[1] else _RAW_END[raw[0].lower()]
        for end in range(at, min(at + _LONGEST_RAW, len(lines))):
            if closing in lines[end].text.lower():
                return end + 1
        # Never closed: a page that speaks of `<script>`, not a script. It must not swallow the rest.
    elif not _HTML.match(body):
        return None
    while at < len(lines) and lines[at].text:
        at += 1
    return at


def is_table_start(lines: Sequence[Line], at: int) -> bool:
    """A row with a bar above a row of dashes; whether the cells agree in number is not asked."""
    if "|" not in lines[at].text or at + 1 == len(lines):
        return False
    below = lines[at + 1].text
    return "|" in below and "-" in below and not below.strip("|:- ")


def end_of_table(lines: Sequence[Line], at: int) -> int:
    """The line after the last row. A row has a bar; GFM would take any line."""
    at += 2
    while at < len(lines) and "|" in lines[at].text and not interrupts(lines[at].text):
        at += 1
    return at
