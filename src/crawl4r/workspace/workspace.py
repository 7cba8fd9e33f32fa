"""A directory with crawls in it, from Python.

async with crawl4r.open("ws") as workspace:
    async for page in workspace.crawl("https://example.org/", max_pages=100):
        print(page.title, page.url, len(page.markdown))
    await workspace.index_async()
    for hit in workspace.search("how do I roll back to a savepoint"):
        print(hit.score, hit.url, hit.text)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.errors import UsageError
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.settings.load import FILE_NAME, Settings, load_settings, merge, overrides_of
from crawl4r.wiring.parts import check_store, spool_folder
from crawl4r.workspace.blocking import has_event_loop
from crawl4r.workspace.organiser import Organiser

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from crawl4r.archive.garbage import GcReport, OnStep
    from crawl4r.logs.replay import ReplayReport
    from crawl4r.storage.replaced_files import ComparedFiles
    from crawl4r.transfer.import_warc import ArchiveCounts
    from crawl4r.wiring.crawl import MakeTransport
    from crawl4r.workspace.index import IndexReport, OnIndexed
    from crawl4r.workspace.options import CrawlOptions, PathLike
    from crawl4r.workspace.run import CrawlRun

_Result = TypeVar("_Result")
_NO_INDEX = {"index": {"enabled": False}}  # Python asks for an index by `index`


class Workspace(Organiser):
    """A directory with crawls in it. Open it with `crawl4r.open`; one writer at a time."""

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
        self._budgets = budgets
        self._make_transport = make_transport
        self._runs: list[CrawlRun] = []
        super().__init__(path, settings, read_only=read_only, home=home, clock=clock)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for run in self._runs:
            await run.close()
        self.close()

    def crawl(
        self,
        *seeds: str,
        name: str | None = None,
        refresh: bool = False,
        retry_failed: bool = False,
        **options: Unpack[CrawlOptions],
    ) -> CrawlRun:
        """Crawl from these seeds, or go on where the last crawl stopped.

        A workspace holds several crawls: `name` says which one goes on, or begins.

        `refresh` visits the pages that are kept again, `retry_failed` those that failed. Iterate over
        the result with `async for` or `for`, or call its `finish()` or `wait()`.

        A store that cannot be written is waited for (`store_patience` seconds, 600 by default), and
        then opened again; see `CrawlRun`.
        """
        from crawl4r.workspace.run import CrawlRun, RunContext  # noqa: PLC0415 - a reader goes without

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
            RunContext(self._make_transport, self.reopen, self._page_reader),
            refresh=refresh,
            retry_failed=retry_failed,
            name=name,
        )
        self._runs.append(run)
        return run

    def index(
        self,
        *,
        rebuild: bool = False,
        with_vectors: bool = True,
        on_progress: OnIndexed | None = None,
    ) -> IndexReport:
        """Make all documents searchable, by their words and then by their meaning."""
        return self._to_the_end(
            self.index_async(rebuild=rebuild, with_vectors=with_vectors, on_progress=on_progress),
            "index_async",
        )

    async def index_async(
        self,
        *,
        rebuild: bool = False,
        with_vectors: bool = True,
        on_progress: OnIndexed | None = None,
    ) -> IndexReport:
        """`index` for code with an event loop; `on_progress` is called in a thread of the indexer."""
        from crawl4r.workspace.index import index_workspace  # noqa: PLC0415 - weighs more than a crawl

        await self.reprocess(anew=False)
        return await asyncio.to_thread(
            index_workspace, self.path, self.settings,
            rebuild=rebuild, with_vectors=with_vectors, on_progress=on_progress,
        )  # fmt: skip

    def import_file(
        self,
        file: PathLike,
        *,
        with_documents: bool = True,
        on_progress: Callable[[int], None] = lambda done: None,
        on_read: Callable[[int, int], None] = lambda done, total: None,
    ) -> ArchiveCounts:
        """Keep the pages of JSON lines, a WARC file or a WACZ package, and make documents of them.

        Without documents, `reprocess(anew=False)` makes them later.

        `on_progress` is called with the bytes of an archive that were read so far, `on_read` with how
        many captures were read, of how many.
        """
        work = self.import_file_async(
            file, with_documents=with_documents, on_progress=on_progress, on_read=on_read
        )
        return self._to_the_end(work, "import_file_async")

    async def import_file_async(
        self,
        file: PathLike,
        *,
        with_documents: bool = True,
        on_progress: Callable[[int], None] = lambda done: None,
        on_read: Callable[[int, int], None] = lambda done, total: None,
    ) -> ArchiveCounts:
        """`import_file` for code with an event loop."""
        # Only now: the library of web archives takes longer to load than all else here.
        from crawl4r.workspace.import_file import import_into  # noqa: PLC0415

        counts = await import_into(self.parts, self.settings, Path(file), on_progress)
        total, done = self.captures.count_after(self.documents_cursor), 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            on_read(done, total)

        if with_documents:
            await self.reprocess(anew=False, on_progress=tell)
        return counts

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

    def gc(
        self,
        *,
        keep_captures: int | None = None,
        keep_days: float | None = None,
        dry_run: bool = False,
        on_step: OnStep = lambda work, done, total: None,
    ) -> GcReport:
        """Remove stored bytes that no capture needs, and compact the store.

        By default every capture keeps its bytes. `keep_captures` keeps those of the newest good
        captures of each page, `keep_days` those of younger captures; the newest capture and content of
        a page, and what its document was made from, always keep theirs. Captures stay.

        With `dry_run` nothing is written, and the workspace may be open for reading. `on_step` is
        called with the kind of work, how much of it is done, and of how much.
        """
        from crawl4r.archive.garbage import GarbageCollector  # noqa: PLC0415 - most openings go without
        from crawl4r.archive.retention import Retention  # noqa: PLC0415

        if self.is_read_only and not dry_run:
            raise UsageError(
                "this workspace is open for reading: only gc(dry_run=True) is possible"
            )
        retention = Retention(keep_captures, keep_days)
        retention.check()
        collector = GarbageCollector(self.database, self.blobs, retention, self._now())
        return collector.foresee() if dry_run else collector.run(on_step)

    def budgets_for(self, settings: Settings) -> HostBudgets:
        """Budgets of our own, or the shared ones made no less polite."""
        rules = settings.politeness.host_rules()
        if self._budgets is None:
            # A discoverer of this workspace may be at the same hosts.
            if not spool_folder(self.path).exists():
                return HostBudgets(usual=rules)
            from crawl4r.wiring.spool import shared_budgets  # noqa: PLC0415

            return shared_budgets(self.path, settings)
        return self._budgets

    def _to_the_end(self, work: Coroutine[Any, Any, _Result], name: str) -> _Result:
        """Run what writes to this workspace; only the thread that opened it may."""
        if has_event_loop():
            work.close()
            raise UsageError(f"an event loop is running here: await {name}(...) instead")
        return asyncio.run(work)


def open_workspace(
    path: str | Path,
    *,
    profile: str | None = None,
    budgets: HostBudgets | None = None,
    read_only: bool = False,
    **options: Unpack[CrawlOptions],
) -> Workspace:
    """Open or make a workspace. Options hold for all its crawls, over those of its crawl4r.yaml.

    Crawls index nothing unless `index=True` or crawl4r.yaml says so: call `index` for that.

    Pass one `HostBudgets` to several workspaces that are crawled in one process: a host then gets
    one budget however many of them want it.
    """
    folder = Path(path)
    settings = load_settings(
        folder / FILE_NAME, profile=profile, overrides=overrides_of(**options), defaults=_NO_INDEX
    )
    return Workspace(folder, settings, read_only=read_only, budgets=budgets)
