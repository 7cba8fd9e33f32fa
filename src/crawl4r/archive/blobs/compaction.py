"""Compaction of segments: the place of removed records goes back to the disk.

    rows of `blobs` ──> a segment with many dead bytes ──> its live records, checked ──> a new segment
                                                                                              │
        the old file is deleted <── one commit points the rows to the new places <── synced <─┘

Killed before the commit, the new segment has no rows; after it, the old one has none. The next
compaction deletes a segment without rows first. A segment of another living writer is left alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from typing import NamedTuple

from crawl4r.archive.blobs.port import Compacted, OnCompacted
from crawl4r.archive.blobs.segment_files import HeldSegment, SegmentFiles
from crawl4r.archive.blobs.segment_record import HEAD_BYTES, Place, place_of, unpack_record
from crawl4r.errors import StorageDamaged, StorageFull
from crawl4r.storage.database import Database
from crawl4r.storage.fsync import write_all

_DEAD_SHARE = 4  # a segment is rewritten when one byte of so many is dead
_AT_ONCE = 4 * 1024**2  # bytes to write at once


class _Extent(NamedTuple):
    """The live records of a segment."""

    bytes: int = 0
    end: int = 0  # of the last one

    def plus(self, place: Place) -> _Extent:
        return _Extent(self.bytes + HEAD_BYTES + place.length, max(self.end, place.end))

    @property
    def has_many_gaps(self) -> bool:
        return 0 < self.end <= (self.end - self.bytes) * _DEAD_SHARE


_Row = tuple[bytes, Place]


class Compaction:
    """One pass over the segments of a store."""

    def __init__(self, files: SegmentFiles, database: Database, segment_bytes: int) -> None:
        self._files = files
        self._database = database
        self._segment_bytes = segment_bytes
        self._target: HeldSegment | None = None  # the new segment
        self._end = 0  # of its records that rows name
        self.next_number = 1  # no segment has it, nor a higher one

    def foresee(self, doomed: Iterable[str]) -> Compacted:
        """What `run` would do without the rows of these blobs."""
        extents = self._extents(doomed)
        found = Compacted(segments=len(self._files.numbers()), damaged=self._missing(extents))
        for number in self._files.numbers():
            size = self._files.path(number).stat().st_size
            extent = extents.get(number, _Extent())
            if size < extent.end:
                found = _with(found, damaged=(self._too_short(number, size, extent),))
            elif not extent.end:
                found = _with(found, deleted=1, freed=size)
            elif extent.has_many_gaps:
                found = _with(found, rewritten=1, freed=size - extent.bytes)
            else:
                found = _with(found, freed=size - extent.end)
        return found

    def run(self, on_progress: OnCompacted) -> Compacted:
        extents, numbers = self._extents(()), self._files.numbers()
        self.next_number = max([0, *numbers, *extents]) + 1
        found = Compacted(segments=len(numbers), damaged=self._missing(extents))
        # Those without rows first: what a killed run left over makes room for the copies.
        numbers.sort(key=lambda number: number in extents)
        try:
            for done, number in enumerate(numbers, 1):
                if segment := self._files.hold(number):
                    found = self._treat_held(segment, found)
                on_progress(done, len(numbers))
        finally:
            self._end_target()
        return found

    def _treat_held(self, segment: HeldSegment, found: Compacted) -> Compacted:
        with contextlib.closing(segment):
            try:
                return self._treat(segment, found)
            except OSError as problem:
                raise StorageFull(
                    f"cannot compact {segment.path}: {problem.strerror}; "
                    "free some space and run the command again"
                ) from problem

    def _treat(self, segment: HeldSegment, found: Compacted) -> Compacted:
        """Delete, rewrite or cut a segment, or leave it as it is."""
        size, rows = segment.size, self._rows_of(segment.number)
        extent = _Extent()
        for _, place in rows:
            extent = extent.plus(place)
        if size < extent.end:
            return _with(found, damaged=(self._too_short(segment.number, size, extent),))
        if not rows:
            segment.path.unlink()
            return _with(found, deleted=1, freed=size)
        if extent.has_many_gaps:
            try:
                self._rewrite(segment, rows, extent)
            except StorageDamaged as problem:
                self._drop_copies()
                return _with(found, damaged=(str(problem),))
            return _with(found, rewritten=1, freed=size - extent.bytes)
        if size > extent.end:
            os.ftruncate(segment.fd, extent.end)
        return _with(found, freed=size - extent.end)

    def _rewrite(self, segment: HeldSegment, rows: list[_Row], extent: _Extent) -> None:
        target = self._target_for(extent.bytes)
        moved, end, buffer = [], self._end, bytearray()
        try:
            for key, place in rows:
                record = os.pread(segment.fd, place.end - place.offset, place.offset)
                unpack_record(record, key, place, segment.path)
                moved.append((target.number, end, key, segment.number))
                end += len(record)
                buffer += record
                if len(buffer) >= _AT_ONCE:
                    write_all(target.fd, buffer)
                    buffer.clear()
            write_all(target.fd, buffer)
            os.fsync(target.fd)
        except OSError:
            self._drop_copies()
            raise
        self._database.write_many(
            "UPDATE blobs SET segment = ?, offset = ? WHERE sha256 = ? AND segment = ?", moved
        )
        self._database.commit()
        self._end = end
        segment.path.unlink()

    def _target_for(self, more: int) -> HeldSegment:
        """The new segment with room for all records of another one."""
        if self._target and self._end and self._end + more > self._segment_bytes:
            self._end_target()
        if self._target is None:
            self._target = self._files.create(self.next_number)
            self.next_number = self._target.number + 1
            self._end = 0
        return self._target

    def _drop_copies(self) -> None:
        """Cut the new segment behind the last record that has a row."""
        if self._target:
            with contextlib.suppress(OSError):
                os.ftruncate(self._target.fd, self._end)

    def _end_target(self) -> None:
        if self._target:
            if not self._end:
                with contextlib.suppress(OSError):
                    self._target.path.unlink()
            self._target.close()
            self._target = None

    def _extents(self, doomed: Iterable[str]) -> dict[int, _Extent]:
        """The live records of each segment, without the doomed ones, which come in order."""
        extents: dict[int, _Extent] = {}
        waiting = iter(doomed)
        next_doomed = next(waiting, "")
        for key, *numbers in self._database.stream(
            "SELECT sha256, segment, offset, length, raw_length FROM blobs ORDER BY sha256"
        ):
            place = place_of(key, numbers)
            if key.hex() == next_doomed:
                next_doomed = next(waiting, "")
                continue
            extents[place.segment] = extents.get(place.segment, _Extent()).plus(place)
        return extents

    def _rows_of(self, number: int) -> list[_Row]:
        rows = self._database.read(
            "SELECT sha256, segment, offset, length, raw_length FROM blobs WHERE segment = ?"
            " ORDER BY offset",
            (number,),
        )
        return [(key, place_of(key, numbers)) for key, *numbers in rows]

    def _missing(self, extents: dict[int, _Extent]) -> tuple[str, ...]:
        there = set(self._files.numbers())
        return tuple(
            f"{self._files.path(number)} is gone, with {extents[number].bytes:,} bytes"
            for number in sorted(extents.keys() - there)
        )

    def _too_short(self, number: int, size: int, extent: _Extent) -> str:
        return (
            f"{self._files.path(number)} has {size} bytes where the index knows of {extent.end}:"
            " it was cut or replaced"
        )


def _with(
    found: Compacted,
    *,
    rewritten: int = 0,
    deleted: int = 0,
    freed: int = 0,
    damaged: tuple[str, ...] = (),
) -> Compacted:
    return Compacted(
        found.segments,
        found.rewritten + rewritten,
        found.deleted + deleted,
        found.freed + freed,
        (*found.damaged, *damaged),
    )
