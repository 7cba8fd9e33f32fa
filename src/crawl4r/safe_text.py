"""Make untrusted text safe to store, to read as JSON, to show, and to paste into a shell.

JSON can contain a lone surrogate (`"\\ud800"`), which no encoding, database or index accepts, and NUL,
which PostgreSQL refuses and which ends a text in many programs. `well_formed` replaces both by U+FFFD
in incoming text: in answers of reading processes, in imports, and in rows of older versions.

A terminal obeys control characters: they set its clipboard, its title and its links, and move its
cursor. Bidirectional controls reorder visible text. An escape like `\\x1b` or `\\u202e` replaces both:
it is plain ASCII, which every font and encoding has, and users can search for it. Control pictures
(U+241B) have neither property, and do not exist for C1 and bidirectional controls.

Functions that read JSON import msgspec, so that a command that only shows text starts 4 ms earlier.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

_HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 except tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Bidi_Control, as Unicode lists it
    "\u2028\u2029"  # line and paragraph separator: a new line for some programs
    "\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible and not needed by any script
    "\ud800-\udfff"  # lone surrogates, which no encoding can write
)
_RUN = re.compile(f"[{_HARMFUL}]+")
_ILL_FORMED = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_NUL_IN_JSON = b"\\u0000"

T = TypeVar("T")


class _Escapes(dict[int, str]):
    """Escapes by character, made on first use, because a page may contain many."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        self._escape = escape

    def __missing__(self, code: int) -> str:
        return self.setdefault(code, self._escape(chr(code)))


_FOR_TEXT = _Escapes(lambda character: character.encode("unicode_escape").decode())
_FOR_JSON = _Escapes(lambda character: json.dumps(_encodable(character))[1:-1])


def visible(text: str) -> str:
    """A text as one line, with an escape for every unprintable character.

    That includes line breaks, so that no value can add a line, and invisible spaces and joiners, which
    mislead in a URL, a header or a name.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _FOR_TEXT[ord(c)] for c in text)


def visible_text(text: str) -> str:
    """A text of several lines that is safe on a terminal. Tabs and line breaks stay (CRLF becomes LF).

    Joiners, soft hyphens and special spaces also stay: Persian, Thai, German and French need them.
    """
    return _RUN.sub(lambda run: run[0].translate(_FOR_TEXT), text.replace("\r\n", "\n"))


def json_text(value: Any) -> str:
    """JSON on one line, with harmful characters as \\uXXXX.

    A lone surrogate becomes U+FFFD: strict readers refuse a whole line for its escape.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _RUN.sub(lambda run: run[0].translate(_FOR_JSON), text)


def command_line(*words: object) -> str:
    """A command, or a part of one, quoted so that a POSIX shell reads exactly these words."""
    return shlex.join(map(str, words))


def well_formed(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates and NUL by U+FFFD."""
    if text.isascii():
        return text.replace("\0", _REPLACEMENT) if "\0" in text else text
    if _ILL_FORMED.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", _REPLACEMENT)


def well_formed_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """`well_formed` for headers."""
    return [(well_formed(name), well_formed(value)) for name, value in pairs]


def read_json(text: str | bytes) -> Any:
    """Parse JSON from a person or a file. Raises ValueError, also for too deep nesting."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def load_json(data: bytes) -> Any:
    """Parse JSON. Every string in the result is well-formed.

    Raises ValueError for invalid JSON, RecursionError for too deep nesting.
    """
    import msgspec  # noqa: PLC0415

    if _NUL_IN_JSON not in data:
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # a lone surrogate, invalid UTF-8, a number like NaN, or invalid JSON
    return _all_well_formed(json.loads(_decoded(data)))


def decode_json(data: bytes, kind: type[T]) -> T:
    """Parse JSON as a value of this type with well-formed strings.

    Raises msgspec.DecodeError for another type, UnicodeDecodeError for invalid UTF-8.
    """
    import msgspec  # noqa: PLC0415

    if _NUL_IN_JSON in data:
        data = msgspec.json.encode(_all_well_formed(msgspec.json.decode(data)))
    return msgspec.json.decode(data, type=kind)


def encode_json(value: Any) -> bytes:
    """Write JSON of a value whose strings may be ill-formed."""
    import msgspec  # noqa: PLC0415

    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_all_well_formed(msgspec.to_builtins(value)))


def _encodable(character: str) -> str:
    return _REPLACEMENT if "\ud800" <= character <= "\udfff" else character


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _all_well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list | tuple):
        return [_all_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _all_well_formed(item) for key, item in value.items()}
    return value
