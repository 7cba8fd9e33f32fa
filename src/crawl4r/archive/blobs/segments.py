"""The default store: pages appended to a few large files, found through an index in state.db.

A record is a 48-byte head (magic, SHA-256, raw and stored length, checksum of the head) and one zstd
frame. Bytes are synced before the rows that name them are committed. After a crash, complete records
past the last indexed one are adopted and a torn one is cut off. Indexed records are never rewritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.blobs.segment_record import (
    HEAD_BYTES,
    SUFFIX,
    Place,
    pack_head,
    place_in,
    unpack_frame,
    unpack_record,
)
from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.formats.zstd import ZstdCompressor
from crawl4r.storage.database import Database
from crawl4r.storage.fsync import sync_folder, write_all
from crawl4r.storage.own_files import open_own

_FOUND_AT_HAND = 500


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
        self._folder = folder
        self._database = database
        self._compressor = ZstdCompressor(level=level)
        self._segment_bytes = segment_bytes
        self._permissions = permissions
        self._segment = 0
        self._end = 0  # of the durable records in the current segment
        self._fd: int | None = None
        self._open_for_reading: _OpenSegment | None = None
        self._added: dict[bytes, Place] = {}
        # Perhaps uncommitted: usable for the lines of a log, but no proof that a page is stored.
        self._flushed: dict[bytes, Place] = {}
        self._found: dict[bytes, Place] = {}  # a cache: blobs never move
        self._buffer: list[bytes] = []
        self._buffered = 0
        if writable:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise WorkspaceError(f"cannot make {folder}: {problem.strerror}") from problem
            self.adopted, self.cut = self._recover()

    def add(self, body: bytes, content_type: str) -> tuple[str, bool]:
        digest = hashlib.sha256(body)
        key = digest.digest()
        if key in self._added or self._place(key):
            return digest.hexdigest(), False
        frame = self._compressor.compress(body, mode=ZstdCompressor.FLUSH_FRAME)
        record = pack_head(key, len(body), len(frame)) + frame
        if self._end + self._buffered + len(record) > self._segment_bytes and self._end:
            self._rotate()
        offset = self._end + self._buffered
        self._added[key] = Place(self._segment, offset, len(frame), len(body))
        self._buffer.append(record)
        self._buffered += len(record)
        return digest.hexdigest(), True

    def flush(self) -> None:
        if not self._buffer:
            return
        fd = self._open()
        try:
            write_all(fd, b"".join(self._buffer))
            os.fsync(fd)
        except OSError as problem:
            self._drop_unflushed(fd)
            raise StorageFull(
                f"cannot write {self._path(self._segment)}: {problem.strerror}; "
                "free some space and run the command again"
            ) from problem
        self._end += self._buffered
        self._database.write_many(
            "INSERT INTO blobs VALUES (?, ?, ?, ?, ?)",
            ((key, *place) for key, place in self._added.items()),
        )
        self._flushed = dict(self._added)
        self._forget_added()

    def read(self, sha256: str) -> bytes | None:
        key = bytes.fromhex(sha256)
        place = self._place(key)
        if place is None:
            return None
        try:
            segment = self._reading(place.segment)
            record = os.pread(segment.fd, HEAD_BYTES + place.length, place.offset)
        except OSError as problem:
            path = self._path(place.segment)
            raise StorageDamaged(f"{path} cannot be read: {problem.strerror}") from problem
        return unpack_record(record, key, place, segment.path)

    def locate(self, sha256: str) -> str:
        key = bytes.fromhex(sha256)
        place = self._added.get(key) or self._flushed.get(key) or self._place(key)
        return f"{place.segment:06d}{SUFFIX}@{place.offset}" if place else ""

    def totals(self) -> tuple[int, int]:
        (row,) = self._database.read(
            "SELECT count(*), coalesce(sum(length + ?), 0) FROM blobs", (HEAD_BYTES,)
        )
        return int(row[0]), int(row[1])

    def close(self) -> None:
        self._forget_added()
        self._close_segment()
        self._end_reading()

    def _place(self, key: bytes) -> Place | None:
        if found := self._found.get(key):
            return found
        rows = self._database.read(
            "SELECT segment, offset, length, raw_length FROM blobs WHERE sha256 = ?", (key,)
        )
        if rows and not all(isinstance(number, int) for number in rows[0]):
            raise StorageDamaged(f"state.db: the place of {key.hex()} is damaged")
        if not rows:
            return None
        if len(self._found) >= _FOUND_AT_HAND:
            self._found.clear()
        self._found[key] = found = Place(*rows[0])
        return found

    def _path(self, segment: int) -> Path:
        return self._folder / f"{segment:06d}{SUFFIX}"

    def _open(self) -> int:
        if self._fd is None:
            path = self._path(self._segment)
            is_new = not path.exists()
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._fd = open_own(path, flags, self._permissions)
                if is_new:
                    os.fchmod(self._fd, self._permissions)  # regardless of the umask
                    sync_folder(self._folder)
            except OSError as problem:
                raise StorageFull(f"cannot open {path}: {problem.strerror}") from problem
        return self._fd

    def _reading(self, segment: int) -> _OpenSegment:
        """The open file of a segment, cached because pages are read in order."""
        if self._open_for_reading is None or self._open_for_reading.segment != segment:
            path = self._path(segment)
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._end_reading()
            self._open_for_reading = _OpenSegment(segment, fd, path)
        return self._open_for_reading

    def _end_reading(self) -> None:
        if self._open_for_reading is not None:
            os.close(self._open_for_reading.fd)
            self._open_for_reading = None

    def _close_segment(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _rotate(self) -> None:
        self.flush()
        self._close_segment()
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
        """Recover the last segment; returns the adopted blobs and the cut bytes."""
        row = self._database.read(
            "SELECT segment, max(offset + length) FROM blobs"
            " WHERE segment = (SELECT max(segment) FROM blobs)"
        )[0]
        indexed_segment = row[0] if row[0] is not None else 1
        indexed_end = row[1] + HEAD_BYTES if row[0] is not None else 0
        adopted = cut = 0
        on_disk = [
            int(path.stem) for path in self._folder.glob(f"*{SUFFIX}") if path.stem.isdecimal()
        ]
        self._segment = max([indexed_segment, *on_disk])
        for segment in range(indexed_segment, self._segment + 1):
            start = indexed_end if segment == indexed_segment else 0
            taken, lost = self._adopt_tail(segment, start)
            adopted += taken
            cut += lost
        self._database.commit()
        return adopted, cut

    def _adopt_tail(self, segment: int, start: int) -> tuple[int, int]:
        path = self._path(segment)
        size = path.stat().st_size if path.exists() else 0
        if size < start:
            raise StorageDamaged(
                f"{path} has {size} bytes where the index knows of {start}: it was cut or replaced"
            )
        adopted, end = self._adopt_records(segment, path, start, size)
        if size > end:
            os.truncate(path, end)
        if adopted:  # a killed process may not have synced these records
            _sync_file(path)
        self._end = end
        return adopted, size - end

    def _adopt_records(self, segment: int, path: Path, start: int, size: int) -> tuple[int, int]:
        adopted, end = 0, start
        if size == start:
            return adopted, end
        with path.open("rb") as file:
            file.seek(start)
            while place := place_in(file.read(HEAD_BYTES), segment, end):
                key, where = place
                try:
                    unpack_frame(file.read(where.length), key, path)
                except StorageDamaged:
                    break
                self._database.write(
                    "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?)", (key, *where)
                )
                adopted += 1
                end += HEAD_BYTES + where.length
        return adopted, end


def _sync_file(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
