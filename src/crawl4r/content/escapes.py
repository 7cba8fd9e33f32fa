"""Markdown without the backslashes that change nothing.

The library that writes markdown escapes every sign that might mean something: `2\\.4GHz`, `\\[1\\]`,
`5\\*`. Here each escape is looked at in its line, and goes where markdown reads the sign as itself
anyway. What is in doubt stays escaped. `tests/content/test_escapes.py` renders both and compares.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crawl4r.content.plain_text import TARGET

# An escape; a code span; the end of a link and its target; what may pair with something escaped.
_TOKEN = re.compile(
    rf"\\([!-/:-@\[-`{{-~])|(`+)(?!`).*?(?<!`)\2(?!`)|(\]{TARGET})|([*_~`]|[\[\]])", re.DOTALL
)
# Marks of quotes and of items, which stand before a text on its line.
_MARKERS = r"[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +[ >]*)*"
_LINE_START = re.compile(rf"(?:\| )?{_MARKERS}")
_NUMBER_START = re.compile(rf"{_MARKERS}\d{{1,9}}")
_CLOSES_HEADING = re.compile(r"[\\#]*[ ]*(?=\n|$)")
_LONE_BREAK = re.compile(r"^([ >]*)((?:[-*+]|\d{1,9}[.)]) +)?\\$", re.MULTILINE)
_ENTITY = re.compile(r"#?\w+;")
_TAG = re.compile(r"[A-Za-z/!?]")
_TASK = re.compile(r"[ xX]?\\?\]|!")
_PAIRED = "*_~"
_BRACKETS = "[]"
_OPENS_LINK = ("(", "[", ":", "\\(", "\\[", "\\:")
_MARKUP = frozenset(string.punctuation)


class _Sign(NamedTuple):
    start: int  # of the backslash, where there is one
    end: int
    text: str
    is_escaped: bool


def without_lone_breaks(block: str) -> str:
    """A break that stands alone on its line, which is how two in a row are written, ends a paragraph.

    Within emphasis or a link it goes, for neither may reach over the end of a paragraph.
    """
    if _LONE_BREAK.search(block) is None:
        return block
    lines: list[str] = []
    begun = 0  # the line that the paragraph began with
    is_after = False
    for line in block.split("\n"):
        lone = _LONE_BREAK.fullmatch(line)
        if lone is None:
            lines.append(line)
        elif lone[2]:  # right behind the mark of an item
            lines.append(lone[1] + lone[2].rstrip() + "\\")
        elif not is_after and _is_complete("\n".join(lines[begun:])):
            if lines:
                lines[-1] = lines[-1].rstrip()
                lines.append(lone[1].rstrip())
            begun = len(lines)
        is_after = lone is not None
    return "\n".join(lines)


def _is_complete(text: str) -> bool:
    """Whether no emphasis, link or code that is open in it could be closed behind it."""
    signs = [_sign(found) for found in _TOKEN.finditer(text) if not found[2]]
    count = Counter(sign.text for sign in signs if not sign.is_escaped)
    return count["["] == count["]"] and not any(count[sign] % 2 for sign in "*~_`")


def without_needless_escapes(block: str) -> str:
    """The same text, which markdown reads the same; no fenced code may be in it."""
    return "\n".join(map(_tidy, _units(block))) if "\\" in block else block


def _units(block: str) -> Iterator[str]:
    """Its lines; those between hard breaks together, for emphasis may reach over them."""
    unit: list[str] = []
    for line in block.split("\n"):
        unit.append(line)
        if not line.endswith("  "):
            yield "\n".join(unit)
            unit = []
    if unit:
        yield "\n".join(unit)


def _tidy(unit: str) -> str:
    if "\\" not in unit:
        return unit
    signs = [_sign(found) for found in _TOKEN.finditer(unit) if not found[2]]
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
    if not free:
        return unit
    return "".join(sign for at, sign in enumerate(unit) if at not in free)


def _sign(found: re.Match[str]) -> _Sign:
    text = found[1] or ("]" if found[3] else found[4])
    return _Sign(found.start(), found.end(), text, bool(found[1]))


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
    for first, last in _runs(signs):
        before = unit[first.start - 1] if first.start else " "
        after = unit[last.end] if last.end < len(unit) else " "
        after = "." if after == "\\" else after  # an escaped sign
        is_mixed = not first.is_escaped and last.is_escaped or first.is_escaped and not last.is_escaped
        is_marker = _begins_line(unit, first.start) and (after.isspace() or first is not last)
        if is_mixed or is_marker or (has_opened and _closes(before, after, first.text)):
            return set()
        has_opened |= _opens(before, after, first.text)
    return escaped


def _runs(signs: Sequence[_Sign]) -> Iterator[tuple[_Sign, _Sign]]:
    """The first and the last of signs that stand side by side."""
    first = last = signs[0]
    for sign in signs[1:]:
        if sign.start != last.end:
            yield first, last
            first = sign
        last = sign
    yield first, last
    yield first, last


def _opens(before: str, after: str, sign: str) -> bool:
    """Whether a run of signs between these two may begin emphasis (CommonMark 6.2)."""
    is_left = not after.isspace() and (not _is_mark(after) or _is_open(before))
    return is_left and (sign != "_" or not before.isalnum())


def _closes(before: str, after: str, sign: str) -> bool:
    is_right = not before.isspace() and (not _is_mark(before) or _is_open(after))
    return is_right and (sign != "_" or not after.isalnum())


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
