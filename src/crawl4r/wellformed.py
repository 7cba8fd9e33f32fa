"""Text that every part can store and show: valid Unicode, without NUL.

JSON can spell half of a surrogate pair (`"\\ud800"`), which no encoding, database or index takes, and
NUL, which PostgreSQL refuses and at which many programs end a text. Both become U+FFFD where text
enters: in the answers of reading processes, in imports, and in rows that an older version wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

_ILL_FORMED = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_NUL_IN_JSON = b"\\u0000"

T = TypeVar("T")


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
    if _NUL_IN_JSON in data:
        data = msgspec.json.encode(_all_well_formed(msgspec.json.decode(data)))
    return msgspec.json.decode(data, type=kind)


def encode_json(value: Any) -> bytes:
    """JSON of any value whose strings may be ill-formed."""
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
