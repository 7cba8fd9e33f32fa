"""Open the parts of a workspace that every command needs, for writing or only for reading."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from msgspec import Struct

from crawl4r.archive.blobs.files import FileBlobs
from crawl4r.archive.blobs.none import NoBlobs
from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.archive.captures import Captures
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.errors import SettingsError, StorageDamaged, WorkspaceError
from crawl4r.reports.url_story import Reporter
from crawl4r.safe_text import command_line
from crawl4r.settings.load import Settings
from crawl4r.storage.crawls import STORE, CrawlNotes, Crawls
from crawl4r.storage.database import Database
from crawl4r.storage.layout import refuse_foreign_state, refuse_occupied
from crawl4r.storage.lock import WorkspaceLock
from crawl4r.storage.tables import Notes
from crawl4r.urls.policy import LinkRules

METADATA_FILE = Path("metadata", "crawl_metadata.jsonl")
PAGES_FILE = Path("logs", "pages.csv")
EDGES_FILE = Path("logs", "edges.csv")
_PAGES = ("segments/*.c4s", "html/??/??/*.zst")  # in store/
_SPELLING = "spelling"
_STORE, _USUAL_STORE, _ANY_STORE = "store", "segments", "auto"


class Parts(Struct, frozen=True):
    """The open parts of a workspace."""

    path: Path
    database: Database
    blobs: Blobs
    captures: Captures
    crawls: Crawls
    notes: Notes
    report: Reporter
    clock: Clock

    @property
    def keeps_bytes(self) -> bool:
        """Whether the store keeps the fetched bytes."""
        return not isinstance(self.blobs, NoBlobs)

    @property
    def dropped(self) -> DroppedBytes:
        """What gc removed from the store."""
        return DroppedBytes(self.database, self.blobs.locate)

    def notes_of(self, crawl: int) -> CrawlNotes:
        return CrawlNotes(self.database, crawl)

    def last_crawl(self) -> int:
        """The crawl that began last; the store itself before the first one."""
        last = self.crawls.last()
        return last.id if last else STORE

    def scope_hosts(self) -> list[str]:
        """The hosts of the last crawl's scope."""
        return self.notes_of(self.last_crawl()).scope_hosts()

    def spelling(self) -> dict[str, Any] | None:
        """The rules by which the last crawl spelled URLs, in the form of `ReadingRules.as_json`."""
        text = self.notes.get(_SPELLING)
        return dict(json.loads(text)) if text else None

    def note_spelling(self, rules: LinkRules) -> None:
        self.notes.put(_SPELLING, json.dumps(rules.as_json()["canonical"]))


def open_parts(
    path: Path,
    settings: Settings,
    undo: contextlib.ExitStack,
    *,
    read_only: bool,
    keeps_bytes: bool = True,
    clock: Clock = REAL_CLOCK,
) -> Parts:
    """Open a workspace whose lock the caller holds. `undo` receives the closing calls in order."""
    database = Database(path / "state.db", read_only=read_only)
    undo.callback(database.close)
    _check_that_both_are_there(path, database)
    blobs: Blobs = NoBlobs()
    if keeps_bytes:
        blobs = _open_blobs(path, settings, database, read_only=read_only)
    undo.callback(blobs.close)
    notes, report = Notes(database), Reporter(database, DroppedBytes(database, blobs.locate))
    return Parts(path, database, blobs, Captures(database), Crawls(database), notes, report, clock)


def check_store(notes: Notes, settings: Settings) -> None:
    """Raise SettingsError when the settings name another kind of store than the workspace uses."""
    has, asked = notes.get(_STORE), settings.store.kind
    if has and asked not in {has, _ANY_STORE}:
        raise SettingsError(
            "store.kind",
            f"this workspace keeps its pages as {has}, and the options or settings ask for {asked};"
            f" leave --store and store.kind out, say {has}, or give another --workspace",
        )


def lock_workspace(path: Path) -> WorkspaceLock:
    """Create the folder if it is missing, and lock it as its one writer."""
    refuse_foreign_state(path)
    refuse_occupied(path)
    _make_folder(path)
    return WorkspaceLock(path)


def spool_folder(workspace: Path) -> Path:
    return workspace / "spool"


def discoverer_folder(workspace: Path) -> Path:
    """The folder of the discoverer's own state, so that it does not wait for the scraper's."""
    return spool_folder(workspace) / "discover"


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WorkspaceError(f"cannot make the workspace {path}: {problem.strerror}") from problem


def _check_that_both_are_there(path: Path, database: Database) -> None:
    """Refuse a store without its database: a file was lost, so this is no new workspace."""
    if database.was_empty and any(own for pages in _PAGES for own in (path / "store").glob(pages)):
        raise StorageDamaged(
            f"{database.path} is missing or empty, but {path / 'store'} holds pages; "
            f"`{command_line('crawl4r', 'recover', '-w', path)}` makes it again; or bring it back, or"
            " move the store away to begin anew"
        )


def _open_blobs(path: Path, settings: Settings, database: Database, *, read_only: bool) -> Blobs:
    """Check the kind of store. A workspace never changes it; only readers accept other settings."""
    store, notes = settings.store, Notes(database)
    if not read_only:
        check_store(notes, settings)
        if notes.get(_STORE) is None:
            is_open = store.kind == _ANY_STORE
            notes.put(_STORE, _USUAL_STORE if is_open else store.kind)
            database.commit()
    if (notes.get(_STORE) or store.kind) == "files":
        return FileBlobs(
            path / "store" / "html",
            level=store.level,
            permissions=store.mode,
            writable=not read_only,
        )
    return SegmentBlobs(
        path / "store" / "segments",
        database,
        level=store.level,
        segment_bytes=store.segment_mb * 1024**2,
        permissions=store.mode,
        writable=not read_only,
    )
