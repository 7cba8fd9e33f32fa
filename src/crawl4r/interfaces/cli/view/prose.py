"""Lay out text for a terminal, whose own line breaks would cut words, URLs and commands.

In a pipe nothing is laid out: there a line stays a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_HANG = 2  # columns by which a continued line is indented, after those of its first
_FOR_COMMANDS = 2  # columns more
_PIECE = re.compile(r"(\s*)(\(?`[^`]+`\S*|\S+)")
_COMMAND = re.compile(r"\(?`((?:\S*crawl4r|pip) [^`]+)`\W*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def laid_out(text: str, width: int) -> str:
    """Sentences of ours in lines of at most `width` columns that end between words.

    A line that fits stays as it is. Else a command in backquotes gets a line of its own, from which it
    can be copied. A word that is wider than the terminal begins a line, and only the terminal breaks
    it: a break of ours would become a part of a copied URL.
    """
    return "\n".join(
        part for line in text.split("\n") for part in _lines(line, width, _HANG, has_commands=True)
    )


def wrapped(line: str, width: int, hang: int = _HANG) -> str:
    """A line with text of strangers, like `laid_out`. Backquotes in it mean nothing."""
    return "\n".join(_lines(line, width, hang, has_commands=False))


def wrapped_markdown(text: str, width: int) -> str:
    """Markdown with wrapped paragraphs and items. Code and tables keep their lines."""
    return "\n".join(_markdown_lines(text, width))


def _markdown_lines(text: str, width: int) -> Iterator[str]:
    is_code = False
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        if is_code or is_fence or line.startswith(("|", "    ")):
            yield line
        else:
            item = _ITEM.match(line)
            yield wrapped(line, width, len(item[0].lstrip()) if item else 0)


def _lines(line: str, width: int, hang: int, *, has_commands: bool) -> list[str]:
    if _columns(line) <= width:
        return [line]
    start = line[: len(line) - len(line.lstrip())]
    below = start + " " * hang
    done: list[str] = []
    now = start  # the line that is being filled
    for gap, word in _PIECE.findall(line.lstrip()):
        if has_commands and (command := _COMMAND.fullmatch(word)):
            done += [now, below + " " * _FOR_COMMANDS + command[1]]
            now = below
        elif _columns(more := now + (gap if now.strip() else "") + word) <= width:
            now = more
        else:
            done.append(now)
            now = below + word if _columns(below + word) <= width else word
    return [part for part in (*done, now) if part.strip()]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - a text in English goes without

    return cell_len(text)
