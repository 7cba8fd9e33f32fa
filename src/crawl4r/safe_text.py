"""Text of strangers made safe: to store, to read as JSON, to show, and to paste into a shell.

JSON can spell half of a surrogate pair (`"\\ud800"`), which no encoding, database or index takes, and
NUL, which PostgreSQL refuses and at which many programs end a text. `well_formed` replaces both by
U+FFFD where text enters: in answers of reading processes, in imports, and in rows of older versions.

A terminal obeys control characters: they set its clipboard, its title and its links, and move its
cursor. Bidirectional controls reorder what a person reads. Both are replaced by an escape like `\\x1b`
or `\\u202e`: plain ASCII, which every font and encoding has and which can be searched for. Control
pictures (U+241B) have neither property, and there are none for C1 and bidirectional controls.

msgspec is imported where JSON is read: a command that only shows text starts 4 ms earlier.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

_HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Bidi_Control, as Unicode lists it
    "\u2028\u2029"  # line and paragraph separator: a new line for some programs
    "\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # unseen, and no script needs them
    "\ud800-\udfff"  # lone surrogates, which no encoding can write
)
_RUN = re.compile(f"[{_HARMFUL}]+")
_ILL_FORMED = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_NUL_IN_JSON = b"\\u0000"

T = TypeVar("T")


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


def well_formed(text: str) -> str:
    """The same text; two halves of a pair are joined, a single half and NUL are U+FFFD."""
    if text.isascii():
        return text.replace("\0", _REPLACEMENT) if "\0" in text else text
    if _ILL_FORMED.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", _REPLACEMENT)


def well_formed_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same for headers."""
    return [(well_formed(name), well_formed(value)) for name, value in pairs]


def read_json(text: str | bytes) -> Any:
    """JSON that a person or a file gave. Raises ValueError, also for what is nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def load_json(data: bytes) -> Any:
    """Read JSON; every string in it is well-formed, whatever it spells.

    Raises ValueError for what is no JSON, RecursionError for what is nested too deep.
    """
    import msgspec  # noqa: PLC0415

    if _NUL_IN_JSON not in data:
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # half a pair, bytes that are no UTF-8, a number like NaN, or no JSON at all
    return _all_well_formed(json.loads(_decoded(data)))


def decode_json(data: bytes, kind: type[T]) -> T:
    """Read JSON as a value of this kind, whose strings are well-formed.

    Raises msgspec.DecodeError for what is something else, UnicodeDecodeError for what is no UTF-8.
    """
    import msgspec  # noqa: PLC0415

    if _NUL_IN_JSON in data:
        data = msgspec.json.encode(_all_well_formed(msgspec.json.decode(data)))
    return msgspec.json.decode(data, type=kind)


def encode_json(value: Any) -> bytes:
    """JSON of any value whose strings may be ill-formed."""
    import msgspec  # noqa: PLC0415

    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_all_well_formed(msgspec.to_builtins(value)))


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
