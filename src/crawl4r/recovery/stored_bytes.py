"""The bytes of a store, found and checked without its index. See `outcome.StoredBytes`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from crawl4r.archive.blobs.segment_scan import SegmentScan, holds, pieces_of, segments_in
from crawl4r.recovery.outcome import Outcome
from crawl4r.storage.database import Database

_AT_ONCE = 1_000  # records a transaction
_FILE = re.compile(r"([0-9a-f]{64})\.(?:html|bin)\.zst")
_LARGEST = 2**32  # bytes of a body; no record of a segment can have more
DAMAGED = ".damaged"  # what the name of a damaged file ends with, once it is out of the way


class SegmentBytes:
    """Records of segments; the index of the whole ones is the table `blobs`."""

    kind = "segments"

    def __init__(self, folder: Path, database: Database) -> None:
        self._database = database
        self._scans = [SegmentScan(path) for path in segments_in(folder)]
        self.size = sum(scan.size for scan in self._scans)

    def index(self, outcome: Outcome, on_read: Callable[[int], None]) -> None:
        before = 0
        for scan in self._scans:
            for number, record in enumerate(scan.records(), 1):
                row = (record.key, *record.place)
                self._database.write("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?)", row)
                if number % _AT_ONCE == 0:
                    self._database.commit()
                    on_read(before + record.place.offset)
            before += scan.size
            on_read(before)
            outcome.damaged_records += scan.damaged
            outcome.damaged_bytes += scan.lost_bytes
        self._database.commit()
        ((outcome.stored, outcome.stored_bytes),) = self._database.read(
            "SELECT count(*), coalesce(sum(length), 0) FROM blobs"
        )

    def has(self, sha256: str) -> bool:
        sql = "SELECT 1 FROM blobs WHERE sha256 = ?"
        return bool(self._database.read(sql, (bytes.fromhex(sha256),)))

    def without_line(self) -> int:
        return _unnamed(self._database, "blobs")

    def put_damaged_aside(self) -> None:
        """Records stay where they are: the table does not name damaged ones."""


class FileBytes:
    """One file a page."""

    kind = "files"

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder
        self._database = database
        self._damaged: list[Path] = []
        database.write(
            "CREATE TEMP TABLE found (sha256 BLOB PRIMARY KEY, length INTEGER) WITHOUT ROWID"
        )
        self.size = sum(path.stat().st_size for path, _ in self._files())

    def index(self, outcome: Outcome, on_read: Callable[[int], None]) -> None:
        done = 0
        for path, key in self._files():
            size = path.stat().st_size
            if holds(pieces_of(path), key, _LARGEST):
                self._database.write("INSERT OR IGNORE INTO found VALUES (?, ?)", (key, size))
            else:
                self._damaged.append(path)
                outcome.damaged_records += 1
                outcome.damaged_bytes += size
            done += size
            on_read(done)
        self._database.commit()
        ((outcome.stored, outcome.stored_bytes),) = self._database.read(
            "SELECT count(*), coalesce(sum(length), 0) FROM found"
        )

    def has(self, sha256: str) -> bool:
        sql = "SELECT 1 FROM found WHERE sha256 = ?"
        return bool(self._database.read(sql, (bytes.fromhex(sha256),)))

    def without_line(self) -> int:
        return _unnamed(self._database, "found")

    def put_damaged_aside(self) -> None:
        """So that a page with the same bytes is stored again."""
        for path in self._damaged:
            path.rename(path.with_name(path.name + DAMAGED))

    def _files(self) -> Iterator[tuple[Path, bytes]]:
        for path in sorted(self._folder.glob("??/??/*.zst")):
            match = _FILE.fullmatch(path.name)
            if match and path.is_file():
                yield path, bytes.fromhex(match[1])


def open_stored(store: Path, database: Database) -> SegmentBytes | FileBytes:
    """The kind of store that has more bytes; a workspace has one."""
    segments, files = (
        SegmentBytes(store / "segments", database),
        FileBytes(store / "html", database),
    )
    return files if files.size > segments.size else segments


def _unnamed(database: Database, table: str) -> int:
    ((count,),) = database.read(
        f"SELECT count(*) FROM {table} WHERE sha256 NOT IN"
        " (SELECT sha256 FROM captures WHERE sha256 IS NOT NULL)"
    )
    return int(count)
