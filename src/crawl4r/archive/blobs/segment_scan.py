"""Find the whole records of a segment by its bytes alone, when no index of them is left.

A record that is torn or damaged is left out: the search goes on at the next whole head. Memory does not
grow with the lengths that a head tells, which may be wrong.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from crawl4r.archive.blobs.segment_record import HEAD_BYTES, MAGIC, SUFFIX, Place, place_in
from crawl4r.formats.zstd import ZstdDecompressor, ZstdError

_PIECE = 1024 * 1024  # bytes in memory at once


class FoundRecord(Struct, frozen=True):
    """A whole record: the hash of its bytes, and where it is."""

    key: bytes
    place: Place


class SegmentScan:
    """The whole records of one segment, each with a frame whose bytes have their hash."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size
        self.damaged = 0  # records or runs of bytes that are none
        self.lost_bytes = 0  # of the segment, in those
        self._segment = int(path.stem)

    def records(self) -> Iterator[FoundRecord]:
        with self.path.open("rb") as file:
            fd, at = file.fileno(), 0
            while at < self.size:
                found = place_in(os.pread(fd, HEAD_BYTES, at), self._segment, at)
                if found and self._is_whole(fd, *found):
                    key, place = found
                    yield FoundRecord(key, place)
                    at = place.end
                    continue
                after = self._next_head(fd, at + 1)
                self.damaged += 1
                self.lost_bytes += after - at
                at = after

    def _is_whole(self, fd: int, key: bytes, place: Place) -> bool:
        start = place.offset + HEAD_BYTES
        end = start + place.length
        pieces = (os.pread(fd, min(_PIECE, end - at), at) for at in range(start, end, _PIECE))
        return end <= self.size and holds(pieces, key, place.raw_length)

    def _next_head(self, fd: int, start: int) -> int:
        """Where the next whole head is; the end of the segment without one."""
        at = start
        while at < self.size:
            data = os.pread(fd, _PIECE, at)
            where = data.find(MAGIC)
            while where >= 0:
                if place_in(os.pread(fd, HEAD_BYTES, at + where), self._segment, at + where):
                    return at + where
                where = data.find(MAGIC, where + 1)
            if len(data) < len(MAGIC):
                break
            at += len(data) - len(MAGIC) + 1  # a magic may lie across two pieces
        return self.size


def holds(pieces: Iterable[bytes], key: bytes, most: int) -> bool:
    """Whether pieces are one zstd frame of at most so many bytes, and these have this hash."""
    unpacking, digest, raw = ZstdDecompressor(), hashlib.sha256(), 0
    try:
        for piece in pieces:
            if unpacking.eof:  # bytes behind the frame
                return False
            data = piece
            while True:
                body = unpacking.decompress(data, max_length=_PIECE)
                raw += len(body)
                digest.update(body)
                if raw > most:
                    return False
                if unpacking.eof or unpacking.needs_input:
                    break
                data = b""
    except (ZstdError, OSError):
        return False
    return unpacking.eof and not unpacking.unused_data and digest.digest() == key


def pieces_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file, a few at a time."""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def segments_in(folder: Path) -> list[Path]:
    """The segments of a store, in order."""
    found = [path for path in folder.glob(f"*{SUFFIX}") if path.stem.isdecimal()]
    return sorted((path for path in found if path.is_file()), key=lambda path: int(path.stem))
