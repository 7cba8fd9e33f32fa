"""The CDXJ index beside WARC files: a sorted line per record, for replay tools.

Until all lines are known, a temporary database on disk keeps them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO

from crawl4r.archive.warc.records import IndexEntry, warc_date
from crawl4r.archive.warc.surt import surt_key
from crawl4r.archive.warc.writer import RecordPlace
from crawl4r.errors import StorageFull

_CACHE_KIB = 16 * 1024
_BLOCK = 1024  # lines per block of a compressed index
_NOT_DIGITS = re.compile(r"\D")
_SCHEMA = """
CREATE TABLE lines (line BLOB NOT NULL);
CREATE TABLE bodies (sha256 BLOB PRIMARY KEY, capture INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, at REAL NOT NULL);
BEGIN;
"""
_PAGE = """
INSERT INTO pages (url, at) VALUES (?, ?)
ON CONFLICT (url) DO UPDATE SET at = max(at, excluded.at)
"""


class ExportNotes:
    """Notes about an export on disk: written bodies, index lines, pages."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None)
        for pragma in (f"cache_size = -{_CACHE_KIB}", "journal_mode = OFF", "synchronous = OFF"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def source_of(self, sha256: str) -> int | None:
        """The capture that wrote these bytes, or None."""
        rows = self._run("SELECT capture FROM bodies WHERE sha256 = ?", bytes.fromhex(sha256))
        return next((int(row[0]) for row in rows), None)

    def note_body(self, sha256: str, capture: int) -> None:
        self._run("INSERT OR IGNORE INTO bodies VALUES (?, ?)", bytes.fromhex(sha256), capture)

    def note_line(self, line: bytes) -> None:
        self._run("INSERT INTO lines VALUES (?)", line)

    def note_page(self, url: str, at: float) -> None:
        self._run(_PAGE, url, at)

    def note_page_again(self, url: str, at: float) -> None:
        """Like `note_page`, but only for a known page."""
        self._run("UPDATE pages SET at = max(at, ?) WHERE url = ?", at, url)

    def lines(self) -> Iterator[bytes]:
        """The lines sorted by bytes, which sorts them by key and time."""
        return (row[0] for row in self._run("SELECT line FROM lines ORDER BY line"))

    def pages(self) -> Iterator[tuple[str, float]]:
        """URL and latest time of each page, in the order of first captures."""
        return iter(self._run("SELECT url, at FROM pages ORDER BY id"))

    def _run(self, sql: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except sqlite3.Error as problem:
            raise StorageFull(f"cannot write the notes of an export: {problem}") from problem


@contextlib.contextmanager
def export_notes() -> Iterator[ExportNotes]:
    notes = ExportNotes()
    try:
        yield notes
    finally:
        notes.close()


def cdxj_line(entry: IndexEntry, place: RecordPlace) -> bytes:
    """`key timestamp {...}` with the fields of pywb's indexer, in its order."""
    fields = {"url": entry.url}
    if entry.mime is not None:
        fields["mime"] = entry.mime
    if entry.status is not None:
        fields["status"] = str(entry.status)
    fields["digest"] = entry.digest
    fields["length"], fields["offset"] = str(place.length), str(place.offset)
    fields["filename"] = place.file
    moment = _NOT_DIGITS.sub("", warc_date(entry.at)[:19])
    return f"{surt_key(entry.url)} {moment} {json.dumps(fields)}\n".encode()


def write_packed(lines: Iterable[bytes], out: IO[bytes], out_name: str) -> bytes:
    """Write lines in packed blocks; returns the text of the index over the blocks."""
    head = json.dumps({"format": "cdxj-gzip-1.0", "filename": out_name})
    index = [f"!meta 0 {head}\n".encode()]
    offset = 0
    rest = iter(lines)
    while block := list(islice(rest, _BLOCK)):
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
        packed = packer.compress(b"".join(block)) + packer.flush()
        out.write(packed)
        first = block[0].partition(b"{")[0].strip()
        digest = f"sha256:{hashlib.sha256(packed).hexdigest()}"
        where = {"offset": offset, "length": len(packed), "digest": digest}
        index.append(first + f" {json.dumps(where)}\n".encode())
        offset += len(packed)
    return b"".join(index)
