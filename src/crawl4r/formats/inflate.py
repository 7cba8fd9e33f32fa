"""Deflate undone within a bound: a small body can unpack to anything.

`inflate` takes a whole body; `Inflater` takes one member of a file that is read as it comes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

GZIP_MAGIC = b"\x1f\x8b"
GZIP, ZLIB, RAW = 31, 15, -15  # zlib's numbers for the three containers
_NAMES = {GZIP: "gzip", ZLIB: "deflate", RAW: "deflate"}
_MOST_MEMBERS = 1_000  # of one gzip file: each costs a copy of the piece it ends in
_PIECE = 256 * 1024  # packed bytes that are looked at together


class DamagedStream(Exception):
    """The bytes are not what they are said to be."""


class Inflater:
    """Unpacks one member of a gzip file, or one stream of another container."""

    def __init__(self, container: int = GZIP) -> None:
        self._name = _NAMES[container]
        self._zlib = zlib.decompressobj(wbits=container)

    @property
    def is_done(self) -> bool:
        """Whether the member was whole; what is left of the bytes stands behind it."""
        return self._zlib.eof

    def unpack(self, packed: bytes, most: int) -> tuple[bytes, bytes]:
        """At most `most` bytes, and what is left of `packed`. Raises DamagedStream."""
        try:
            piece = self._zlib.decompress(packed, most)
        except zlib.error as problem:
            raise DamagedStream(f"not {self._name}: {problem}") from None
        return piece, self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail


class Inflated(NamedTuple):
    data: bytes
    problem: str = ""  # why there is less than there was


def inflate(body: bytes, cap: int, container: int = GZIP) -> Inflated:
    """Unpack all members of a body, up to `cap` + 1 bytes or the first thing that is wrong."""
    pieces: list[bytes] = []
    try:
        pieces.extend(_pieces(body, cap + 1, container))
    except DamagedStream as damage:
        return Inflated(b"".join(pieces), str(damage))
    return Inflated(b"".join(pieces))


def _pieces(body: bytes, room: int, container: int) -> Iterator[bytes]:
    inflater, members = Inflater(container), 1
    for start in range(0, len(body), _PIECE):
        packed = body[start : start + _PIECE]
        while packed and room:
            if inflater.is_done:
                if container != GZIP or packed[:2] not in {GZIP_MAGIC, GZIP_MAGIC[:1]}:
                    return  # what follows a whole member is ignored, as browsers do
                members += 1
                if members > _MOST_MEMBERS:
                    raise DamagedStream(f"more than {_MOST_MEMBERS:,} gzip members")
                inflater = Inflater(container)
            piece, packed = inflater.unpack(packed, room)
            room -= len(piece)
            yield piece
    if room and not inflater.is_done:
        raise DamagedStream(f"{_NAMES[container]} ends too early")
