"""The composition root: names the adapters, owns their lifetimes, and is the Python API.

async with crawl4r.open("ws") as workspace:
    async for page in workspace.crawl("https://example.org/", max_pages=100):
        print(page.url, page.status, len(page.body))
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from crawl4r import events
from crawl4r.archive.captures import Captures
from crawl4r.archive.files import FileBlobs
from crawl4r.archive.metadata import MetadataLog
from crawl4r.archive.port import Blobs
from crawl4r.archive.segments import SegmentBlobs
from crawl4r.content.decode import decode, guess_encoding
from crawl4r.crawl import Crawl, EndedBy
from crawl4r.errors import InvalidUrl, StorageDamaged, UsageError, WorkspaceError
from crawl4r.fetch.curl import CurlTransport
from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import Transport
from crawl4r.fetch.proxies import ProxyPool
from crawl4r.frontier.priority import PRIORITIES, Strategy
from crawl4r.frontier.schedule import Schedule
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.judging import Judge
from crawl4r.keeping import Keeper, Shelf
from crawl4r.model import Capture, FoundBy, UrlState, Visit
from crawl4r.reading import LinkJudge
from crawl4r.reporting import PageRow, Reporter
from crawl4r.resilience.politeness import HostBudgets
from crawl4r.resilience.sandbox import Sandbox
from crawl4r.robots_gate import RULES, TEMPORARY, RobotsGate
from crawl4r.settings import FILE_NAME, Settings, load_settings, overrides_of
from crawl4r.state.database import Database
from crawl4r.state.lock import WorkspaceLock
from crawl4r.state.records import HostMemories, Notes, RobotsRecords
from crawl4r.urls.address import AddressGate
from crawl4r.urls.canonical import canonicalize, split
from crawl4r.urls.scope import Scope

_RUNNING = "running"  # a note that outlives a crawl only when it crashed
_PAGES_AHEAD = 64  # that a crawl may be in front of the one who iterates over it
_LEASES_FOR_BFS = 64
_LEASES_FOR_OTHERS = 4  # few: a better URL found now should not wait behind many leased ones


@dataclass(frozen=True, slots=True)
class Page:
    """A capture with its bytes at hand."""

    capture: Capture
    _blobs: Blobs = field(repr=False)

    @property
    def url(self) -> str:
        return self.capture.url

    @property
    def status(self) -> int:
        return self.capture.status

    @property
    def body(self) -> bytes:
        """The bytes as the server sent them, content codings removed; checked against their hash."""
        if self.capture.sha256 is None:
            return b""
        body = self._blobs.read(self.capture.sha256)
        if body is None:
            raise StorageDamaged(
                f"the bytes of {self.url} ({self.capture.sha256}) are not in the store"
            )
        return body

    @property
    def text(self) -> str:
        body = self.body
        declared = next((v for k, v in self.capture.headers if k == "content-type"), "")
        return decode(body, guess_encoding(body, declared))


class Workspace:
    """A directory with a crawl in it. Open it with `crawl4r.open`; one writer at a time."""

    def __init__(
        self,
        path: str | Path,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        budgets: HostBudgets | None = None,
        make_transport: Callable[[Settings, AddressGate], Transport] | None = None,
    ) -> None:
        self.path = Path(path)
        self.make_transport = make_transport or _make_curl
        self.settings = settings or load_settings(self.path / FILE_NAME)
        self._read_only = read_only
        self._budgets = budgets
        self._runs: list[CrawlRun] = []
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            self._open_parts(undo)
            self._closing = undo.pop_all()

    def _open_parts(self, undo: contextlib.ExitStack) -> None:
        if not self._read_only:
            _make_folder(self.path)
            undo.callback(WorkspaceLock(self.path).close)
        self.database = Database(self.path / "state.db", read_only=self._read_only)
        undo.callback(self.database.close)
        self._check_that_both_are_there()
        self.blobs = self._open_blobs()
        undo.callback(self.blobs.close)
        self.captures = Captures(self.database)
        self.notes = Notes(self.database)
        self.report = Reporter(self.database)

    def _check_that_both_are_there(self) -> None:
        """A store without its database is not a new workspace: somebody lost a file."""
        if self.database.was_empty and any((self.path / "store").glob("*/*")):
            raise StorageDamaged(
                f"{self.database.path} is missing or empty, but {self.path / 'store'} holds pages; "
                "bring it back, or move the store away to begin anew"
            )

    def _open_blobs(self) -> Blobs:
        store = self.settings.store
        writable = not self._read_only
        kind = self._store_kind(store.kind)
        if kind == "files":
            return FileBlobs(
                self.path / "store" / "html",
                level=store.level,
                permissions=store.mode,
                writable=writable,
            )
        return SegmentBlobs(
            self.path / "store" / "segments",
            self.database,
            level=store.level,
            segment_bytes=store.segment_mb * 1024**2,
            permissions=store.mode,
            writable=writable,
        )

    def _store_kind(self, wanted: str) -> str:
        """A workspace keeps the kind of store it began with."""
        notes = Notes(self.database)
        kind = notes.get("store")
        if kind is None and not self._read_only:
            notes.put("store", wanted)
            self.database.commit()
        return kind or wanted

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
        """
        refresh = options.pop("refresh", False)
        retry_failed = options.pop("retry_failed", False)
        settings = self.settings
        if options:
            merged = settings.model_dump(mode="json", exclude_unset=True)
            settings = load_settings(
                environment={}, overrides=_deep_merge(merged, overrides_of(**options))
            )
        run = CrawlRun(self, settings, seeds, refresh=refresh, retry_failed=retry_failed)
        self._runs.append(run)
        return run

    def pages(self, state: str | None = None, verdict: str | None = None) -> Iterator[PageRow]:
        """Every known URL with its state, as it is committed."""
        return self.report.pages(state, verdict)

    def get(self, url: str, at: float | None = None) -> Page | None:
        """The newest capture of a URL that has bytes, or the one that was newest at a moment."""
        capture = self.captures.latest(self.canonical(url), at)
        return Page(capture, self.blobs) if capture else None

    def canonical(self, url: str) -> str:
        """The spelling under which this workspace knows a URL."""
        return canonicalize(with_scheme(url), None, self.settings.scope.canonical())

    def why(self, url: str) -> dict[str, Any]:
        """What happened to a URL, and which rule decided."""
        rules = self.settings.robots_rules()
        scope = Scope(self.settings.scope_rules(self.scope_hosts()))
        return self.report.why(self.canonical(url), scope, tuple(rules.agents))

    def status(self) -> dict[str, Any]:
        """Totals, hosts and errors, as `crawl4r status --json` prints them."""
        blobs, stored_bytes = self.blobs.totals()
        return self.report.status(time.time()) | {"blobs": blobs, "stored_bytes": stored_bytes}

    def robots_body(self, origin: str) -> bytes | None:
        """The robots.txt that an origin served, or None when it served none we know of."""
        record = RobotsRecords(self.database).get(origin)
        return record.body if record and record.outcome == RULES else None

    def scope_hosts(self) -> list[str]:
        """Hosts of all seeds so far, and those that a seed redirected to."""
        return list(json.loads(self.notes.get("scope_hosts") or "[]"))

    def budgets(self, settings: Settings) -> HostBudgets:
        """The host budgets of this workspace, or the shared ones made no less polite by it."""
        rules = settings.politeness.host_rules()
        if self._budgets is None:
            return HostBudgets(rules)
        self._budgets.tighten(rules)
        return self._budgets


class CrawlRun:
    """One run of a crawl: iterate over it for pages as they are kept, or await `finish()`."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        seeds: tuple[str, ...],
        *,
        refresh: bool,
        retry_failed: bool,
    ) -> None:
        self.workspace = workspace
        self.settings = settings
        self.crawl: Crawl | None = None
        self.started = asyncio.Event()
        self._seeds = [*settings.seeds, *seeds] if not seeds else list(seeds)
        self._refresh = refresh
        self._retry_failed = retry_failed
        self._pages: asyncio.Queue[Page | None] | None = None
        self._task: asyncio.Task[EndedBy] | None = None
        self._hosts = workspace.scope_hosts()
        self._is_stopped = False
        self._sandbox: Sandbox | None = None
        self._judge: Judge | None = None
        self.links = self._admit_seeds()

    async def __aiter__(self) -> AsyncIterator[Page]:
        self._pages = asyncio.Queue(_PAGES_AHEAD)
        self._task = asyncio.create_task(self._run_to_the_end())
        try:
            while (page := await self._pages.get()) is not None:
                yield page
        finally:
            await self.close()
        await self._task

    async def finish(self) -> EndedBy:
        """Run to the end; why it ended."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await self._task

    def stop(self) -> None:
        """Begin no new page; what is in flight is finished and kept."""
        self._is_stopped = True
        if self.crawl:
            self.crawl.stop()

    def stop_now(self) -> None:
        """Drop what is in flight; the next run fetches it again."""
        if self.crawl:
            self.crawl.stop_now()

    async def close(self) -> None:
        """Stop, and wait until everything in flight is kept."""
        if self._task is None or self._task.done():
            return
        self.stop()
        while not self._task.done():
            if self._pages is not None:
                while not self._pages.empty():
                    self._pages.get_nowait()
            await asyncio.wait([self._task], timeout=0.05)

    def reload(self, settings: Settings) -> None:
        """Take over new limits, pace and scope while running."""
        assert self.crawl is not None
        self.settings = settings
        self.crawl.limits = settings.crawl_limits()
        self.crawl.budgets.replace_rules(settings.politeness.host_rules())
        self.crawl.schedule.reconsider()
        self._rescope()

    async def _run_to_the_end(self) -> EndedBy:
        assert self._pages is not None
        try:
            return await self._run()
        finally:
            await self._pages.put(None)

    async def _run(self) -> EndedBy:
        async with contextlib.AsyncExitStack() as stack:
            self.crawl = await self._build(stack)
            self.started.set()
            if self._is_stopped:
                self.crawl.stop()
            try:
                return await self.crawl.run()
            except* Exception as problems:
                raise _first(problems) from None
        raise AssertionError("unreachable")

    async def _build(self, stack: contextlib.AsyncExitStack) -> Crawl:
        workspace, settings = self.workspace, self.settings
        chance, clock, wall = random.Random(), time.monotonic, time.time
        database = workspace.database
        budgets = workspace.budgets(settings)
        hosts = HostMemories(database)
        budgets.restore(hosts.load(wall()), clock(), wall())
        if workspace.notes.get(_RUNNING):
            budgets.assume_just_asked(clock())
        workspace.notes.put(_RUNNING, "yes")
        stack.callback(self._note_clean_end)
        frontier = self._prepare_frontier(wall())
        gate = AddressGate(settings.network.allow_private)
        transport = workspace.make_transport(settings, gate)
        stack.push_async_callback(transport.close)
        self._sandbox = await stack.enter_async_context(
            Sandbox(
                "crawl4r.reading:make_reader",
                self.links.rules.as_json(),
                workers=settings.reading.workers,
                seconds=settings.reading.seconds,
                memory_bytes=settings.reading.memory_mb * 1024**2,
            )
        )
        headers = RequestHeaders(
            settings.agent.header,
            settings.fetch.language,
            settings.fetch.headers,
            settings.fetch.auth,
        )
        servers = settings.fetch.proxies
        proxies = ProxyPool(servers.servers, servers.rotation, clock, chance)
        robots = RobotsGate(
            RobotsRecords(database),
            transport,
            headers,
            proxies,
            budgets,
            settings.robots_rules(),
            backoff=settings.fetch.backoff(),
            clock=clock,
            wall=wall,
            chance=chance,
        )
        metadata = MetadataLog(
            workspace.path / "metadata" / "crawl_metadata.jsonl",
            workspace.captures,
            workspace.blobs.locate,
        )
        stack.callback(metadata.close)
        shelf = Shelf(
            database,
            frontier,
            workspace.captures,
            workspace.blobs,
            metadata,
            workspace.notes,
            hosts,
        )
        concurrency = settings.politeness.concurrency
        keeper = Keeper(shelf, budgets, group=max(1, concurrency // 2), clock=clock, wall=wall)
        is_bfs = settings.strategy is Strategy.BFS
        schedule = Schedule(
            frontier,
            budgets,
            clock=clock,
            wall=wall,
            needs_robots=robots.needs,
            batch=_LEASES_FOR_BFS if is_bfs else _LEASES_FOR_OTHERS,
        )
        self._judge = Judge(
            self._sandbox,
            self.links,
            backoff=settings.fetch.backoff(),
            max_redirects=settings.fetch.max_redirects,
            retry_after_cap=settings.politeness.retry_after_cap,
            wall=wall,
            chance=chance,
            on_seed_moved=None if settings.scope.hosts else self._widen_scope,
        )
        return Crawl(
            schedule,
            robots,
            transport,
            headers,
            proxies,
            self._judge,
            keeper,
            budgets,
            settings.crawl_limits(),
            clock=clock,
            on_kept=self._on_kept,
        )

    def _note_clean_end(self) -> None:
        """Only a run that got here knows that nobody was asked after its last commit."""
        self.workspace.database.write("DELETE FROM notes WHERE key = ?", (_RUNNING,))
        self.workspace.database.commit()

    def _admit_seeds(self) -> LinkJudge:
        """Check the seeds and derive the scope from them, before anything is opened."""
        canonical = [
            canonicalize(with_scheme(seed), None, self.settings.scope.canonical())
            for seed in self._seeds
        ]
        self._seeds = canonical
        self._hosts = list(dict.fromkeys([*self._hosts, *(split(url).netloc for url in canonical)]))
        if not self._hosts and not self.settings.scope.hosts:
            raise UsageError("nothing to crawl: give at least one URL, or `seeds:` in crawl4r.yaml")
        links = LinkJudge(self.settings.reading_rules(self._hosts))
        for url in canonical:
            found = links.judge(url, None, 0, FoundBy.SEED)
            if found is None or not found.admitted:
                rule = found.rule if found else "not a URL"
                raise UsageError(f"the seed {url} is out of scope: {rule}")
        return links

    def _prepare_frontier(self, now: float) -> SqliteFrontier:
        groups = self.settings.limits.groups
        frontier = SqliteFrontier(
            self.workspace.database,
            PRIORITIES[self.settings.strategy],
            {name: group.max for name, group in groups.items()},
        )
        recovered = frontier.recover()
        if recovered:
            events.emit(events.STORE_RECOVERED, urls_released=recovered)
        found = (self.links.judge(url, None, 0, FoundBy.SEED) for url in self._seeds)
        frontier.add((item for item in found if item), None, now)
        frontier.requeue([UrlState.FAILED], self._seeds)
        if self._retry_failed:
            frontier.requeue([UrlState.FAILED])
        if self._refresh:
            frontier.requeue([UrlState.DONE])
        RobotsRecords(self.workspace.database).forget(TEMPORARY)
        self.workspace.notes.put("scope_hosts", json.dumps(self._hosts))
        self.workspace.database.commit()
        return frontier

    async def _on_kept(self, visit: Visit) -> None:
        if self._pages is not None and visit.capture is not None:
            capture = self.workspace.captures.newest(visit.lease.url_id)
            await self._pages.put(Page(capture, self.workspace.blobs))

    def _widen_scope(self, netloc: str) -> None:
        """A seed moved to another host: that host belongs to the crawl from now on."""
        self._hosts.append(netloc)
        self.workspace.notes.put("scope_hosts", json.dumps(self._hosts))
        self._rescope()
        events.emit(events.SCOPE_WIDENED, 30, host=netloc)

    def _rescope(self) -> None:
        assert self._sandbox is not None and self._judge is not None
        self.links = self._judge.links = LinkJudge(self.settings.reading_rules(self._hosts))
        self._sandbox.reconfigure(self.links.rules.as_json())


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
    """Delete what crawling made in a workspace; the configuration stays. What was deleted."""
    lock = WorkspaceLock(path)
    try:
        doomed = crawl_files(path)
        for item in doomed:
            if item.is_dir():
                shutil.rmtree(item)
            else:
                item.unlink(missing_ok=True)
    finally:
        lock.close()
    return doomed


def crawl_files(path: Path) -> list[Path]:
    """Everything in a workspace that `reset` would delete."""
    names = (
        "state.db",
        "state.db-wal",
        "state.db-shm",
        "state.sum",
        "store",
        "index",
        "spool",
        "logs",
        "metadata",
    )
    return [path / name for name in names if (path / name).exists()]


def with_scheme(url: str) -> str:
    """`example.org` as people type it; anything with a scheme is left alone."""
    url = url.strip()
    if "://" in url or url.startswith(("mailto:", "javascript:", "data:", "about:")):
        return url
    if not url or url.startswith("/"):
        raise InvalidUrl("unparsable", url)
    return f"https://{url}"


def _make_curl(settings: Settings, gate: AddressGate) -> Transport:
    return CurlTransport(
        gate,
        limits=settings.fetch.limits(),
        http2=settings.fetch.http2,
        cookies=settings.fetch.cookies,
        resolve=settings.network.resolve,
        ca_file=settings.network.ca_file,
        max_connections=settings.politeness.concurrency * 2,
    )


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WorkspaceError(f"cannot make the workspace {path}: {problem.strerror}") from problem


def _deep_merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _deep_merge(merged[key], value) if both else value
    return merged


def _first(problems: BaseExceptionGroup[Exception]) -> BaseException:
    """The one error to show of a task group's many: they all tell of the same event."""
    problem: BaseException = problems
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem
