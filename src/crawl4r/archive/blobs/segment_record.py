"""A record of a segment: a 48-byte head (magic, SHA-256, raw and stored length, checksum of the head)
and one zstd frame."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crawl4r.errors import StorageDamaged
from crawl4r.formats.zstd import ZstdDecompressor, ZstdError

MAGIC = b"c4r1"
_HEAD = struct.Struct("<4s32sII")
_CHECK = struct.Struct("<I")
HEAD_BYTES = _HEAD.size + _CHECK.size
SUFFIX = ".c4s"


class Place(NamedTuple):
    """Where a record is, in the order of the columns of `blobs`."""

    segment: int
    offset: int
    length: int  # of the frame
    raw_length: int

    @property
    def end(self) -> int:
        """The offset behind the record."""
        return self.offset + HEAD_BYTES + self.length


def place_of(key: Any, numbers: Sequence[Any]) -> Place:
    """A row of `blobs` behind its key. Raises StorageDamaged."""
    if not isinstance(key, bytes) or not all(isinstance(number, int) for number in numbers):
        name = key.hex() if isinstance(key, bytes) else repr(key)
        raise StorageDamaged(f"state.db: the place of {name} is damaged")
    return Place(*numbers)


def pack_record(key: bytes, raw_length: int, frame: bytes) -> bytes:
    head = _HEAD.pack(MAGIC, key, raw_length, len(frame))
    return b"".join((head, _CHECK.pack(zlib.crc32(head)), frame))


def place_in(head: bytes, segment: int, offset: int) -> tuple[bytes, Place] | None:
    """The hash and the place that a head tells; None for bytes that are no whole head."""
    if len(head) < HEAD_BYTES or _CHECK.unpack(head[-4:])[0] != zlib.crc32(head[:-4]):
        return None
    magic, key, raw_length, length = _HEAD.unpack(head[:-4])
    return (key, Place(segment, offset, length, raw_length)) if magic == MAGIC else None


def unpack_record(record: bytes, key: bytes, place: Place, path: Path) -> bytes:
    """The bytes in a record, checked. Raises StorageDamaged."""
    found = place_in(record[:HEAD_BYTES], place.segment, place.offset)
    if found is None or found[0] != key:
        raise StorageDamaged(f"{path} at {place.offset} does not hold {key.hex()}")
    return unpack_frame(record[HEAD_BYTES:], key, path)


def unpack_frame(frame: bytes, key: bytes, path: Path) -> bytes:
    unpacking = ZstdDecompressor()
    try:
        body = unpacking.decompress(frame)
    except ZstdError as problem:
        raise StorageDamaged(
            f"{path}: the record of {key.hex()} is damaged: {problem}"
        ) from problem
    if hashlib.sha256(body).digest() != key:
        raise StorageDamaged(f"{path}: the bytes of {key.hex()} do not match their hash")
    return body
