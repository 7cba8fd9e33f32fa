"""Where the blocks of a markdown text begin and end, to the character.

A scanner of lines after CommonMark and GFM: headings, fences, indented code, tables, lists, quotes,
raw HTML, paragraphs. It makes no tree: a block knows how deep the break before it lies, which is
all that cutting and comparing need. Each line is looked at once for each container around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from crawl4r.content.markdown.lines import (
    ATX,
    CODE_INDENT,
    FENCE,
    ITEM,
    RULE,
    SETEXT,
    Line,
    end_of_fence,
    end_of_html,
    end_of_indented,
    end_of_table,
    indent,
    interrupts,
    is_table_start,
    lines_of,
)


class ChunkKind(StrEnum):
    """What a block, or most of a chunk, is."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    LIST = "list"


class MarkdownBlock(NamedTuple):
    """A stretch of whole lines with the blank lines after it; a text is its blocks, joined."""

    start: int
    end: int
    kind: ChunkKind
    depth: int  # of the break before it: 0 between top blocks, more within lists and quotes
    level: int = 0  # 1 to 6 for a heading of the document, else 0
    heading: str = ""  # its words, without markup


class _Mark(NamedTuple):
    start: int
    kind: ChunkKind
    depth: int
    level: int = 0
    heading: str = ""


_MAX_DEPTH = 12  # six lists within each other; anything deeper is one block
_MAX_SETEXT_LINES = 3  # a longer paragraph above a line of dashes is no title
_MAX_HEADING = 300  # characters kept of a heading's words

_HTML_KINDS = {"<pre": ChunkKind.CODE, "<tab": ChunkKind.TABLE}

# The anchor that site generators hang on headings, with a sign or nothing in it.
_PERMALINK = re.compile(r"\[[#¶§🔗]?\]\(#[^()]*\)")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|\{#[^{}]*\}")
# Two underscores are a name of Python's more often than they are bold.
_EMPHASIS = re.compile(r"(?<!\\)[*`~]+|(?<![\w\\])_(?=[^\W_])|(?<=[^\W_])_(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class _Marks(list[_Mark]):
    """The blocks found so far, of which no more than `most` are looked for."""

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self._most = most

    @property
    def is_full(self) -> bool:
        return self._most is not None and len(self) >= self._most


def scan_blocks(markdown: str, most: int | None = None) -> list[MarkdownBlock]:
    """The blocks in order; they cover the text without a gap. No block for an empty text.

    With `most`, about so many of them, which cover the beginning of a text that has more.
    """
    marks, lines = _Marks(most), lines_of(markdown)
    scanned = _scan(lines, 0, ChunkKind.PROSE, marks)
    if not marks:
        return [MarkdownBlock(0, len(markdown), ChunkKind.PROSE, 0)] if markdown else []
    starts = [0, *(mark.start for mark in marks[1:])]
    ends = [*starts[1:], lines[scanned].start if scanned < len(lines) else len(markdown)]
    return [
        MarkdownBlock(start, end, *mark[1:])
        for start, end, mark in zip(starts, ends, marks, strict=True)
    ]


def _scan(lines: Sequence[Line], depth: int, prose: ChunkKind, marks: _Marks) -> int:
    """Mark the blocks, and return the line up to which that was done."""
    at = 0
    while at < len(lines) and not marks.is_full:
        at = _take_block(lines, at, depth, prose, marks) if lines[at].text else at + 1
    return at


def _take_block(lines: Sequence[Line], at: int, depth: int, prose: ChunkKind, marks: _Marks) -> int:
    """Mark the block that begins at this line, and return the line after it."""
    start, text = lines[at]
    body = text.lstrip(" ")
    if leaf := _leaf(lines, at, body, prose):
        kind, end = leaf
        marks.append(_Mark(start, kind, depth))
        return end
    if heading := ATX.match(body):
        marks.append(_heading(start, depth, prose, len(heading[1]), heading[2]))
        return at + 1
    if body[0] == ">":
        return _take_quote(lines, at, depth, prose, marks)
    if ITEM.match(text):
        return _take_list(lines, at, depth, marks)
    if is_table_start(lines, at):
        marks.append(_Mark(start, ChunkKind.TABLE, depth))
        return end_of_table(lines, at)
    return _take_paragraph(lines, at, depth, prose, marks)


def _leaf(
    lines: Sequence[Line], at: int, body: str, prose: ChunkKind
) -> tuple[ChunkKind, int] | None:
    """Code, a rule or HTML: what it is and the line after it. None when the line begins no such."""
    if indent(lines[at].text) >= CODE_INDENT:
        return ChunkKind.CODE, end_of_indented(lines, at)
    if fence := FENCE.match(body):
        return ChunkKind.CODE, end_of_fence(lines, at, fence[1] or fence[2])
    if RULE.match(body):
        return prose, at + 1
    if end := end_of_html(lines, at, body):
        return _HTML_KINDS.get(body[:4].lower(), prose), end
    return None


def _take_paragraph(
    lines: Sequence[Line], at: int, depth: int, prose: ChunkKind, marks: _Marks
) -> int:
    end = at + 1
    while end < len(lines) and (text := lines[end].text):
        if (underline := SETEXT.match(text)) and end - at <= _MAX_SETEXT_LINES:
            words = " ".join(line.text.strip() for line in lines[at:end])
            level = 1 if underline[1][0] == "=" else 2
            marks.append(_heading(lines[at].start, depth, prose, level, words))
            return end + 1
        if interrupts(text) or is_table_start(lines, end):
            break
        end += 1
    marks.append(_Mark(lines[at].start, prose, depth))
    return end


def _take_quote(lines: Sequence[Line], at: int, depth: int, prose: ChunkKind, marks: _Marks) -> int:
    inner: list[Line] = []
    end = at
    while end < len(lines) and (text := lines[end].text):
        body = text.lstrip(" ")
        if body[0] == ">" and indent(text) < CODE_INDENT:
            body = body[1:].removeprefix(" ")
        elif not inner[-1].text or interrupts(text):
            break
        inner.append(Line(lines[end].start, body))
        end += 1
    _scan_inside(inner, depth, depth + 1, prose, marks)
    return end


def _take_list(lines: Sequence[Line], at: int, depth: int, marks: _Marks) -> int:
    """Mark the items: breaks between them are one deeper than the list, those inside them two."""
    first = at
    while at < len(lines) and not marks.is_full and (item := ITEM.match(lines[at].text)):
        if RULE.match(lines[at].text.lstrip(" ")):
            break
        inner, end = _item_lines(lines, at, len(item[0]))
        _scan_inside(inner, depth if at == first else depth + 1, depth + 2, ChunkKind.LIST, marks)
        at = end
    return at


def _item_lines(lines: Sequence[Line], at: int, width: int) -> tuple[list[Line], int]:
    """What belongs to the item that begins here, its indent removed, and the line after it."""
    inner = [Line(lines[at].start, lines[at].text[width:])]
    end = at + 1
    while end < len(lines):
        start, text = lines[end]
        if text and indent(text) < width:
            is_continued = bool(inner[-1].text)
            if not is_continued or ITEM.match(text) or interrupts(text):
                break
        inner.append(Line(start, text[min(width, indent(text)) :]))
        end += 1
    return inner, end


def _scan_inside(
    inner: Sequence[Line], outside: int, inside: int, prose: ChunkKind, marks: _Marks
) -> None:
    """Mark the blocks of a container, of which there is always one, beginning where it begins."""
    at = len(marks)
    if inside <= _MAX_DEPTH:
        _scan(inner, inside, prose, marks)
    if len(marks) == at:
        marks.append(_Mark(inner[0].start, prose, outside))
    marks[at] = marks[at]._replace(start=inner[0].start, depth=outside)


def _heading(start: int, depth: int, prose: ChunkKind, level: int, words: str) -> _Mark:
    """A heading within a list or a quote is no heading of the document."""
    if depth:
        return _Mark(start, prose, depth)
    return _Mark(start, prose, depth, level, plain_words(words))


def plain_words(heading: str) -> str:
    """A heading without its markup, on one line, cut when it is very long."""
    text = heading[: 4 * _MAX_HEADING].rstrip()
    unclosed = text.rstrip("#")
    if unclosed.endswith(" ") or not unclosed:
        text = unclosed
    for pattern, kept in ((_PERMALINK, ""), (_LINK, r"\1"), (_TAG, ""), (_EMPHASIS, "")):
        text = pattern.sub(kept, text)
    return " ".join(_ESCAPE.sub(r"\1", text).split())[:_MAX_HEADING].rstrip()
