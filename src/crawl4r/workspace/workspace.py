"""A directory with a crawl in it, from Python.

async with crawl4r.open("ws") as workspace:
    async for page in workspace.crawl("https://example.org/", max_pages=100):
        print(page.url, page.status, len(page.body))
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import msgspec

from crawl4r.archive.documents import Documents, ExtractionRow, StoredDocument
from crawl4r.archive.site_blocks import SiteBlocks
from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.crawling.control_files import orders_in
from crawl4r.crawling.robots import RULES
from crawl4r.errors import StorageError, StorageFull
from crawl4r.model import Capture
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.reports.spool_status import spool_status
from crawl4r.reports.status import Overview, Run, processes_in
from crawl4r.reports.url_story import PageRow
from crawl4r.resilience.health_file import NO_NETWORK, health_of
from crawl4r.search.places import Places
from crawl4r.settings.load import FILE_NAME, Settings, load_settings, merge, overrides_of
from crawl4r.storage.layout import (
    LOCK,
    PAUSE,
    PLACES,
    entries_of,
    holds_crawl,
    refuse_foreign_state,
    refuse_links,
)
from crawl4r.storage.lock import WorkspaceLock
from crawl4r.storage.made_files import remove_own
from crawl4r.storage.tables import RobotsRecords
from crawl4r.transfer.import_records import ImportCounts, Importer, read_records
from crawl4r.urls.canonical import canonicalize, split, with_scheme
from crawl4r.urls.scope import Scope
from crawl4r.wiring.parts import (
    Parts,
    check_store,
    lock_workspace,
    make_frontier,
    open_parts,
    spool_folder,
)
from crawl4r.workspace.page import Page

_NOT_ASKING = {"agent": {"require_contact": False}}  # nothing is asked of any site

if TYPE_CHECKING:
    from crawl4r.logs.replay import ReplayReport
    from crawl4r.storage.replaced_files import ComparedFiles
    from crawl4r.transfer.import_warc import ArchiveCounts
    from crawl4r.wiring.crawl import MakeTransport
    from crawl4r.workspace.run import CrawlRun


class Workspace:
    """A directory with a crawl in it. Open it with `crawl4r.open`; one writer at a time."""

    def __init__(
        self,
        path: str | Path,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        home: Path | None = None,
        budgets: HostBudgets | None = None,
        make_transport: MakeTransport | None = None,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """`home` is the workspace whose discoverer keeps its state here, and no pages."""
        self.path = Path(path)
        self.home = home or self.path
        self.settings = settings or load_settings(self.path / FILE_NAME)
        self._budgets = budgets
        self._make_transport = make_transport
        self._runs: list[CrawlRun] = []
        self._store = contextlib.ExitStack()  # closes what is open in it, and can be used again
        self._open = partial(
            open_parts,
            self.path,
            self.settings,
            self._store,
            read_only=read_only,
            keeps_bytes=home is None,
            clock=clock,
        )
        refuse_links(self.home)
        with contextlib.ExitStack() as undo:
            if not read_only:
                undo.callback(lock_workspace(self.path).close)
            undo.callback(self._store.close)
            self._stand_on(self._open())
            self._closing = undo.pop_all()

    def reopen(self) -> Parts:
        """Close state and store and open them again, with all that a start would repair.

        The workspace stays locked: nobody else begins here meanwhile. When it fails, nothing is open.
        """
        self._store.close()
        if not (self.path / "state.db").exists():  # an empty place where a disk is to be mounted
            raise StorageFull(f"{self.path / 'state.db'} is not there")
        self._stand_on(self._open())
        return self.parts

    def _stand_on(self, parts: Parts) -> None:
        self.parts = parts
        self.database = parts.database
        self.blobs = parts.blobs
        self.captures = parts.captures
        self.notes = parts.notes
        self.report = parts.report
        self._documents = Documents(parts.database)

    async def __aenter__(self) -> Workspace:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for run in self._runs:
            await run.close()
        self.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closing.close()

    def crawl(self, *seeds: str, **options: Any) -> CrawlRun:
        """Crawl from these seeds, or go on where the last crawl stopped.

        Options are the short names of the settings (`max_pages`, `depth`, `rate`, `per_host`,
        `concurrency`, `allow_private`, `strategy`, `keywords` ...), and `refresh` or `retry_failed`
        to visit again. Iterate over the result, or `await` its `finish()`.

        A store that cannot be written is waited for (`store_patience` seconds, 600 unless told), and
        then opened again; see `CrawlRun`.
        """
        from crawl4r.workspace.run import CrawlRun  # noqa: PLC0415 - who only reads goes without

        again = {name: options.pop(name, False) for name in ("refresh", "retry_failed")}
        settings = self.settings
        if options:
            overrides = merge(msgspec.to_builtins(settings), overrides_of(**options))
            settings = load_settings(environment={}, overrides=overrides)
            check_store(self.notes, settings)
        run = CrawlRun(
            self.parts,
            settings,
            seeds,
            self.budgets_for(settings),
            make_transport=self._make_transport,
            reopen=self.reopen,
            **again,
        )
        self._runs.append(run)
        return run

    def pages(
        self, state: str | None = None, verdict: str | None = None, found_by: str | None = None
    ) -> Iterator[PageRow]:
        """Every known URL with its state, as it is committed; `found_by` is `links` or `guesses`."""
        return self.report.pages(state, verdict, found_by)

    def get(self, url: str, at: float | None = None) -> Page | None:
        """The newest capture of a URL that has bytes, or the one that was newest at a moment."""
        capture = self.captures.latest(self.canonical(url), at)
        return Page(capture, lambda: self.blobs) if capture else None

    def documents(self, *, with_gone: bool = False) -> Generator[StoredDocument, None, None]:
        """Every document by URL; those whose page is gone only when asked for."""
        return self._documents.stream(with_gone=with_gone)

    def document(self, url: str) -> StoredDocument | None:
        """The newest good text of a URL."""
        return self._documents.get(self.canonical(url))

    def history(self, url: str) -> list[tuple[Capture, ExtractionRow | None]]:
        """Every capture of a URL, oldest first, with what it meant for the document."""
        captures = self.captures.of_url(self.canonical(url))
        return [(capture, self._documents.extraction(capture.id)) for capture in captures]

    def repeated_blocks(self, url: str) -> frozenset[int]:
        """Fingerprints of what repeats on most pages of the URL's site."""
        return SiteBlocks(self.database).repeated(split(url).host)

    @property
    def documents_cursor(self) -> int:
        """The capture up to which documents were made."""
        return self._documents.cursor()

    def import_records(self, lines: IO[str], name: str) -> ImportCounts:
        """Keep JSON lines with "text", "title" and "id" or "url" as captures."""
        frontier = make_frontier(self.parts, self.settings)
        importer = Importer(self.database, frontier, self.captures, self.blobs)
        records = read_records(lines, name, self.settings.scope.canonical(), self._now())
        *_, counts = importer.keep(records)
        return counts

    def import_archive(
        self, path: Path, on_progress: Callable[[int], None] = lambda done: None
    ) -> ArchiveCounts:
        """Keep the records of a WARC file or a WACZ package as captures.

        `on_progress` hears how many bytes of it were read.
        """
        # Only now: the library of web archives takes longer to load than all else here.
        from crawl4r.transfer.import_warc import ArchiveImport  # noqa: PLC0415

        frontier = make_frontier(self.parts, self.settings)
        importer = Importer(self.database, frontier, self.captures, self.blobs)
        largest = self.settings.fetch.max_decoded_bytes
        rules = self.settings.scope.canonical()
        return ArchiveImport(path, importer, rules, largest, on_progress).run()

    async def reprocess(
        self, *, anew: bool = True, on_progress: Callable[[int], None] | None = None
    ) -> dict[str, int]:
        """Make all documents again from the stored bytes, or only those that are missing."""
        from crawl4r.wiring.documents import build_documenter  # noqa: PLC0415

        async with contextlib.AsyncExitStack() as stack:
            documenter = await build_documenter(self.parts, self.settings, stack)
            if anew:
                documenter.forget_all()
            await documenter.catch_up(on_progress)
            await documenter.finish()
            self.database.commit()
            return dict(documenter.changes)

    async def replay(self, on_progress: Callable[[int], None] | None = None) -> ReplayReport:
        """Write pages.csv, edges.csv and crawl_metadata.jsonl anew from state.db and the store."""
        from crawl4r.wiring.logs import rebuild_logs  # noqa: PLC0415 - most openings go without

        return await rebuild_logs(self.parts, self.settings, on_progress)

    async def replay_into(
        self, places: Mapping[str, Path], on_progress: Callable[[int], None] | None = None
    ) -> ReplayReport:
        """Write files elsewhere, by their kind: pages, metadata and edges."""
        from crawl4r.wiring.logs import write_logs  # noqa: PLC0415

        return await write_logs(self.parts, self.settings, places, on_progress)

    async def check_replay(
        self, places: Mapping[str, Path], on_progress: Callable[[int], None] | None = None
    ) -> tuple[ReplayReport, ComparedFiles]:
        """Compare files, by their kind, with what a replay gives; nothing is written."""
        from crawl4r.wiring.logs import check_logs  # noqa: PLC0415

        return await check_logs(self.parts, self.settings, places, on_progress)

    def _now(self) -> float:
        return self.parts.clock.wall()

    def canonical(self, url: str) -> str:
        """The spelling under which this workspace knows a URL."""
        return canonicalize(with_scheme(url), None, self.settings.scope.canonical())

    def why(self, url: str) -> dict[str, Any]:
        """What happened to a URL, and which rule decided."""
        rules = self.settings.robots_rules()
        scope = Scope(self.settings.scope_rules(self.parts.scope_hosts()))
        story = self.report.why(self.canonical(url), scope, tuple(rules.agents), self._now())
        return story | {"index": self._why_indexed(story.get("document"))}

    def _why_indexed(self, document: dict[str, Any] | None) -> dict[str, Any] | None:
        """How a document can be found, or the rule that keeps it out; None when neither is known."""
        if document is None or not (self.path / "index").exists():
            return None
        from crawl4r.wiring.search import open_catalogue  # noqa: PLC0415 - weighs more than a crawl

        with open_catalogue(self.path) as catalogue:
            if catalogue is None:
                return None
            if version := catalogue.current(document["document_id"]):
                passages = catalogue.passages_of(version)
                embedded = sum(found.entry.is_embedded for found in passages)
                cut = catalogue.why_left_out(document["document_id"])
                return {"passages": len(passages), "embedded": embedded} | (
                    {"cut": cut} if cut else {}
                )
            reason = catalogue.why_left_out(document["document_id"])
            return {"left_out": reason} if reason else None

    def status(self, counts: dict[str, Any] | None = None) -> dict[str, Any]:
        """Totals, hosts, rates and errors, as `crawl4r status --json` prints them.

        Whoever asks often hands in `counts` of a while ago: only they look at every row.
        """
        processes = processes_in(self.path)
        crawl = next((process for process in processes if process["work"] == "crawl"), None)
        orders = orders_in(self.home)
        health = health_of(self.path, crawl["pid"] if crawl else None)
        is_paused = not {PAUSE, f"{PAUSE}.crawl"}.isdisjoint(orders)
        has_no_network = health is not None and health["state"] == NO_NETWORK
        since = crawl["since"] if crawl else None
        return (counts or self.counts()) | {
            **self.glance(since, self.settings, is_held=is_paused or has_no_network),
            "spool": spool_status(spool_folder(self.home), self.settings.spool.max_backlog),
            "control": orders,
            "resilience": health,
            "running": crawl["pid"] if crawl else None,
            "processes": processes,
        }

    def glance(
        self, since: float | None, settings: Settings, *, is_held: bool = False
    ) -> dict[str, Any]:
        """The part of `status` that no number of rows makes slow, of a crawl that goes by these
        settings since a moment (epoch seconds)."""
        run = Run(
            since,
            settings.politeness.host_rules().delay,
            settings.robots_rules().agents,
            is_held=is_held,
            limits=settings.crawl_limits(),
        )
        return Overview(self.database).glance(self._now(), run)

    def counts(self) -> dict[str, Any]:
        """The part of `status` that only looking at every row can say."""
        blobs, stored_bytes = self.blobs.totals()
        return Overview(self.database).counts() | {
            "blobs": blobs,
            "stored_bytes": stored_bytes,
            "index": self._index_totals(),
            "counted_at": self._now(),
        }

    def host_report(
        self, host: str, since: float | None = None, until: float | None = None
    ) -> dict[str, Any]:
        """What a host was asked, as `crawl4r report --json` prints it. Times are epoch seconds."""
        # Only now: it counts with numpy.
        from crawl4r.reports.host.report import HostReporter  # noqa: PLC0415

        agents = self.settings.robots_rules().agents
        return HostReporter(self.database, agents).report(host, since, until)

    def _index_totals(self) -> dict[str, Any] | None:
        if not (self.path / "index").exists():
            return None
        from crawl4r.wiring.search import open_catalogue  # noqa: PLC0415 - weighs more than a crawl

        with open_catalogue(self.path) as catalogue:
            return catalogue.totals() if catalogue else None

    def robots_body(self, origin: str) -> bytes | None:
        """The robots.txt that an origin served, or None when it served none we know of."""
        record = RobotsRecords(self.database).get(origin)
        return record.body if record and record.outcome == RULES else None

    def scope_hosts(self) -> list[str]:
        """Hosts of all seeds so far, and those that a seed redirected to."""
        return self.parts.scope_hosts()

    def budgets_for(self, settings: Settings) -> HostBudgets:
        """Budgets of our own, or the shared ones made no less polite."""
        rules = settings.politeness.host_rules()
        if self._budgets is None:
            # A discoverer of this workspace may be at the same hosts.
            if not spool_folder(self.path).exists():
                return HostBudgets(rules)
            from crawl4r.wiring.spool import shared_budgets  # noqa: PLC0415

            return shared_budgets(self.path, settings)
        self._budgets.tighten(rules)
        return self._budgets


def open_workspace(
    path: str | Path,
    *,
    profile: str | None = None,
    budgets: HostBudgets | None = None,
    read_only: bool = False,
    **options: Any,
) -> Workspace:
    """Open or make a workspace. Options are the short names of the settings.

    Pass one `HostBudgets` to several workspaces that are crawled in one process: a host then gets
    one budget however many of them want it.
    """
    folder = Path(path)
    settings = load_settings(folder / FILE_NAME, profile=profile, overrides=overrides_of(**options))
    return Workspace(folder, settings, read_only=read_only, budgets=budgets)


def remove_crawl(path: Path) -> list[Path]:
    """Delete what crawling made in a workspace; the configuration stays. What was deleted.

    Links are deleted, never what they point to, and files that crawl4r did not make stay. Raises
    StorageError that names what could not be deleted, when all else is gone; WorkspaceError, and
    deletes nothing, when what is there is not a crawl.
    """
    refuse_foreign_state(path)
    if not holds_crawl(path):
        return []
    if (path / LOCK).is_symlink():
        (path / LOCK).unlink()  # nobody can hold it: a lock is never opened through a link
        removed = [path / LOCK]
    else:
        removed = []
    left: list[str] = []
    with contextlib.closing(WorkspaceLock(path)):
        left += _drop_places(path)
        for item in entries_of(path):
            if item.name == PLACES and left:
                continue  # the next reset finds there what this one could not delete
            failed = _remove(item)
            left += failed
            if not failed:
                removed.append(item)
    if left:
        raise StorageError(f"could not delete {', '.join(left)}; all else of the crawl is gone")
    return removed


def places_of(path: Path) -> list[str]:
    """What a workspace has on servers, by its names there, and `remove_crawl` deletes too."""
    return [place.name for place in Places(path).own()] if (path / PLACES).is_file() else []


def _drop_places(path: Path) -> list[str]:
    """Before the file that knows their names goes; without them, settings may be as they like."""
    if not places_of(path):
        return []
    from crawl4r.wiring.index_places import drop_places  # noqa: PLC0415 - weighs more than a crawl

    return drop_places(path, load_settings(path / FILE_NAME, overrides=_NOT_ASKING))


def _remove(item: Path) -> list[str]:
    """What could not be deleted, and why."""
    if item.is_dir() and not item.is_symlink():
        return remove_own(item)
    try:
        item.unlink(missing_ok=True)
    except OSError as problem:
        return [f"{item} ({problem.strerror})"]
    return []
