"""Pages that others have collected come into a workspace, and become documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

from crawl4r.settings.load import Settings
from crawl4r.transfer.import_records import Importer, read_records, refuse_other_files
from crawl4r.transfer.import_warc import ArchiveCounts, ArchiveImport, is_archive
from crawl4r.wiring.frontier import make_frontier
from crawl4r.wiring.parts import Parts

_Result = TypeVar("_Result")
_IMPORTED = "imported"  # the crawl of a store that was never crawled


async def import_into(
    parts: Parts, settings: Settings, file: Path, on_progress: Callable[[int], None]
) -> ArchiveCounts:
    """Keep the records of JSON lines, WARC or WACZ as captures.

    `on_progress` is called with the bytes of an archive that were read. The event loop is free between
    two batches.
    """
    crawl = parts.crawls.last() or parts.crawls.add(_IMPORTED, parts.clock.wall())
    importer = Importer(
        parts.database,
        make_frontier(parts, crawl.id, settings),
        parts.captures,
        parts.blobs,
        parts.notes_of(crawl.id),
    )
    rules = settings.scope.canonical()
    if is_archive(file):
        largest = settings.fetch.max_decoded_bytes
        return await _exhaust(ArchiveImport(file, importer, rules, largest, on_progress).steps())
    refuse_other_files(file)
    added = unchanged = 0
    with file.open(encoding="utf-8", errors="surrogateescape") as lines:
        records = read_records(lines, str(file), rules, parts.clock.wall())
        for counts in importer.keep(records):
            added, unchanged = counts.added, counts.unchanged
            await asyncio.sleep(0)
    return ArchiveCounts(added, unchanged, {}, 0, [])


async def _exhaust(steps: Generator[None, None, _Result]) -> _Result:
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]
        await asyncio.sleep(0)
