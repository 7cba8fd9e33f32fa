"""Export captures as WARC files with an index, or as a WACZ package.

captures in their order ──> body ──> response, or revisit if it was written before ──> files
                                                                    │
                         index lines, sorted at the end <───────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct

from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import Captures
from crawl4r.archive.documents import Documents
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.archive.requests import Requests
from crawl4r.archive.warc.cdxj import ExportNotes, cdxj_line, export_notes, write_packed
from crawl4r.archive.warc.records import IndexEntry, Record, RecordWriter, record_kind_of
from crawl4r.archive.warc.wacz_writer import WaczWriter, about, page_lines
from crawl4r.archive.warc.writer import (
    SUFFIXES,
    Packing,
    PartFiles,
    RecordPlace,
    WarcSeries,
    remove_leftovers,
)
from crawl4r.errors import StorageDamaged, UsageError
from crawl4r.fetch.headers import validator_lines
from crawl4r.formats.media_kind import Kind, kind_of
from crawl4r.model import Capture, Validators, Verdict
from crawl4r.urls.canonical import split

_AT_ONCE = 256  # captures per read, so that no transaction stays open for long
_WACZ_NAME = "data"


class Archive(Struct, frozen=True):
    """The parts of a workspace that an export reads."""

    captures: Captures
    blobs: Blobs
    requests: Requests
    documents: Documents
    dropped: DroppedBytes


class Selection(NamedTuple):
    """The captures to export; all by default."""

    site: str = ""  # host, or host:port
    since: float | None = None  # epoch seconds
    until: float | None = None

    def wants(self, capture: Capture) -> bool:
        parts = split(capture.url)
        return (
            (not self.site or self.site in {parts.host, parts.netloc})
            and (self.since is None or capture.fetched_at >= self.since)
            and (self.until is None or capture.fetched_at <= self.until)
        )


class ExportResult(NamedTuple):
    captures: int
    revisits: int  # records for bytes that the export already holds
    records: int
    bytes: int  # of the WARC files
    files: list[str]
    index_file: str
    dropped: int  # captures whose bytes gc has removed: they have no record


def export_warc(
    archive: Archive,
    out: Path,
    name: str,
    packing: Packing,
    max_size: int,
    facts: Mapping[str, str],
    selection: Selection,
    on_progress: Callable[[int], None],
) -> ExportResult:
    """Write a file, or a series of files into a folder, with `index.cdxj` or one beside the file."""
    single = single_file_packing(out)
    files = PartFiles(out.parent if single else out)
    if single:
        name, packing = out.name.removesuffix(SUFFIXES[single]), single
    index_name = f"{name}.cdxj" if single else "index.cdxj"
    with export_notes() as notes, files.publishing():
        export = _ExportPass(archive, notes, facts, selection)
        series = export.series(name, packing, None if single else max_size, files.open)
        with closing(series):
            export.write_all(series, on_progress)
        with files.open(index_name) as index:
            index.writelines(notes.lines())
    if not single:
        remove_leftovers(out, name, series.names)
    paths = [str(files.folder / file) for file in series.names]
    return export.result(series, paths, str(files.folder / index_name))


def export_wacz(
    archive: Archive,
    out: Path,
    name: str,
    max_size: int,
    facts: Mapping[str, str],
    selection: Selection,
    on_progress: Callable[[int], None],
) -> ExportResult:
    """Write a package for replay tools."""
    files = PartFiles(out.parent)
    with export_notes() as notes, files.publishing(), files.open(out.name) as file:
        export = _ExportPass(archive, notes, facts, selection)
        with closing(WaczWriter(file, export.last.fetched_at)) as package:
            series = export.series(
                _WACZ_NAME, Packing.GZIP, max_size, lambda part: package.open(f"archive/{part}")
            )
            with closing(series):
                export.write_all(series, on_progress)
            with package.open("indexes/index.cdx.gz") as index:
                blocks = write_packed(notes.lines(), index, "index.cdx.gz")
            package.add("indexes/index.idx", blocks)
            with package.open("pages/pages.jsonl") as pages:
                pages.writelines(page_lines(notes.pages(), archive.documents))
            package.finish(about(name, facts["software"], next(notes.pages(), None)))
    return export.result(series, [str(out)], "")


def single_file_packing(out: Path) -> Packing | None:
    """The packing of a file of this name; None for a folder."""
    found = (packing for packing, suffix in SUFFIXES.items() if out.name.endswith(suffix))
    return next(found, None)


class _ExportPass:
    """One pass over the captures."""

    def __init__(
        self, archive: Archive, notes: ExportNotes, facts: Mapping[str, str], selection: Selection
    ) -> None:
        self._archive = archive
        self._notes = notes
        self._facts = facts
        self._selection = selection
        self._records = RecordWriter()
        self._captures = 0
        self._revisits = 0
        self._dropped = 0
        # A crawl may run meanwhile; this export excludes its new captures.
        last = archive.captures.by_id(archive.captures.last_id())
        if last is None:
            raise UsageError("nothing to export: there is no capture yet")
        self.last = last

    def series(
        self,
        name: str,
        packing: Packing,
        max_size: int | None,
        open_file: Callable[[str], IO[bytes]],
    ) -> WarcSeries:
        return WarcSeries(name, packing, max_size, open_file, self._warcinfo, self._note_entry)

    def write_all(self, series: WarcSeries, on_progress: Callable[[int], None]) -> None:
        for batch in self._batches():
            for capture in filter(self._selection.wants, batch):
                if self._archive.dropped.of(capture.sha256):
                    self._dropped += 1
                    continue
                for records in self._records_of(capture):
                    series.write(records)
                    self._captures += 1
            on_progress(len(batch))
        if not self._captures:
            raise UsageError("nothing to export: no capture is of that site and time")

    def result(self, series: WarcSeries, files: list[str], index: str) -> ExportResult:
        return ExportResult(
            self._captures,
            self._revisits,
            series.records,
            series.bytes,
            files,
            index,
            self._dropped,
        )

    def _batches(self) -> Iterator[list[Capture]]:
        cursor = 0
        while cursor < self.last.id:
            batch = list(islice(self._archive.captures.after(cursor), _AT_ONCE))
            yield [capture for capture in batch if capture.id <= self.last.id]
            cursor = batch[-1].id

    def _records_of(self, capture: Capture) -> Iterator[list[Record]]:
        """The records of a capture, after those of an earlier capture that it refers to."""
        earlier = self._archive.captures.good_before(capture)
        sent = self._sent_for(capture, earlier)
        original = self._original_of(capture)
        is_304 = capture.verdict is Verdict.NOT_MODIFIED
        if is_304 and original is None and earlier and earlier.sha256 == capture.sha256:
            yield from self._records_of(earlier)  # outside of the requested period
            original = earlier
        came_again = is_304 or (capture.bytes and record_kind_of(capture) == "response")
        if original is not None and came_again:
            self._revisits += 1
            self._note_page(capture, b"")
            yield self._records.revisit(capture, original, sent)
        elif is_304:
            yield self._records.response(capture._replace(sha256=None), b"", sent)
        else:
            body = self._body_of(capture)
            if capture.sha256:
                self._notes.note_body(capture.sha256, capture.id)
            self._note_page(capture, body)
            yield self._records.response(capture, body, sent)

    def _original_of(self, capture: Capture) -> Capture | None:
        """The earlier capture that wrote the same bytes."""
        number = self._notes.source_of(capture.sha256) if capture.sha256 else None
        return self._archive.captures.by_id(number) if number is not None else None

    def _sent_for(self, capture: Capture, earlier: Capture | None) -> list[str] | None:
        """The header lines of the request, with the validators of the last good visit."""
        if capture.request is None:
            return None
        lines = self._archive.requests.headers(capture.request)
        if lines is None or earlier is None:
            return lines
        return lines + validator_lines(Validators(earlier.etag, earlier.last_modified))

    def _body_of(self, capture: Capture) -> bytes:
        if capture.sha256 is None:
            return b""
        body = self._archive.blobs.read(capture.sha256)
        if body is None:
            raise StorageDamaged(
                f"the bytes of {capture.url} ({capture.sha256}) are not in the store"
            )
        return body

    def _note_page(self, capture: Capture, body: bytes) -> None:
        if capture.verdict is Verdict.OK and kind_of(capture.content_type, body) is Kind.HTML:
            self._notes.note_page(capture.url, capture.fetched_at)
        elif capture.verdict is Verdict.NOT_MODIFIED:
            self._notes.note_page_again(capture.url, capture.fetched_at)

    def _warcinfo(self, file_name: str) -> Record:
        return self._records.warcinfo(file_name, self.last, self._facts)

    def _note_entry(self, entry: IndexEntry, place: RecordPlace) -> None:
        self._notes.note_line(cdxj_line(entry, place))
