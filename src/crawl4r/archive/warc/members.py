"""Unpack the bytes of a WARC file: plain, gzip members, zstd frames.

The pieces are small for any file. Damage is reported with its offset, and reading can continue at the
next member; `warcio` supports neither.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from enum import Enum
from os import SEEK_END
from typing import IO, Protocol

from crawl4r.formats import inflate
from crawl4r.formats.inflate import Inflater

ZSTD_MAGICS = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")  # a frame, a dictionary
_RECORD = b"WARC/"
_CHUNK = 64 * 1024  # packed bytes per read
PIECE = 256 * 1024  # unpacked bytes per piece
_MOST_TRIES = 10_000  # places of a file to try as a member
_LONGEST_MATCH = 16  # bytes
_BLANK_LINE = re.compile(rb"\n\r?\n(?=WARC/)")


class GoOn(Enum):
    """Where reading can continue after damage."""

    HERE = "here"  # at the next piece
    SEARCHING = "searching"  # at the next member, after a search
    NOWHERE = "nowhere"


class Damaged(Exception):
    """`offset`: the begin of the damaged part, in bytes of the file."""

    def __init__(self, offset: int, reason: str, go_on: GoOn = GoOn.SEARCHING) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason
        self.go_on = go_on


class Unpacker(Protocol):
    is_packed: bool
    is_start: bool  # the last piece was the first of a member

    def next(self) -> bytes:
        """The next piece, empty at the end. Raises Damaged."""

    def offset(self, unread: int) -> int:
        """The offset of the last `unread` returned bytes; in a packed file that of their member."""

    def consumed(self) -> int:
        """The number of bytes read from the file."""

    def left(self) -> int | None:
        """The number of remaining bytes; None for a packed file."""

    def search(self, offset: int) -> bool:
        """Seek to the next possible record after this offset; False when there is none."""


class PlainBytes:
    """An unpacked file."""

    is_packed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = file.seek(0, SEEK_END)
        file.seek(0)
        self._at = 0
        self.is_start = False

    def next(self) -> bytes:
        piece = self._file.read(PIECE)
        self._at += len(piece)
        return piece

    def offset(self, unread: int) -> int:
        return self._at - unread

    def consumed(self) -> int:
        return self._at

    def left(self) -> int:
        return self._size - self._at

    def search(self, offset: int) -> bool:
        """Search after a blank line, because the text of a page may also mention WARC."""
        found = _find(self._file, _BLANK_LINE, offset)
        if found is None:
            return False
        self._at = found
        self._file.seek(found)
        return True


class Members(ABC):
    """The common part of gzip and zstd: a sequence of independent packed members."""

    is_packed = True
    magic = re.compile(rb"")

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._input = b""
        self._at = 0  # the offset after the input
        self._member = 0
        self._is_fresh = False
        self._tries_left = _MOST_TRIES
        self.is_start = False

    def next(self) -> bytes:
        while True:
            if not self._is_open() and not self._open_member():
                return b""
            piece = self._unpack()
            if piece:
                self.is_start, self._is_fresh = self._is_fresh, False
                return piece
            if self._is_open() and not self._more():
                raise Damaged(self._member, "the file ends in the middle of it", GoOn.NOWHERE)

    def offset(self, unread: int) -> int:
        return self._member

    def consumed(self) -> int:
        return self._at - len(self._input)

    def left(self) -> None:
        return None

    def search(self, offset: int) -> bool:
        """Find a member: magic bytes may occur anywhere, so the place must unpack to a record."""
        while self._tries_left:
            self._tries_left -= 1
            candidate = _find(self._file, self.magic, offset + 1)
            if candidate is None:
                return False
            self._seek(candidate)
            if self._begins_record():
                self._seek(candidate)
                return True
            offset = candidate
        return False

    def _begins_record(self) -> bool:
        try:
            return self.next().startswith(_RECORD)
        except Damaged:
            return False

    def _seek(self, offset: int) -> None:
        self._file.seek(offset)
        self._at = offset
        self._input = b""
        self._close()

    def _more(self) -> bool:
        chunk = self._file.read(_CHUNK)
        self._at += len(chunk)
        self._input += chunk
        return bool(chunk)

    def _open_member(self) -> bool:
        """Begin the next member; False at the end of the file."""
        if not self._input and not self._more():
            return False
        self._member = self.consumed()
        self._is_fresh = True
        self._open()
        return True

    @abstractmethod
    def _is_open(self) -> bool: ...

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...

    @abstractmethod
    def _unpack(self) -> bytes: ...


class GzipMembers(Members):
    magic = re.compile(rb"(?=\x1f\x8b\x08)")

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._inflater: Inflater | None = None

    def _is_open(self) -> bool:
        return self._inflater is not None

    def _open(self) -> None:
        self._inflater = Inflater()

    def _close(self) -> None:
        self._inflater = None

    def _unpack(self) -> bytes:
        assert self._inflater is not None
        try:
            piece, self._input = self._inflater.unpack(self._input, PIECE)
        except inflate.DamagedStream as problem:
            raise Damaged(self._member, str(problem)) from None
        if self._inflater.is_done:
            self._close()
        return piece


def _find(file: IO[bytes], wanted: re.Pattern[bytes], offset: int) -> int | None:
    """The end of the next match at or after `offset`; matches have a few bytes."""
    file.seek(offset)
    seen = b""
    while chunk := file.read(_CHUNK):
        seen += chunk
        if match := wanted.search(seen):
            return offset + match.end()
        offset += max(0, len(seen) - _LONGEST_MATCH)
        seen = seen[-_LONGEST_MATCH:]
    return None
