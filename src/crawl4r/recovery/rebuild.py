"""Make a new state.db from the lines of the metadata, the bytes of the store, and what is left.

    damaged state.db ──> crawls, URLs, hosts, collections ──┐
    store ──> whole bodies, by their hashes ────────────────┼──> state.db.recovering
    metadata lines ──> captures ──> URLs without a row ─────┘

Documents follow when it stands in its place: the ordinary documenter makes them.
"""

from __future__ import annotations

from pathlib import Path

from crawl4r.archive.documents import Documents
from crawl4r.archive.lines.metadata_reading import MetadataLines
from crawl4r.recovery.captures import CaptureRecovery
from crawl4r.recovery.crawls import ask_for_whole_pages, bring_back_urls, name_crawls
from crawl4r.recovery.outcome import LINES, STORE, OnProgress, Outcome, StoredBytes
from crawl4r.recovery.salvaged_tables import CAPTURES
from crawl4r.recovery.salvaging import LINKS, nothing_salvaged, salvage_tables
from crawl4r.recovery.totals import count_again
from crawl4r.storage.database import Database
from crawl4r.storage.salvage import Salvage
from crawl4r.storage.tables import Notes

UNFINISHED = "recovery"  # a note while documents are missing


def rebuild(
    database: Database,
    stored: StoredBytes,
    lines: Path,
    damaged: Path | None,
    now: float,
    outcome: Outcome,
    on_progress: OnProgress,
) -> None:
    """Fill a new, empty state.db. `damaged` is a copy of the damaged one; None when there is none."""
    captures = CaptureRecovery(database, stored, outcome)
    if damaged is None:
        nothing_salvaged(outcome, "only state.db knew it")
    else:
        _salvage(damaged, database, captures, lines, outcome)
    stored.index(outcome, lambda done: on_progress(STORE, done, stored.size))
    size = lines.stat().st_size if lines.is_file() else 0
    if size:
        reading = MetadataLines(lines)
        captures.bring_back(reading, lambda done: on_progress(LINES, done, size))
    outcome.without_line = stored.without_line()
    bring_back_urls(database, outcome)
    if any(loss.what == LINKS for loss in outcome.lost):
        ask_for_whole_pages(database)
    count_again(database)
    notes = Notes(database)
    if stored.size:
        notes.put("store", stored.kind)
    notes.put(UNFINISHED, "documents")
    Documents(database).begin_anew(int(now))
    database.commit()


def _salvage(
    damaged: Path,
    database: Database,
    captures: CaptureRecovery,
    lines: Path,
    outcome: Outcome,
) -> None:
    with Salvage(damaged) as salvage:
        if salvage.why_nothing:
            nothing_salvaged(outcome, salvage.why_nothing)
            return
        salvage_tables(salvage, database, outcome)
        captures.note_told(salvage)
        if why := salvage.unread.get(CAPTURES.name):
            outcome.lose("which headers were sent and received", why)
    first = next(MetadataLines(lines).captures(), None) if lines.is_file() else None
    name_crawls(database, first[0].crawl if first else None)
