"""logs/edges.csv: the links of every kept page, following the captures from a cursor.

    captures after the cursor ──> bytes ──> rows ──> file, synced ──> cursor and length, committed

Opening the file cuts it at the noted length, so that a crash neither loses, doubles nor tears rows. A
capture with the same bytes as the URL's previous good capture adds no rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawl4r import events
from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import Captures
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.archive.earlier import EarlierBytes
from crawl4r.archive.follower import CaptureFollower
from crawl4r.errors import StorageDamaged
from crawl4r.formats.csv_line import EDGES_HEADER
from crawl4r.logs.edge_rows import EdgePage, edge_page
from crawl4r.logs.safe_edges import read_edges
from crawl4r.model import Capture
from crawl4r.processes.sandbox import Sandbox
from crawl4r.storage.database import Database
from crawl4r.storage.line_file import LineFile
from crawl4r.storage.tables import Notes
from crawl4r.urls.canonical import CanonicalRules
from crawl4r.urls.policy import spelling_as_json

_NOTE = "edges"


class EdgeLog(CaptureFollower):
    """Appends batches to the file. `sandbox` runs `entries.EDGE_READER`."""

    def __init__(
        self,
        path: Path,
        rules: CanonicalRules,
        database: Database,
        captures: Captures,
        blobs: Blobs,
        sandbox: Sandbox,
    ) -> None:
        super().__init__(captures)
        self._rules = spelling_as_json(rules)
        self._database = database
        self._blobs = blobs
        self._sandbox = sandbox
        self._earlier = EarlierBytes(database)
        self._dropped = DroppedBytes(database, blobs.locate)
        self._notes = Notes(database)
        self._file = LineFile(path, EDGES_HEADER)
        self._cursor = self._open()

    def _open(self) -> int:
        """Continue the file at its noted length; begin a new one after a change of the rules."""
        noted = read_note(self._notes)
        if noted and noted["rules"] == self._rules:
            cursor, length = noted["capture"], noted["bytes"]
            is_whole = self._file.has_header() and self._file.ends_a_line(length)
            if is_whole and cursor <= self._captures.last_id():
                self._file.cut(length)
                return int(cursor)
        self._file.cut(0)
        self._file.sync()
        self._note(0)
        return 0

    @property
    def cursor(self) -> int:
        return self._cursor

    async def _process(self, batch: Sequence[Capture]) -> None:
        news = self._earlier.news(batch[0].id, batch[-1].id)
        kept = (self._page_of(capture) for capture in batch if capture.id in news)
        pages = [page for page in kept if page]
        rows = await read_edges(self._sandbox, pages)
        for page, edges in zip(pages, rows, strict=True):
            if edges.note:
                events.emit(events.PAGE_UNREADABLE, 30, url=page.url, reason=edges.note)
        if data := "".join(edges.text for edges in rows).encode("utf-8", "replace"):
            self._file.append(data, sync=True)
        self._cursor = batch[-1].id
        self._note(self._cursor)

    def close(self) -> None:
        self._file.close()

    def _note(self, cursor: int) -> None:
        put_note(self._notes, cursor, self._file.end, self._rules)
        self._database.commit()

    def _page_of(self, capture: Capture) -> EdgePage | None:
        assert capture.sha256 is not None
        body = self._blobs.read(capture.sha256)
        if body is None and self._dropped.of(capture.sha256):
            return None
        if body is None:
            raise StorageDamaged(
                f"the bytes of {capture.url} ({capture.sha256}) are not in the store"
            )
        return edge_page(capture, body)


def read_note(notes: Notes) -> dict[str, Any] | None:
    """The length and the rules of the file; None to begin a new one."""
    text = notes.get(_NOTE)
    return dict(json.loads(text)) if text else None


def put_note(notes: Notes, cursor: int, length: int, rules: dict[str, Any]) -> None:
    notes.put(_NOTE, json.dumps({"capture": cursor, "bytes": length, "rules": rules}))


def forget_note(notes: Notes) -> None:
    """Make the next crawl begin a new file."""
    notes.forget(_NOTE)
