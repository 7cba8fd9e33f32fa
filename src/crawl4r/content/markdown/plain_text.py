"""Markdown without its marks. Every step is linear in the text, also where marks never end.

Patterns repeat possessively (`++`, `*+`) where they can: of a repetition that could be taken back, each
time is remembered with hundreds of bytes.
"""

from __future__ import annotations

import re

# What stands behind the words of a link: an address, perhaps with a title.
TARGET = r"\((?:<[^<>\n]*+>|[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+)(?:\s++\"[^\"\n]*+\")?\)"
_FENCE = re.compile(r"^ {0,12}(```+|~~~+)[^\n]*$", re.MULTILINE)
_LINK = re.compile(rf"(?<!\\)!?\[((?:[^\[\]\\]++|\\.|\[[^\[\]]*+\])*+)\]{TARGET}")
_HEADING = re.compile(r"^#{1,6}\s+", re.MULTILINE)
# Blanks in front, but no line breaks: it would look at all empty lines again from each of them.
_BULLET = re.compile(r"^([^\S\n]*)(?:[-*+]|\d+[.)])\s+", re.MULTILINE)
_QUOTE = re.compile(r"^(?:> ?)++", re.MULTILINE)
_RULE_ROW = re.compile(r"^\|(?:\s*+:?-++:?\s*+\|)++[ \t]*+\n?", re.MULTILINE)
_ROW = re.compile(r"^\|(.*)\|[ \t]*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# Emphasis and code: a sign before something, and the same sign behind something, on one line. A sign
# of emphasis between a word and a mark is on the side of the word: "Price*, tax" opens nothing.
_OPENING = re.compile(
    r"(?<!\\)`(?=\S)|(?<![\\*~])(?:(?<![^\W_])(?:\*\*|\*|~~)(?=\S)|(?:\*\*|\*|~~)(?=[^\W_]))"
)
_ENDING = r"(?<=[^\W_]){0}|(?<=[^\s\\]){0}(?![^\W_])"
_CLOSING = {sign: re.compile(_ENDING.format(re.escape(sign))) for sign in ("**", "*", "~~")}
_CLOSING["`"] = re.compile(r"(?<=[^\s\\])`")
_MARKS = re.compile(r"[\\\[#>|*`~+-]|\d[.)]")


def plain_text(markdown: str) -> str:
    """The words alone: no marks, no addresses, code as it is."""
    if _MARKS.search(markdown) is None:
        return markdown.strip()
    parts = _split_fences(markdown)
    return "\n".join(text if is_code else _unmark(text) for text, is_code in parts).strip()


def _split_fences(markdown: str) -> list[tuple[str, bool]]:
    parts, start, opened = [], 0, ""
    for match in _FENCE.finditer(markdown):
        mark = match.group(1)
        if opened and not (mark[0] == opened[0] and len(mark) >= len(opened)):
            continue
        parts.append((markdown[start : match.start()].strip("\n"), bool(opened)))
        start, opened = match.end(), "" if opened else mark
    parts.append((markdown[start:].strip("\n"), bool(opened)))
    return [part for part in parts if part[0]]


def _unmark(text: str) -> str:
    if "|" in text:
        text = _RULE_ROW.sub("", text)
        text = _ROW.sub(lambda row: row.group(1).replace("|", " ").strip(), text)
    text = _HEADING.sub("", text)
    text = _QUOTE.sub("", text)
    text = _BULLET.sub(r"\1", text)
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    text = _without_emphasis(_without_emphasis(text))
    return _ESCAPE.sub(r"\1", text)


def _without_emphasis(text: str) -> str:
    """Remove pairs of signs. A sign that nothing closes is not looked for again on its line."""
    pieces: list[str] = []
    done = at = 0
    unclosed: dict[str, int] = {}  # up to where nothing closes a sign
    line_end = -1
    while opening := _OPENING.search(text, at):
        start, sign = opening.start(), opening[0]
        if start > line_end:
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
        for tried in ("**", "*") if sign == "**" else (sign,):
            if start < unclosed.get(tried, 0):
                continue
            first = start + len(tried)
            closing = _CLOSING[tried].search(text, first + 1, line_end)
            if closing:
                pieces += (text[done:start], text[first : closing.start()])
                done = at = closing.end()
                break
            unclosed[tried] = line_end
        else:
            at = start + 1
    return "".join([*pieces, text[done:]])
