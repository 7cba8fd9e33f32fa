"""The bytes of a WARC file as they were before they were packed: plain, gzip members, zstd frames.

Pieces are small whatever a file unpacks to. What is damaged is reported with its offset, and reading
can go on at the next member: `warcio`, which reads whole files well, can neither.
"""

from __future__ import annotations

import re
import struct
import zlib
from enum import Enum
from typing import IO, Protocol

from crawl4r import zstd

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGICS = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")  # a frame, a dictionary
_RECORD = b"WARC/"
_CHUNK = 64 * 1024  # packed bytes read at once
_PIECE = 256 * 1024  # unpacked bytes given at once
_WINDOW_LOG = 27  # 128 MiB, what zstd's strongest levels use
_MOST_DICTIONARY = 8 * 1024**2  # bytes, packed or not, that a reader must be able to take
_MOST_TRIES = 10_000  # places that look like a member and are none
_LONGEST_MATCH = 16  # bytes
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_BLANK_LINE = re.compile(rb"\n\r?\n(?=WARC/)")


class GoOn(Enum):
    """Where reading can go on behind a damage."""

    HERE = "here"  # with the next piece
    SEARCHING = "searching"  # at the next member behind it, once that is found
    NOWHERE = "nowhere"


class Damaged(Exception):
    """`offset` is where the damaged part begins, in bytes of the file."""

    def __init__(self, offset: int, reason: str, go_on: GoOn = GoOn.SEARCHING) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason
        self.go_on = go_on


class Unpacker(Protocol):
    is_packed: bool
    is_start: bool  # whether the last piece was the first of a member

    def next(self) -> bytes:
        """The next piece, empty at the end. Raises Damaged."""

    def offset(self, unread: int) -> int:
        """Where a record begins that has `unread` bytes of the last piece, and more, before it."""

    def consumed(self) -> int:
        """How many bytes of the file were read so far."""

    def search(self, offset: int) -> bool:
        """Go to where a record may begin, behind this offset; False when there is none."""


class PlainBytes:
    """A file that is not packed."""

    is_packed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._at = 0
        self.is_start = False

    def next(self) -> bytes:
        piece = self._file.read(_PIECE)
        self._at += len(piece)
        return piece

    def offset(self, unread: int) -> int:
        return self._at - unread

    def consumed(self) -> int:
        return self._at

    def search(self, offset: int) -> bool:
        """Behind a blank line: the text of a page may speak of WARC, too."""
        found = _find(self._file, _BLANK_LINE, offset)
        if found is None:
            return False
        self._at = found
        self._file.seek(found)
        return True


class _Members:
    """What gzip and zstd have in common: packed parts in a row, each by itself."""

    is_packed = True
    magic = re.compile(rb"")

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._input = b""
        self._at = 0  # in the file, behind the input
        self._member = 0
        self._is_fresh = False
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

    def search(self, offset: int) -> bool:
        """Magic bytes may stand anywhere: only what unpacks to a record is one."""
        for _ in range(_MOST_TRIES):
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
        """Begin with the next member; False at the end of the file."""
        if not self._input and not self._more():
            return False
        self._member = self.consumed()
        self._is_fresh = True
        self._open()
        return True

    def _is_open(self) -> bool:
        raise NotImplementedError

    def _open(self) -> None:
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError

    def _unpack(self) -> bytes:
        raise NotImplementedError


class GzipMembers(_Members):
    magic = re.compile(rb"(?=\x1f\x8b\x08)")

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._inflater: zlib._Decompress | None = None

    def _is_open(self) -> bool:
        return self._inflater is not None

    def _open(self) -> None:
        self._inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)

    def _close(self) -> None:
        self._inflater = None

    def _unpack(self) -> bytes:
        assert self._inflater is not None
        try:
            piece = self._inflater.decompress(self._input, _PIECE)
        except zlib.error as problem:
            raise Damaged(self._member, f"damaged gzip: {problem}") from None
        if self._inflater.eof:
            self._input = self._inflater.unused_data
            self._close()
        else:
            self._input = self._inflater.unconsumed_tail
        return piece


class ZstdFrames(_Members):
    """Frames, perhaps with a dictionary in front (the warc.zst specification)."""

    magic = re.compile(rb"(?=\x28\xb5\x2f\xfd)")

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._unpacker: zstd.ZstdDecompressor | None = None
        self._dictionary: zstd.ZstdDict | None = None

    def _is_open(self) -> bool:
        return self._unpacker is not None

    def _open(self) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        self._unpacker = zstd.ZstdDecompressor(self._dictionary, options)

    def _close(self) -> None:
        self._unpacker = None

    def _open_member(self) -> bool:
        if self.consumed() == 0 and self._has(8) and self._input.startswith(ZSTD_MAGICS[1]):
            self._read_dictionary()
        while self._has(8) and _SKIPPABLE.match(self._input):
            self._seek(self.consumed() + 8 + _length_in(self._input))
        return super()._open_member()

    def _unpack(self) -> bytes:
        assert self._unpacker is not None
        fed = self._input if self._unpacker.needs_input else b""
        try:
            piece = self._unpacker.decompress(fed, _PIECE)
        except zstd.ZstdError as problem:
            raise Damaged(self._member, f"damaged zstd: {problem}") from None
        if fed:
            self._input = b""
        if self._unpacker.eof:
            self._input = self._unpacker.unused_data
            self._close()
        return piece

    def _has(self, count: int) -> bool:
        while len(self._input) < count and self._more():
            pass
        return len(self._input) >= count

    def _read_dictionary(self) -> None:
        length = _length_in(self._input)
        if length > _MOST_DICTIONARY or not self._has(8 + length):
            raise Damaged(0, "its zstd dictionary is cut off or too large", GoOn.NOWHERE)
        packed, self._input = self._input[8 : 8 + length], self._input[8 + length :]
        try:
            self._dictionary = zstd.ZstdDict(_unpack_dictionary(packed))
        except (ValueError, zstd.ZstdError) as problem:
            reason = f"its zstd dictionary is damaged: {problem}"
            raise Damaged(0, reason, GoOn.NOWHERE) from None


def _find(file: IO[bytes], wanted: re.Pattern[bytes], offset: int) -> int | None:
    """Where the next match at or behind `offset` ends that is no more than a few bytes long."""
    file.seek(offset)
    seen = b""
    while chunk := file.read(_CHUNK):
        seen += chunk
        if match := wanted.search(seen):
            return offset + match.end()
        offset += max(0, len(seen) - _LONGEST_MATCH)
        seen = seen[-_LONGEST_MATCH:]
    return None


def _length_in(head: bytes) -> int:
    (length,) = struct.unpack_from("<I", head, 4)
    return int(length)


def _unpack_dictionary(data: bytes) -> bytes:
    """A dictionary may be packed itself, without a dictionary then."""
    if not data.startswith(ZSTD_MAGICS[0]):
        return data
    unpacker = zstd.ZstdDecompressor()
    found = unpacker.decompress(data, _MOST_DICTIONARY)
    if not unpacker.eof:
        raise ValueError("cut off or too large")
    return found
