"""Rewrite the logs of a workspace from state.db and the store.

captures ──> lines of pages and metadata ────────────────────────┐
    └──> bytes, checked ──> reading processes: rows of links ────┴──> files, in order
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import Captures
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.archive.earlier import EarlierBytes
from crawl4r.archive.lines.capture_log import LineForm
from crawl4r.archive.lines.metadata_jsonl import METADATA
from crawl4r.archive.lines.pages_csv import PAGES
from crawl4r.errors import StorageDamaged
from crawl4r.formats.csv_line import EDGES_HEADER
from crawl4r.logs.edge_rows import EdgePage, Edges, edge_page
from crawl4r.logs.safe_edges import read_edges
from crawl4r.model import Capture, Verdict
from crawl4r.processes.sandbox import Sandbox
from crawl4r.storage.database import Database

FORMS: dict[str, LineForm] = {"pages": PAGES, "metadata": METADATA}
EDGES = "edges"
HEADERS = {name: form.header for name, form in FORMS.items()} | {EDGES: EDGES_HEADER}

_BATCH = 16  # captures
_AT_ONCE = 256  # captures a query
_BATCH_BYTES = 4 * 1024**2
_AHEAD = 3  # concurrent batches for each reading process


class Sink(Protocol):
    """Receives the bytes of a file in order."""

    def take(self, kind: str, data: bytes) -> None: ...


class ReplayReport(Struct):
    """The result of a replay. Pairs hold a URL and its problem.

    `damaged`: stored bytes with a wrong hash. `unreadable`: pages without all their edges. `dropped`:
    captures whose bytes gc removed, which have no edges.
    """

    captures: int = 0
    edges: int = 0
    dropped: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)


class _Batch(NamedTuple):
    captures: Sequence[Capture]
    pages: Sequence[EdgePage]  # the captures that may contain links
    damaged: Sequence[tuple[str, str]]
    dropped: int


class Replay:
    """Writes the files of `kinds`. `sandbox` runs `entries.EDGE_READER` in `workers` processes."""

    def __init__(
        self,
        database: Database,
        captures: Captures,
        blobs: Blobs,
        sandbox: Sandbox,
        workers: int,
        kinds: Sequence[str],
    ) -> None:
        self._captures = captures
        self._earlier = EarlierBytes(database)
        self._dropped = DroppedBytes(database, blobs.locate)
        self._blobs = blobs
        self._sandbox = sandbox
        self._ahead = workers * _AHEAD
        self._forms = {kind: FORMS[kind] for kind in kinds if kind in FORMS}
        self._wants_edges = EDGES in kinds

    async def run(
        self, last: int, sink: Sink, on_progress: Callable[[int], None] | None = None
    ) -> ReplayReport:
        """Send everything up to the capture `last` to the sink, in order."""
        report = ReplayReport()
        underway: deque[tuple[_Batch, asyncio.Task[list[Edges]]]] = deque()

        async def hand_over() -> None:
            batch, rows = underway[0]
            self._hand_over(batch, await rows, sink, report)
            underway.popleft()
            if on_progress:
                on_progress(len(batch.captures))

        try:
            for captures in self._batches(last):
                batch = self._read(captures)
                reading = asyncio.create_task(read_edges(self._sandbox, batch.pages))
                underway.append((batch, reading))
                while len(underway) >= self._ahead:
                    await hand_over()
            while underway:
                await hand_over()
        finally:
            for _, task in underway:
                task.cancel()
            await asyncio.gather(*(task for _, task in underway), return_exceptions=True)
        return report

    def _batches(self, last: int) -> Iterator[list[Capture]]:
        """Batches of captures, smaller for large captures."""
        batch: list[Capture] = []
        size = 0
        for capture in self._up_to(last):
            batch.append(capture)
            size += capture.bytes
            if len(batch) == _BATCH or size > _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _up_to(self, last: int) -> Iterator[Capture]:
        """In parts: a long query would not see that a gc beside it moves bytes."""
        cursor = 0
        while part := list(islice(self._captures.after(cursor), _AT_ONCE)):
            yield from (capture for capture in part if capture.id <= last)
            cursor = part[-1].id
            if cursor >= last:
                return

    def _read(self, captures: Sequence[Capture]) -> _Batch:
        """Read all bytes of these captures, and check their hashes."""
        if not self._wants_edges:
            return _Batch(captures, (), (), 0)
        news = self._earlier.news(captures[0].id, captures[-1].id)
        pages: list[EdgePage] = []
        damaged: list[tuple[str, str]] = []
        dropped = 0
        for capture in captures:
            if capture.id not in news and not _is_unread(capture):
                continue
            assert capture.sha256 is not None
            try:
                body = self._blobs.read(capture.sha256)
            except StorageDamaged as problem:
                damaged.append((capture.url, str(problem)))
                continue
            if body is None and self._dropped.of(capture.sha256):
                dropped += 1
            elif body is None:
                damaged.append((capture.url, f"{capture.sha256} is not in the store"))
            elif capture.id in news and (page := edge_page(capture, body)):
                pages.append(page)
        return _Batch(captures, pages, damaged, dropped)

    def _hand_over(
        self, batch: _Batch, rows: Sequence[Edges], sink: Sink, report: ReplayReport
    ) -> None:
        paths = [self._blobs.locate(c.sha256) if c.sha256 else "" for c in batch.captures]
        for kind, form in self._forms.items():
            pairs = zip(batch.captures, paths, strict=True)
            lines = [form.line(c, path, self._captures.crawl_name(c.crawl)) for c, path in pairs]
            sink.take(kind, b"".join(line + b"\n" for line in lines))
        if self._wants_edges:
            sink.take(EDGES, "".join(edges.text for edges in rows).encode("utf-8", "replace"))
        report.captures += len(batch.captures)
        report.edges += sum(edges.rows for edges in rows)
        report.damaged += batch.damaged
        report.dropped += batch.dropped
        notes = zip(batch.pages, rows, strict=True)
        report.unreadable += [(page.url, edges.note) for page, edges in notes if edges.note]


def _is_unread(capture: Capture) -> bool:
    """Whether the capture has bytes of a rejected page, of which only the hash is checked."""
    return capture.sha256 is not None and capture.verdict not in {Verdict.OK, Verdict.NOT_MODIFIED}
