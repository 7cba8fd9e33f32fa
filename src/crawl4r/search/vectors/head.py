"""The head of an append-only index, which tells its valid length: a file of two alternating slots.

The slot with the higher turn and a correct checksum is current. A write goes to the other slot, so a
torn or half-read write leaves the current one intact.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import NamedTuple

_MAGIC = b"c4v1"
_BODY = struct.Struct("<4sIQQQ")  # magic, dimension, turn, rows, bytes of names
_SLOT = struct.Struct(f"<{_BODY.size}sI")  # and their checksum
_SLOT_DISTANCE = 4096  # bytes, so that a torn sector or page damages one slot only
_READS = 5  # two writes may end while one read is under way


class Head(NamedTuple):
    dimension: int
    turn: int
    rows: int
    names_bytes: int


def read_head(fd: int) -> Head | None:
    """Read the current slot; None when neither has a correct checksum."""
    for _ in range(_READS):
        data = os.pread(fd, _SLOT_DISTANCE + _SLOT.size, 0)
        slots = [_unpack(data[start : start + _SLOT.size]) for start in (0, _SLOT_DISTANCE)]
        if valid := [slot for slot in slots if slot]:
            return max(valid, key=lambda slot: slot.turn)
    return None


def write_head(fd: int, head: Head) -> None:
    """Write the next turn; durable on return."""
    body = _BODY.pack(_MAGIC, head.dimension, head.turn, head.rows, head.names_bytes)
    write_at(fd, _SLOT.pack(body, zlib.crc32(body)), head.turn % 2 * _SLOT_DISTANCE)
    os.fsync(fd)


def write_at(fd: int, data: bytes, offset: int) -> None:
    """Write every byte, because a write call may write fewer."""
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view = view[written:]
        offset += written


def _unpack(slot: bytes) -> Head | None:
    if len(slot) != _SLOT.size:
        return None  # never written
    body, check = _SLOT.unpack(slot)
    magic, dimension, turn, rows, names_bytes = _BODY.unpack(body)
    if magic != _MAGIC or zlib.crc32(body) != check:
        return None
    return Head(dimension, turn, rows, names_bytes)
