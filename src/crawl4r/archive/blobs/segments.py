"""The default store: pages appended to a few large files, found through an index in state.db.

Bytes are synced before the rows that name them are committed. After a crash, complete records past the
last indexed one are adopted and a torn one is cut off. Indexed records are never rewritten: `compact`
copies them to a new segment. A segment belongs to the one writer that holds it (`segment_files`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.blobs.compaction import Compaction
from crawl4r.archive.blobs.port import Compacted, OnCompacted
from crawl4r.archive.blobs.segment_files import HeldSegment, SegmentFiles
from crawl4r.archive.blobs.segment_record import (
    HEAD_BYTES,
    SUFFIX,
    Place,
    pack_record,
    place_in,
    place_of,
    unpack_frame,
    unpack_record,
)
from crawl4r.errors import StorageDamaged, StorageFull
from crawl4r.formats.zstd import ZstdCompressor
from crawl4r.storage.database import Database
from crawl4r.storage.fsync import write_all

_FOUND_AT_HAND = 500
# What gc dropped is not adopted: its record may lie at the end of a segment.
_ADOPT = """
INSERT OR IGNORE INTO blobs SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM dropped_blobs WHERE sha256 = ?1)
"""


class _OpenSegment(NamedTuple):
    segment: int
    fd: int
    path: Path


class SegmentBlobs:
    """See `port.Blobs`."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        *,
        level: int = 3,
        segment_bytes: int = 256 * 1024**2,
        permissions: int = 0o644,
        writable: bool = True,
    ) -> None:
        self._files = SegmentFiles(folder, permissions)
        self._database = database
        self._compressor = ZstdCompressor(level=level)
        self._segment_bytes = segment_bytes
        self._own: HeldSegment | None = None  # the segment that this writer appends to
        # Full segments, held until the rows of their last records are surely committed: those of this
        # group, and those of the one before.
        self._full: list[HeldSegment] = []
        self._left: list[HeldSegment] = []
        self._segment = 1  # its number; without one, the lowest that the next one may get
        self._end = 0  # of the durable records in the current segment
        self._open_for_reading: _OpenSegment | None = None
        self._added: dict[bytes, Place] = {}
        # Perhaps uncommitted: usable for the lines of a log, but no proof that a page is stored.
        self._flushed: dict[bytes, Place] = {}
        self._found: dict[bytes, Place] = {}  # a cache: blobs move only when gc compacts
        self._buffer: list[bytes] = []
        self._buffered = 0
        if writable:
            self._files.make_folder()
            try:
                self.adopted, self.cut = self._recover()
            except BaseException:
                self._let_go()  # a later try in this process must find the segment free
                raise

    def add(self, body: bytes, content_type: str) -> tuple[str, bool]:
        digest = hashlib.sha256(body)
        key = digest.digest()
        if key in self._added or self._place(key):
            return digest.hexdigest(), False
        frame = self._compressor.compress(body, mode=ZstdCompressor.FLUSH_FRAME)
        record = pack_record(key, len(body), frame)
        if self._end + self._buffered + len(record) > self._segment_bytes and self._end:
            self._rotate()
        if self._own is None:
            self._own = self._files.create(self._segment)
            self._segment, self._end = self._own.number, 0
        offset = self._end + self._buffered
        self._added[key] = Place(self._segment, offset, len(frame), len(body))
        self._buffer.append(record)
        self._buffered += len(record)
        return digest.hexdigest(), True

    def flush(self) -> None:
        self._write_out()
        for segment in self._left:
            segment.close()
        self._left, self._full = self._full, []

    def _write_out(self) -> None:
        if not self._buffer or self._own is None:
            return
        try:
            write_all(self._own.fd, b"".join(self._buffer))
            os.fsync(self._own.fd)
        except OSError as problem:
            self._drop_unflushed(self._own.fd)
            raise StorageFull(
                f"cannot write {self._own.path}: {problem.strerror}; "
                "free some space and run the command again"
            ) from problem
        self._end += self._buffered
        self._database.write_many(
            "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?)",  # another writer may have them too
            ((key, *place) for key, place in self._added.items()),
        )
        self._flushed = dict(self._added)
        self._forget_added()

    def read(self, sha256: str) -> bytes | None:
        key = bytes.fromhex(sha256)
        while place := self._place(key):
            try:
                return self._read_at(key, place)
            except StorageDamaged:
                self._found.pop(key, None)
                if self._place(key) == place:  # else gc moved it since its place was found
                    raise
        return None

    def locate(self, sha256: str) -> str:
        key = bytes.fromhex(sha256)
        place = self._added.get(key) or self._flushed.get(key) or self._place(key)
        return f"{place.segment:06d}{SUFFIX}@{place.offset}" if place else ""

    def totals(self) -> tuple[int, int]:
        (row,) = self._database.read(
            "SELECT count(*), coalesce(sum(length + ?), 0) FROM blobs", (HEAD_BYTES,)
        )
        return int(row[0]), int(row[1])

    def stored(self) -> Iterator[tuple[str, int]]:
        last = b""
        while rows := self._database.read(
            "SELECT sha256, length + ? FROM blobs WHERE sha256 > ? ORDER BY sha256 LIMIT 1000",
            (HEAD_BYTES, last),
        ):
            for key, size in rows:
                yield key.hex(), int(size)
            last = rows[-1][0]

    def remove(self, hashes: Iterable[str]) -> None:
        keys = [bytes.fromhex(sha256) for sha256 in hashes]
        self._database.write_many("DELETE FROM blobs WHERE sha256 = ?", [(key,) for key in keys])
        for key in keys:
            self._found.pop(key, None)
            self._flushed.pop(key, None)

    def foresee(self, doomed: Iterable[str]) -> Compacted:
        return Compaction(self._files, self._database, self._segment_bytes).foresee(doomed)

    def compact(self, on_progress: OnCompacted = lambda done, total: None) -> Compacted:
        self._forget_added()
        self._let_go()  # the current segment may have to be rewritten, too
        self._end_reading()
        self._found.clear()
        self._flushed.clear()
        compaction = Compaction(self._files, self._database, self._segment_bytes)
        try:
            return compaction.run(on_progress)
        finally:
            self._segment, self._end = compaction.next_number, 0

    def close(self) -> None:
        self._forget_added()
        self._let_go()
        self._end_reading()

    def _place(self, key: bytes) -> Place | None:
        if found := self._found.get(key):
            return found
        rows = self._database.read(
            "SELECT segment, offset, length, raw_length FROM blobs WHERE sha256 = ?", (key,)
        )
        if not rows:
            return None
        if len(self._found) >= _FOUND_AT_HAND:
            self._found.clear()
        self._found[key] = found = place_of(key, rows[0])
        return found

    def _read_at(self, key: bytes, place: Place) -> bytes:
        try:
            segment = self._reading(place.segment)
            record = os.pread(segment.fd, HEAD_BYTES + place.length, place.offset)
        except OSError as problem:
            path = self._files.path(place.segment)
            raise StorageDamaged(f"{path} cannot be read: {problem.strerror}") from problem
        return unpack_record(record, key, place, segment.path)

    def _reading(self, segment: int) -> _OpenSegment:
        """The open file of a segment, cached because pages are read in order."""
        if self._open_for_reading is None or self._open_for_reading.segment != segment:
            path = self._files.path(segment)
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._end_reading()
            self._open_for_reading = _OpenSegment(segment, fd, path)
        return self._open_for_reading

    def _end_reading(self) -> None:
        if self._open_for_reading is not None:
            os.close(self._open_for_reading.fd)
            self._open_for_reading = None

    def _let_go(self) -> None:
        """Leave all segments to other writers."""
        for segment in (*self._left, *self._full, *([self._own] if self._own else [])):
            segment.close()
        self._left, self._full, self._own = [], [], None

    def _rotate(self) -> None:
        self._write_out()
        if self._own is not None:
            self._full.append(self._own)
            self._own = None
        self._segment += 1
        self._end = 0

    def _drop_unflushed(self, fd: int) -> None:
        """Cut the file after its last durable record, so that a later run finds it intact."""
        with contextlib.suppress(OSError):
            os.ftruncate(fd, self._end)
        self._forget_added()

    def _forget_added(self) -> None:
        self._added.clear()
        self._buffer.clear()
        self._buffered = 0

    def _recover(self) -> tuple[int, int]:
        """Recover the last segment, and hold it; returns the adopted blobs and the cut bytes.

        A segment that another living writer holds is left alone: then the next one is new.
        """
        row = self._database.read(
            "SELECT segment, max(offset + length) FROM blobs"
            " WHERE segment = (SELECT max(segment) FROM blobs)"
        )[0]
        indexed_segment = row[0] if row[0] is not None else 1
        indexed_end = row[1] + HEAD_BYTES if row[0] is not None else 0
        adopted = cut = 0
        self._segment = max([indexed_segment, *self._files.numbers()])
        for segment in range(indexed_segment, self._segment + 1):
            start = indexed_end if segment == indexed_segment else 0
            self._let_go()
            self._own = self._files.hold(segment)
            taken, lost = self._adopt_tail(segment, start)
            adopted += taken
            cut += lost
        self._database.commit()
        return adopted, cut

    def _adopt_tail(self, segment: int, start: int) -> tuple[int, int]:
        path = self._files.path(segment)
        size = path.stat().st_size if path.exists() else 0
        if size < start:
            raise StorageDamaged(
                f"{path} has {size} bytes where the index knows of {start}: it was cut or replaced"
            )
        if self._own is None:
            return 0, 0
        adopted, end = self._adopt_records(segment, path, start, size)
        if size > end:
            os.ftruncate(self._own.fd, end)
        if adopted:  # a killed process may not have synced these records
            os.fsync(self._own.fd)
        self._end = end
        return adopted, size - end

    def _adopt_records(self, segment: int, path: Path, start: int, size: int) -> tuple[int, int]:
        adopted, end = 0, start
        if size == start:
            return adopted, end
        with path.open("rb") as file:
            file.seek(start)
            while found := place_in(file.read(HEAD_BYTES), segment, end):
                key, place = found
                try:
                    unpack_frame(file.read(place.length), key, path)
                except StorageDamaged:
                    break
                adopted += self._database.write(_ADOPT, (key, *place)).rowcount
                end = place.end
        return adopted, end
