"""Choose the part of a passage that a result shows, and make a link to it for browsers."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

_LONGEST = 360  # characters
_BEFORE = 120  # characters before the first mark
_FRAGMENT_WORDS = 8
_UNSAFE = "-,&"  # special inside a text fragment
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")

Marks = Sequence[tuple[int, int]]


class Snippet(NamedTuple):
    """A stretch of a plain text with whole words."""

    text: str = ""
    marks: Marks = ()  # of the query's words, in `text`
    is_cut_before: bool = False
    is_cut_after: bool = False

    def __str__(self) -> str:
        before, after = "... " * self.is_cut_before, " ..." * self.is_cut_after
        return f"{before}{self.text}{after}"


def snippet_of(plain: str, marks: Marks) -> Snippet:
    """The stretch with the most marks; the beginning of a text without marks."""
    start = _start(plain, _densest(marks))
    end = _end(plain, start)
    stretch = plain[start:end]
    start += len(stretch) - len(stretch.lstrip())
    text = stretch.strip()
    end = start + len(text)
    inside = [(a - start, b - start) for a, b in marks if start <= a and b <= end]
    return Snippet(text, inside, bool(plain[:start].strip()), bool(plain[end:].strip()))


def with_fragment(url: str, snippet: Snippet) -> str:
    """The URL with a text fragment, which makes a browser scroll to the snippet: to the first words of
    the line with the most marks."""
    words = _best_line(snippet).split()[:_FRAGMENT_WORDS]
    if not words:
        return url
    text = quote(" ".join(words), safe="")
    for sign in _UNSAFE:
        text = text.replace(sign, f"%{ord(sign):02X}")
    address, _, anchor = url.partition("#")
    return f"{address}#{anchor}:~:text={text}"


def _densest(marks: Marks) -> int:
    """The first mark whose snippet shows the most marks."""
    starts = [first for first, _ in marks]
    ends = [last for _, last in marks]

    def shown_from(at: int) -> int:
        return bisect_left(ends, starts[at] + _LONGEST - _BEFORE) - at

    best = max(range(len(starts)), key=lambda at: (shown_from(at), -at), default=None)
    return 0 if best is None else starts[best]


def _start(text: str, mark: int) -> int:
    """The beginning of the sentence or line with the mark; of a word if that is too far away."""
    earliest = max(mark - _BEFORE, 0)
    if earliest == 0:
        return 0
    breaks = [(text.rfind(end, earliest, mark), len(end)) for end in _SENTENCE_ENDS]
    begins = [at + length for at, length in breaks if at >= 0]
    if begins:
        return max(begins)
    for at in range(earliest, mark):
        if text[at - 1].isspace() and not text[at].isspace():
            return at
    return _whole_character(text, earliest)


def _end(text: str, start: int) -> int:
    end = start + _LONGEST
    if end >= len(text):
        return len(text)
    for at in range(end, start + _BEFORE, -1):
        if text[at].isspace():
            return at
    return _whole_character(text, end)


def _whole_character(text: str, at: int) -> int:
    """Move a cut out of a letter with its accents."""
    while at < len(text) and unicodedata.combining(text[at]):
        at += 1
    return at


def _best_line(snippet: Snippet) -> str:
    starts = [first for first, _ in snippet.marks]
    best, most, at = "", -1, 0
    for line in snippet.text.split("\n"):
        end = at + len(line) + 1
        count = bisect_left(starts, end) - bisect_left(starts, at)
        if count > most and line.strip():
            best, most = line, count
        at = end
    return best
