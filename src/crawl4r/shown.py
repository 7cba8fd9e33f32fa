"""How the words of strangers are shown: in a line, in a text, as JSON, in a command to paste.

A terminal obeys control characters: they set its clipboard, its title and its links, and move its
cursor. Bidirectional controls reorder what a person reads. Both are replaced by an escape like `\\x1b`
or `\\u202e`: plain ASCII, which every font and encoding has and which can be searched for. Control
pictures (U+241B) have neither property, and there are none for C1 and bidirectional controls.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

_HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Bidi_Control, as Unicode lists it
    "\u2028\u2029"  # line and paragraph separator: a new line for some programs
    "\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # unseen, and no script needs them
    "\ud800-\udfff"  # lone surrogates, which no encoding can write
)
_RUN = re.compile(f"[{_HARMFUL}]+")


class _Escapes(dict[int, str]):
    """The escape of each character, made when it is first met: a page may consist of nothing else."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        self._escape = escape

    def __missing__(self, code: int) -> str:
        return self.setdefault(code, self._escape(chr(code)))


_FOR_TEXT = _Escapes(lambda character: character.encode("unicode_escape").decode())
_FOR_JSON = _Escapes(lambda character: json.dumps(character)[1:-1])


def visible(text: str) -> str:
    """One line, with every character that is not printable replaced by its escape.

    That includes line breaks, so that no value can add a line of its own, and spaces and joiners that
    look like nothing: in a URL, a header or a name they mislead.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _FOR_TEXT[ord(c)] for c in text)


def visible_text(text: str) -> str:
    """A text of many lines, harmless to a terminal; it keeps tabs and line breaks (CRLF becomes LF).

    Joiners, soft hyphens and special spaces stay too: Persian, Thai, German and French need them.
    """
    return _RUN.sub(lambda run: run[0].translate(_FOR_TEXT), text.replace("\r\n", "\n"))


def json_text(value: Any) -> str:
    """JSON on one line, with the same value and with harmful characters written as \\uXXXX."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _RUN.sub(lambda run: run[0].translate(_FOR_JSON), text)


def command_line(*words: object) -> str:
    """A command, or a part of one, quoted so that a POSIX shell reads exactly these words."""
    return shlex.join(map(str, words))
