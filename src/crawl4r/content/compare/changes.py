"""Compare two captures of a page, ignoring changes without meaning.

Both texts are cut into segments: sentences of prose, rows of tables, lines of code. The comparison
ignores text that changes with every visit (`_VOLATILE`), blanks and line breaks.

Work is bounded: see `alignment`; and of long texts only `MOST_COMPARED` characters from the first
difference on are compared. The rest counts as replaced unless it is equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from crawl4r.content.compare.alignment import Gap, WorkBudget, gaps
from crawl4r.content.markdown.blocks import ChunkKind, scan_blocks
from crawl4r.content.markdown.lines import split_lines

_MONTH = (  # case-sensitive, because two of them are also words
    r"(?:jan(?:uary)?|feb(?:ruary)?|(?-i:Mar(?:ch)?|May)|apr(?:il)?|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_UNIT = r"(?:s|m|h|d|w|y|sec|second|min|minute|hour|hr|day|week|month|year)s?"
_COUNTED = (
    r"(?:views?|visits?|visitors?|reads?|likes?|shares?|comments?|repl(?:y|ies)|downloads?|stars?"
    r"|forks?|watch(?:ers|ing)|votes?|points?|followers?|subscribers?|users? online|online)"
)
_NUMBER = r"\d[\d,.]{0,15}(?: ?[km]\b)?"
_SESSION = (
    r"(?:\w{0,20}sess(?:ion)?_?(?:id)?|sid|csrf\w{0,20}|nonce|token|_|ts|timestamp|cb|utm_\w{1,20})"
)
# Text that changes without new content. A placeholder replaces each, so that an added date is still
# a change.
_VOLATILE = [
    # "3 hours ago", "an hour ago", "just now"
    (rf"\b(?:(?:\d{{1,4}}|an?|one) ?{_UNIT} ago|just now)\b", "(then)"),
    # 2026-11-15, 2026/11/15, 15.11.2026, 11/15/26, and a clock after a T
    (
        r"\b(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2}))(?=\b|T\d)T?",
        "(date) ",
    ),
    # "Nov 15, 2026", "15 November 2026", "November 15"
    (rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b", "(date) "),
    (rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH},?(?: \d{{4}})?(?=\W|$)", "(date) "),
    # 23:59, 11:59:30 pm, 12:00:00.123Z, +01:00 after a clock
    (
        r"\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[ap]m\b)?"
        r"(?:Z|[+-]\d{2}:?\d{2}| (?:utc|gmt))?(?!\w)",
        "(time)",
    ),
    # "1,234 views", "12k stars", "Comments: 7", "Comments (7)"
    (rf"(?<![\w.,]){_NUMBER} {_COUNTED}\b", "(count)"),
    (rf"\b{_COUNTED}(?:: ?\(?| ?\(){_NUMBER}\)?(?!\w)", "(count)"),
    # "© 2026", "Copyright 2020-2026"
    (r"(?:©|\(c\)|\bcopyright)(?: ?©)? ?\d{4}(?: ?[-\u2013] ?\d{4})?", "(copyright)"),
    # ?sid=..., ;jsessionid=..., &utm_source=...
    (rf"[?&;]{_SESSION}=[^\s&;#)\]\"'>]{{0,200}}", "(session)"),
]
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), word) for pattern, word in _VOLATILE]
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
# Not before a digit or a lower-case letter: "Nov. 15" and "5 min. ago" do not end sentences.
_SENTENCE_BREAK = re.compile(r"(?<=[.!?\u2026]) (?=[^a-z\d])|(?<=[\u3002\uff01\uff1f]) ?")
MOST_COMPARED = 500_000  # characters of each text
_LONG = 500  # characters; a longer sentence is cut at blanks to stay readable
_LONG_PART = re.compile(r"\S.{0,200}(?= |$)|\S+")


class TextChange(NamedTuple):
    """The difference of two texts, in words."""

    kind: Literal["unchanged", "changed"]
    added: int
    removed: int
    ratio: float  # share of the words of both texts that were added or removed, 0 to 1
    is_cut: bool = False  # the texts are too long; the uncompared rest counts as replaced


class TextComparison(NamedTuple):
    change: TextChange
    diff: str = ""  # only on request


class _Pair(NamedTuple):
    """The compared parts of two texts, and the rest."""

    before: str
    after: str
    same: str = ""  # the common beginning or end, removed
    rest_before: str = ""
    rest_after: str = ""

    @property
    def is_cut(self) -> bool:
        return self.rest_before != self.rest_after


def compare(before: str, after: str) -> TextChange:
    """Whether the text changed in meaning, and by how many words."""
    if before == after:
        return TextChange("unchanged", 0, 0, 0.0)
    pair = _comparable(before, after)
    old, new = _keys(_segments(pair.before)), _keys(_segments(pair.after))
    if _flat(old) == _flat(new) and not pair.is_cut:
        return TextChange("unchanged", 0, 0, 0.0)
    added = removed = 0
    budget = WorkBudget()
    for gap in gaps(old, new, budget):
        old_words = " ".join(old[gap.a_start : gap.a_end]).split()
        new_words = " ".join(new[gap.b_start : gap.b_end]).split()
        for a_start, a_end, b_start, b_end in gaps(old_words, new_words, budget):
            removed += a_end - a_start
            added += b_end - b_start
    words = sum(len(key.split()) for key in (*old, *new)) + 2 * len(pair.same.split())
    if pair.is_cut:
        more, less = len(pair.rest_after.split()), len(pair.rest_before.split())
        added, removed, words = added + more, removed + less, words + more + less
    # Texts with equal words differ in blanks or signs of the uncompared rest.
    return TextChange("changed", added, removed, (added + removed) / (words or 1), pair.is_cut)


def diff(
    before: str, after: str, *, context: int = 3, labels: tuple[str, str] = ("before", "after")
) -> str:
    """A unified diff by segments; empty exactly when `compare` finds no change.

    Line numbers count segments. Equal or nearly equal lines are shown in their later form. Of texts
    that are too long only the compared part is shown and counted.
    """
    pair = _comparable(before, after)
    old, new = _segments(pair.before), _segments(pair.after)
    old_keys, new_keys = _keys(old), _keys(new)
    is_same = _flat(old_keys) == _flat(new_keys)
    if is_same and not pair.is_cut:
        return ""
    lines = [f"--- {labels[0]}", f"+++ {labels[1]}"]
    if not is_same:
        for hunk in _hunks(gaps(old_keys, new_keys), context):
            lines.extend(_hunk_lines(hunk, old, new, context))
    return "\n".join(lines) + "\n"


def make_comparer(_: Any) -> Callable[[Mapping[str, Any], bytes], TextComparison]:
    """The sandbox's entry: one body holds both texts, the first with `length` bytes."""

    def run(head: Mapping[str, Any], body: bytes) -> TextComparison:
        before, after = body[: head["length"]].decode(), body[head["length"] :].decode()
        labels = head["labels"]
        lines = diff(before, after, labels=(labels[0], labels[1])) if labels else ""
        return TextComparison(compare(before, after), lines)

    return run


def _comparable(before: str, after: str) -> _Pair:
    """The texts; if one is too long, without their common beginning and end."""
    if max(len(before), len(after)) <= MOST_COMPARED:
        return _Pair(before, after)
    head = before.rfind("\n", 0, _common_start(before, after)) + 1
    old, new = before[head:], after[head:]
    line = old.find("\n", len(old) - _common_end(old, new))
    tail = len(old) - line - 1 if line >= 0 else 0
    same = before[:head] + old[len(old) - tail :]
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    return _Pair(
        old[:MOST_COMPARED], new[:MOST_COMPARED], same, old[MOST_COMPARED:], new[MOST_COMPARED:]
    )


def _common_start(a: str, b: str) -> int:
    """The length of the common prefix of two texts, by bisection."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.startswith(b[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(a: str, b: str) -> int:
    """The length of the common suffix of two texts."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.endswith(b[len(b) - middle : len(b) - low], 0, len(a) - low):
            low = middle
        else:
            high = middle - 1
    return low


def _segments(markdown: str) -> list[str]:
    """Non-empty sentences, rows and lines; wrapped paragraphs are unwrapped first."""
    text = markdown if markdown.isascii() else markdown.translate(_INVISIBLE)
    segments: list[str] = []
    for block in scan_blocks(text):
        stretch = text[block.start : block.end]
        if block.kind in (ChunkKind.CODE, ChunkKind.TABLE):
            segments.extend(line.rstrip() for line in split_lines(stretch) if line.strip())
        else:
            for sentence in _SENTENCE_BREAK.split(" ".join(stretch.split())):
                segments.extend(
                    _LONG_PART.findall(sentence) if len(sentence) > _LONG else [sentence]
                )
    return [segment for segment in segments if segment]


def _keys(segments: Sequence[str]) -> list[str]:
    """The normalised segments. No pattern crosses a line, so one pass handles all of them."""
    text = "\n".join(segments)
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    return [" ".join(key.split()) for key in text.split("\n")]


def _flat(keys: Sequence[str]) -> str:
    return " ".join(keys)


def _hunks(found: Sequence[Gap], context: int) -> Iterator[list[Gap]]:
    """Group gaps whose contexts touch."""
    hunk: list[Gap] = []
    for gap in found:
        if hunk and gap.a_start - hunk[-1].a_end > 2 * context:
            yield hunk
            hunk = []
        hunk.append(gap)
    yield hunk


def _hunk_lines(
    hunk: Sequence[Gap], old: Sequence[str], new: Sequence[str], context: int
) -> Iterator[str]:
    # At most as many equal segments as both sides have around a gap.
    lead = min(context, hunk[0].a_start, hunk[0].b_start)
    trail = min(context, len(old) - hunk[-1].a_end, len(new) - hunk[-1].b_end)
    a_start, b_start = hunk[0].a_start - lead, hunk[0].b_start - lead
    a_end, b_end = hunk[-1].a_end + trail, hunk[-1].b_end + trail
    yield f"@@ -{_span(a_start, a_end)} +{_span(b_start, b_end)} @@"
    shown = b_start
    for gap in hunk:
        yield from (f" {line}" for line in new[shown : gap.b_start])
        yield from (f"-{line}" for line in old[gap.a_start : gap.a_end])
        yield from (f"+{line}" for line in new[gap.b_start : gap.b_end])
        shown = gap.b_end
    yield from (f" {line}" for line in new[shown:b_end])


def _span(start: int, end: int) -> str:
    """A span in the notation of diff: lines from 1, an empty span by the line before it."""
    return f"{start + 1 if end > start else start},{end - start}"
