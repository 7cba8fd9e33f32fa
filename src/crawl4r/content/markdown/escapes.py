"""Markdown without the backslashes that change nothing.

The library that writes markdown escapes every sign that might mean something: `2\\.4GHz`, `\\[1\\]`,
`5\\*`. Here each escape is looked at in its line, and goes where markdown reads the sign as itself
anyway. What is in doubt stays escaped. The tests render both texts and compare them.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crawl4r.content.markdown.plain_text import TARGET

# An escape; a code span; the end of a link and its target; what may pair with something escaped. Each
# begins with a plain sign, so that the search skips all others in no time.
_TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~]|`(`*)(?!`).*?(?<!`)`\1(?!`)|\]" + TARGET + r"|\*|~|`|\[|\]", re.DOTALL
)
# Marks of quotes and of items, which stand before a text on its line.
_MARKERS = r"[ >]*+(?:(?:[-*+]|\d{1,9}[.)]) ++[ >]*+)*+"
_LINE_START = re.compile(rf"(?:\| )?{_MARKERS}")
_NUMBER_START = re.compile(rf"{_MARKERS}\d{{1,9}}")
_CLOSES_HEADING = re.compile(r"[\\#]*[ ]*(?=\n|$)")
_HARD_BREAK = ("  ", "\\")
_LONGEST = 4_000  # characters of a line; a longer one is a table's, and left as it is
_LONE_BREAK = re.compile(r"^([ >]*)((?:[-*+]|\d{1,9}[.)]) +)?\\$", re.MULTILINE)
_ENTITY = re.compile(r"#?\w+;")
_TAG = re.compile(r"[A-Za-z/!?]")
_TASK = re.compile(r"[ xX]?\\?\]|!")
_PAIRED = "*~"  # underscores are not escaped
_BRACKETS = "[]"
_OPENS_LINK = ("(", "[", ":", "\\(", "\\[", "\\:")
_MARKUP = frozenset(string.punctuation)


class _Sign(NamedTuple):
    start: int  # of the backslash, where there is one
    end: int
    text: str
    is_escaped: bool


def without_lone_breaks(text: str) -> str:
    """A break that stands alone on its line, which is how two in a row are written, ends a paragraph.

    Within emphasis or a link it goes, for neither may reach over the end of a paragraph. No fenced
    code may be in the text.
    """
    if "\\\n" not in text and not text.endswith("\\"):
        return text
    return "\n\n".join(map(_without_lone_breaks, text.split("\n\n")))


def _without_lone_breaks(block: str) -> str:
    if "\\" not in block or _LONE_BREAK.search(block) is None:
        return block
    lines: list[str] = []
    unclosed = Counter[str]()  # signs of the paragraph so far
    mark = ""  # of an item that began with breaks
    for line in block.split("\n"):
        lone = _LONE_BREAK.fullmatch(line)
        if lone is None:
            is_of_item = bool(mark) and line.startswith(" " * len(mark))
            if mark and not is_of_item:
                lines.append(mark.rstrip())
            lines.append(mark + line.lstrip() if is_of_item else line)
            mark = ""
            unclosed.update(sign.text for sign in _signs(line) if not sign.is_escaped)
        elif lone[2]:
            mark = line[:-1]
        elif lines and lines[-1].strip(" >") and not mark and _is_complete(unclosed):
            lines[-1] = lines[-1].rstrip()
            lines.append(lone[1].rstrip())
            unclosed.clear()
    return "\n".join([*lines, mark.rstrip()] if mark else lines)


def _is_complete(signs: Counter[str]) -> bool:
    """Whether no emphasis, link or code is open behind these."""
    return signs["["] == signs["]"] and not any(signs[sign] % 2 for sign in "*~`")


def without_needless_escapes(text: str) -> str:
    """The same text, which markdown reads the same; no fenced code may be in it."""
    pieces, done = [], 0
    at = text.find("\\")
    while at >= 0:
        start, end = _unit_around(text, at, done)
        pieces += [text[done:start], _tidy(text[start:end])]
        done = end
        at = text.find("\\", end)
    return "".join([*pieces, text[done:]])


def _unit_around(text: str, at: int, done: int) -> tuple[int, int]:
    """The line, with those that hard breaks tie to it, for emphasis may reach over them."""
    start = text.rfind("\n", done, at)
    while start > done and text.endswith(_HARD_BREAK, done, start):
        start = text.rfind("\n", done, start)
    end = text.find("\n", at)
    while end >= 0 and text.endswith(_HARD_BREAK, at, end):
        end = text.find("\n", end + 1)
    return (start + 1 if start >= 0 else done), (end if end >= 0 else len(text))


def _tidy(unit: str) -> str:
    if len(unit) > _LONGEST:
        return unit
    signs = _signs(unit)
    if not any(sign.is_escaped for sign in signs):
        return unit  # backslashes in code
    free: set[int] = set()  # where the backslashes stand that go
    for sign in signs:
        needs = _ALONE.get(sign.text)
        if sign.is_escaped and needs is not None and not needs(unit, sign):
            free.add(sign.start)
    is_heading = unit.startswith("#")  # its words are read by simpler rules
    for kind in "" if is_heading else _PAIRED:
        free |= _free_of_pairs(unit, [sign for sign in signs if sign.text == kind])
    ticks = [sign for sign in signs if sign.text == "`"]
    if len(ticks) == 1 and unit.count("`") == 1 and ticks[0].is_escaped:
        free.add(ticks[0].start)
    free |= _free_brackets(unit, [sign for sign in signs if sign.text[0] in _BRACKETS])
    pieces, done = [], 0
    for at in sorted(free):
        pieces.append(unit[done:at])
        done = at + 1
    return "".join([*pieces, unit[done:]])


def _signs(text: str) -> list[_Sign]:
    """The signs that could mean something; not those within code or the target of a link."""
    signs = []
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token[0] == "\\":
            signs.append(_Sign(found.start(), found.end(), token[1], True))
        elif len(token) == 1 or token[0] == "]":
            signs.append(_Sign(found.start(), found.end(), token[0], False))
    return signs


def _before(unit: str, at: int) -> str:
    """What stands before a place on its line."""
    return unit[unit.rfind("\n", 0, at) + 1 : at]


def _begins_line(unit: str, at: int) -> bool:
    return _LINE_START.fullmatch(_before(unit, at)) is not None


def _is_blank_at(unit: str, at: int) -> bool:
    return at >= len(unit) or unit[at].isspace()


def _numbers_an_item(unit: str, sign: _Sign) -> bool:
    is_number = _NUMBER_START.fullmatch(_before(unit, sign.start)) is not None
    return is_number and _is_blank_at(unit, sign.end)


def _marks_an_item(unit: str, sign: _Sign) -> bool:
    if not _begins_line(unit, sign.start):
        return False
    return _is_blank_at(unit, sign.end) or unit[sign.end] in _MARKUP


def _makes_heading(unit: str, sign: _Sign) -> bool:
    if _begins_line(unit, sign.start):
        return _is_blank_at(unit, sign.end) or unit[sign.end] in "#\\"
    is_heading = _before(unit, sign.start).lstrip(" >").startswith("#")
    return is_heading and _CLOSES_HEADING.match(unit, sign.end) is not None


def _underlines(unit: str, sign: _Sign) -> bool:
    if not _begins_line(unit, sign.start):
        return False
    return _is_blank_at(unit, sign.end) or unit[sign.end] in "=\\"


def _quotes(unit: str, sign: _Sign) -> bool:
    return _begins_line(unit, sign.start) or "<" in unit


def _begins_tag(unit: str, sign: _Sign) -> bool:
    return _TAG.match(unit, sign.end) is not None


def _begins_entity(unit: str, sign: _Sign) -> bool:
    return _ENTITY.match(unit, sign.end) is not None


def _escapes(unit: str, sign: _Sign) -> bool:
    return _is_blank_at(unit, sign.end) or unit[sign.end] in _MARKUP


def _makes_image(unit: str, sign: _Sign) -> bool:
    return unit.startswith("[", sign.end)


# Whether the sign, whose escape this is, would mean something without it.
_ALONE: dict[str, Callable[[str, _Sign], bool]] = {
    ".": _numbers_an_item, ")": _numbers_an_item, "-": _marks_an_item, "+": _marks_an_item,
    "#": _makes_heading, "=": _underlines, ">": _quotes, "<": _begins_tag, "&": _begins_entity,
    "\\": _escapes, "!": _makes_image,
}  # fmt: skip


def _free_of_pairs(unit: str, signs: Sequence[_Sign]) -> set[int]:
    """The escapes of one sign of emphasis, when no such sign can close what another opened."""
    escaped = {sign.start for sign in signs if sign.is_escaped}
    if not escaped:
        return escaped
    has_opened = False
    for run in _runs(signs):
        start, end = run[0].start, run[-1].end
        before = unit[start - 1] if start else " "
        after = unit[end] if end < len(unit) else " "
        after = "." if after == "\\" else after  # an escaped sign
        is_mixed = len({sign.is_escaped for sign in run}) > 1
        is_marker = _begins_line(unit, start) and (after.isspace() or len(run) > 1)
        if is_mixed or is_marker or (has_opened and _closes(before, after)):
            return set()
        has_opened |= _opens(before, after)
    return escaped


def _runs(signs: Sequence[_Sign]) -> Iterator[list[_Sign]]:
    """The signs that stand side by side."""
    run: list[_Sign] = []
    for sign in signs:
        if run and sign.start != run[-1].end:
            yield run
            run = []
        run.append(sign)
    yield run


def _opens(before: str, after: str) -> bool:
    """Whether a run of signs between these two may begin emphasis (CommonMark 6.2)."""
    return not after.isspace() and (not _is_mark(after) or _is_open(before))


def _closes(before: str, after: str) -> bool:
    return not before.isspace() and (not _is_mark(before) or _is_open(after))


def _is_open(sign: str) -> bool:
    return sign.isspace() or _is_mark(sign)


def _is_mark(sign: str) -> bool:
    """Punctuation, and symbols, which newer editions of CommonMark count as such."""
    return not sign.isalnum() and not sign.isspace()


def _free_brackets(unit: str, signs: Sequence[_Sign]) -> set[int]:
    """The escapes of brackets that stand in pairs, and of which none could be a link."""
    free: set[int] = set()
    opened: list[_Sign] = []
    for sign in signs:
        if sign.text == "[":
            opened.append(sign)
        elif opened:
            start = opened.pop()
            if start.is_escaped and sign.is_escaped and not _is_link(unit, start, sign):
                free |= {start.start, sign.start}
    return free


def _is_link(unit: str, start: _Sign, end: _Sign) -> bool:
    is_task = _begins_line(unit, start.start) and _TASK.match(unit, start.end) is not None
    return is_task or unit.startswith(_OPENS_LINK, end.end)
