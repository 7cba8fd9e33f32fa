"""Import WARC files and WACZ packages as captures: records in order, one commit per batch.

A record may refer to bytes that come later, or in another file of a package. Unresolved records are
therefore tried again at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.warc.reader import (
    NO_RECORD,
    Broken,
    WarcReader,
    WarcRecord,
    looks_like_warc,
    read_warc,
)
from crawl4r.archive.warc.wacz_reader import ZIP_MAGIC, Inner, warcs_in
from crawl4r.errors import UsageError
from crawl4r.transfer.import_records import ImportCounts, ImportedPage, Importer
from crawl4r.transfer.warc_page import Bad, PageMaker, Skip
from crawl4r.urls.canonical import CanonicalRules

_NAMES = (".warc", ".warc.gz", ".warc.zst", ".wacz")
_MOST_TOLD = 100  # damages to report; further ones are only counted
_UNKNOWN = "unknown-original"
_CROWDED = "too-many-at-a-moment"


class Damage(NamedTuple):
    """A part of a file that could not be read."""

    file: str
    offset: int
    reason: str


class ArchiveCounts(NamedTuple):
    """The results for the records of an archive."""

    added: int
    unchanged: int  # already in the workspace
    skipped: dict[str, int]  # by reason
    broken: int
    damages: list[Damage]  # the first ones


def is_archive(path: Path) -> bool:
    """Whether to read a file as WARC or WACZ, by its first bytes.

    Raises UsageError when only its name fits.
    """
    with path.open("rb") as file:
        start = file.read(8)
    if looks_like_warc(start) or start.startswith(ZIP_MAGIC):
        return True
    if path.name.endswith(_NAMES):
        raise UsageError(
            f"{path} is no WARC or WACZ file, whatever its name says: it "
            + (f"begins with {start!r}" if start else "is empty")
        )
    return False


class ArchiveImport:
    """The import of one archive."""

    def __init__(
        self,
        path: Path,
        importer: Importer,
        rules: CanonicalRules,
        largest: int,
        on_progress: Callable[[int], None],
    ) -> None:
        """`largest` caps a body, packed and unpacked; `on_progress` receives the read bytes."""
        self._path = path
        self._importer = importer
        self._rules = rules
        self._largest = largest
        self._on_progress = on_progress
        self._skipped: Counter[str] = Counter()
        self._broken = 0
        self._damages: list[Damage] = []
        self._is_again = False

    def steps(self) -> Generator[None, None, ArchiveCounts]:
        """Import all of it; goes on after each batch that is durable. Returns what became of it."""
        counts = yield from self._keep_all()
        if counts.unresolved:
            self._is_again = True
            again = yield from self._keep_all()
            added, crowded = counts.added + again.added, counts.crowded + again.crowded
            counts = ImportCounts(added, counts.unchanged, again.unresolved, crowded)
            self._skipped[_UNKNOWN] += again.unresolved
        self._skipped[_CROWDED] += counts.crowded
        skipped = {reason: count for reason, count in sorted(self._skipped.items()) if count}
        return ArchiveCounts(counts.added, counts.unchanged, skipped, self._broken, self._damages)

    def _keep_all(self) -> Generator[None, None, ImportCounts]:
        counts = ImportCounts(0, 0)
        for counts in self._importer.keep(self._pages()):  # noqa: B007 - the last ones are the totals
            yield
        return counts

    def _pages(self) -> Iterator[ImportedPage]:
        done = 0
        for inner in self._files():
            if inner.file is None:
                self._note_damage(inner.name, 0, inner.problem)
                continue
            reader = read_warc(inner.file, self._largest)
            yield from self._pages_of(reader, inner.name, done)
            done += reader.consumed

    def _files(self) -> Iterator[Inner]:
        with self._path.open("rb") as file:
            if file.read(4) == ZIP_MAGIC:
                yield from warcs_in(self._path)
            else:
                file.seek(0)
                yield Inner(self._path.name, file)

    def _pages_of(self, reader: WarcReader, name: str, before: int) -> Iterator[ImportedPage]:
        maker = PageMaker(self._rules, self._largest)
        for item in reader:
            if isinstance(item, Broken):
                self._refuse_what_is_no_warc(item)
                self._note_damage(name, *item)
                continue
            if page := self._page_of(item, maker, name):
                yield page
            if not self._is_again:
                self._on_progress(before + reader.consumed)

    def _page_of(self, record: WarcRecord, maker: PageMaker, name: str) -> ImportedPage | None:
        try:
            page = maker.page_of(record)
        except Skip as skip:
            if not self._is_again:
                self._skipped[str(skip)] += 1
            return None
        except Bad as bad:
            self._note_damage(name, record.offset, str(bad))
            return None
        return page if page and (page.refers_to or not self._is_again) else None

    def _note_damage(self, name: str, offset: int, reason: str) -> None:
        if self._is_again:
            return
        self._broken += 1
        if len(self._damages) < _MOST_TOLD:
            self._damages.append(Damage(name, offset, reason))

    def _refuse_what_is_no_warc(self, broken: Broken) -> None:
        """Raise UsageError for a packed file without a WARC file in it."""
        if broken == (0, NO_RECORD) and not self._path.name.endswith(".wacz"):
            raise UsageError(
                f"{self._path} is packed, but there is no WARC file in it: unpack it first"
            )
