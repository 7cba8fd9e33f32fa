"""Read the records of a WARC file one by one; report broken parts and skip them.

A record counts as read at its end: after the whole block, the blank lines and, in a packed file, the
checksum of its member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, NamedTuple

from crawl4r.archive.warc.members import (
    ZSTD_MAGICS,
    Damaged,
    GoOn,
    GzipMembers,
    PlainBytes,
    Unpacker,
)
from crawl4r.archive.warc.members_zstd import ZstdFrames
from crawl4r.formats.inflate import GZIP_MAGIC

NO_RECORD = "no WARC record begins here"
_MOST_HEAD = 1024**2  # bytes of a record's header
_BOMB_BYTES = 512 * 1024**2  # unpacked bytes that may be discarded in any case
_BOMB_RATIO = 200  # beyond that, times the packed size
_MOST_BROKEN = 1_000  # broken parts before the reader gives up
_MOST_IN_VAIN = 1024**3  # bytes that may be unpacked for broken records
_MOST_BLANKS = 16 * 1024**2  # bytes of blank lines between two records
_FREE_RECORDS = 10_000  # and one more for each so many bytes of a packed file:
_LEAST_RECORD = 8  # the id of a record alone has twice as many incompressible bytes
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_GAP = b"\r\n\r\n"  # after a record; some writers deviate
_BLANKS = re.compile(rb"[\r\n]*")


class WarcRecord(NamedTuple):
    """`fields` have lower-case names; `block` is None when it is larger than `largest`."""

    offset: int
    kind: str
    fields: Mapping[str, str]
    block: bytes | None


class Broken(NamedTuple):
    """An unreadable part of the file."""

    offset: int
    reason: str


def looks_like_warc(start: bytes) -> bool:
    """Whether a file with these first bytes may be a WARC file. Packed files need a closer look."""
    return start.startswith((b"WARC/", GZIP_MAGIC, *ZSTD_MAGICS))


def read_warc(file: IO[bytes], largest: int) -> WarcReader:
    """The records of a seekable file, without blocks of more than `largest` bytes."""
    start = file.read(4)
    file.seek(0)
    if start.startswith(GZIP_MAGIC):
        return WarcReader(GzipMembers(file), largest)
    if start in ZSTD_MAGICS:
        return WarcReader(ZstdFrames(file), largest)
    return WarcReader(PlainBytes(file), largest)


class WarcReader:
    def __init__(self, unpacker: Unpacker, largest: int) -> None:
        self._unpacker = unpacker
        self._largest = largest
        self._buffer = bytearray()
        self._later: Damaged | None = None  # damage after a complete record
        self._given = 0  # unpacked bytes
        self._began = 0  # unpacked bytes before the current record
        self._records = 0
        self._in_vain = 0  # unpacked bytes of broken records
        self._furthest = 0  # offset in the file

    @property
    def consumed(self) -> int:
        """The number of bytes read from the file."""
        return self._unpacker.consumed()

    def __iter__(self) -> Iterator[WarcRecord | Broken]:
        for _ in range(_MOST_BROKEN - 1):
            try:
                yield from self._whole_records()
                return
            except Damaged as damage:
                yield Broken(damage.offset, damage.reason)
                if not self._go_on(damage):
                    return
            # Broken records inside of broken records are read repeatedly.
            if self._in_vain > max(_MOST_IN_VAIN, 2 * self._furthest):
                break
        yield Broken(self._furthest, "too much is damaged: nothing behind this was read")

    def _whole_records(self) -> Iterator[WarcRecord]:
        """The records up to the end of the file. Raises Damaged."""
        while True:
            self._began = self._given - len(self._buffer)
            if not self._skip_blanks():
                return
            yield self._read()

    def _go_on(self, damage: Damaged) -> bool:
        if damage.go_on is GoOn.HERE:
            return True
        self._in_vain += self._given - self._began
        self._furthest = max(self._furthest, self.consumed)
        self._buffer.clear()
        return damage.go_on is GoOn.SEARCHING and self._unpacker.search(damage.offset)

    def _skip_blanks(self) -> bool:
        """Skip to the first byte of a record; False at the end of the file."""
        skipped = 0
        while True:
            blanks = _BLANKS.match(self._buffer)
            skipped += blanks.end() if blanks else 0
            del self._buffer[: blanks.end() if blanks else 0]
            if self._buffer:
                return True
            if skipped > _MOST_BLANKS:
                raise Damaged(self._unpacker.offset(0), "nothing but blank lines for too long")
            if not self._fill():
                return False

    def _fill(self) -> bool:
        if self._later is not None:
            damage, self._later = self._later, None
            raise damage
        piece = self._unpacker.next()
        self._buffer += piece
        self._given += len(piece)
        return bool(piece)

    def _read(self) -> WarcRecord:
        offset = self._unpacker.offset(len(self._buffer))
        self._count(offset)
        fields = _parse_head(self._read_head(offset), offset)
        length = _length_of(fields, offset)
        self._expect_room(offset, length)
        block = self._read_block(offset, length) if length <= self._largest else None
        if block is None:
            self._pass_over(offset, length)
        self._expect_the_end(offset)
        return WarcRecord(offset, fields.get("warc-type", "").lower(), fields, block)

    def _count(self, offset: int) -> None:
        """Limit the number of records, because a small packed file may hold very many empty ones."""
        self._records += 1
        most = _FREE_RECORDS + self.consumed // _LEAST_RECORD
        if self._unpacker.is_packed and self._records > most:
            reason = f"more than {most:,} records in {self.consumed:,} bytes"
            raise Damaged(offset, reason, GoOn.NOWHERE)

    def _expect_room(self, offset: int, length: int) -> None:
        """Raise Damaged at once for a length beyond the end of the file."""
        left = self._unpacker.left()
        if left is not None and length > len(self._buffer) + left:
            raise Damaged(offset, "the file ends in the middle of it")

    def _read_head(self, offset: int) -> bytes:
        seen = 0
        while True:
            if not b"WARC/".startswith(self._buffer[:5]) and self._buffer[:5] != b"WARC/":
                raise Damaged(offset, NO_RECORD)
            if end := _HEAD_END.search(self._buffer, max(0, seen - 3)):
                head = bytes(self._buffer[: end.start()])
                del self._buffer[: end.end()]
                return head
            seen = len(self._buffer)
            if seen > _MOST_HEAD:
                raise Damaged(offset, f"its header is longer than {_MOST_HEAD} bytes")
            self._fill_within(offset)

    def _read_block(self, offset: int, length: int) -> bytes:
        while len(self._buffer) < length:
            self._fill_within(offset)
        with memoryview(self._buffer) as view:
            block = bytes(view[:length])
        del self._buffer[:length]
        return block

    def _pass_over(self, offset: int, length: int) -> None:
        """Unpack and discard a block that is too large."""
        packed_before, left = self._unpacker.consumed(), length
        while left > len(self._buffer):
            left -= len(self._buffer)
            self._buffer.clear()
            self._fill_within(offset)
            packed = self._unpacker.consumed() - packed_before
            if length - left > max(_BOMB_BYTES, packed * _BOMB_RATIO):
                raise Damaged(offset, "it unpacks to far more than it was packed in")
        del self._buffer[:left]

    def _fill_within(self, offset: int) -> None:
        """More bytes of the record. If a new member begins instead, the length is wrong."""
        held = len(self._buffer)
        if not self._fill():
            # A wrong length may cover further records, but never a whole member.
            go_on = GoOn.NOWHERE if self._unpacker.is_packed else GoOn.SEARCHING
            raise Damaged(offset, "the file ends in the middle of it", go_on)
        piece = self._buffer[held : held + 5]
        if self._unpacker.is_start and piece == b"WARC/":
            del self._buffer[:held]
            raise Damaged(offset, "its length is wrong", GoOn.HERE)

    def _expect_the_end(self, offset: int) -> None:
        try:
            while len(self._buffer) < len(_GAP) and self._fill():
                pass
            ends_well = self._buffer.startswith(_GAP)
            if not self._skip_blanks() or ends_well:
                return
        except Damaged as damage:
            # Damage of the next record does not affect this one.
            if damage.offset == offset:
                raise
            self._later = damage
            return
        begins_anew = self._unpacker.offset(len(self._buffer)) != offset and self._unpacker.is_start
        if not begins_anew and not self._buffer.startswith(b"WARC/"[: len(self._buffer)]):
            raise Damaged(offset, "its length is wrong")


def _length_of(fields: Mapping[str, str], offset: int) -> int:
    text = fields.get("content-length", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Damaged(offset, "it does not say how long it is")
    return int(text)


def _parse_head(head: bytes, offset: int) -> dict[str, str]:
    version, *lines = head.decode("utf-8", "replace").split("\n")
    if not version.startswith(("WARC/0.", "WARC/1.")):
        raise Damaged(offset, f"of an unknown version: {version.strip()[:40]!r}")
    fields: dict[str, list[str]] = {}  # the lines of a folded value
    last = ""
    for line in lines:
        if line[:1] in {" ", "\t"} and last:
            fields[last].append(line.strip())
            continue
        name, colon, value = line.partition(":")
        last = name.strip().lower() if colon else ""
        if last and last not in fields:
            fields[last] = [value.strip()]
        else:
            last = ""
    return {name: " ".join(values) for name, values in fields.items()}
