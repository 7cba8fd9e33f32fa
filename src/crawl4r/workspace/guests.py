"""Crawls that other processes ordered, in the process that has the store.

They share its budgets of hosts, its logs, its documents and its index with the crawl that began first,
and end with it. The processes that ordered them go on with what is durable.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Protocol, Self

from crawl4r import events
from crawl4r.crawling.control_files import ControlFiles
from crawl4r.crawling.loop import Crawl, EndedBy
from crawl4r.errors import Crawl4rError, StorageError, UsageError
from crawl4r.model import Visit
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.settings.load import load_settings
from crawl4r.storage.layout import PAUSE
from crawl4r.wiring.crawl import build_crawl
from crawl4r.wiring.crawl_order import CrawlHooks, CrawlOrder, Hosting
from crawl4r.wiring.parts import Parts, check_store
from crawl4r.workspace.crawl_plan import CrawlPlan
from crawl4r.workspace.crawl_request import CrawlAnswer, CrawlRequest, RequestDesk, TakenRequest
from crawl4r.workspace.run_outcome import outcome_of
from crawl4r.workspace.store_recovery import worst_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from crawl4r.wiring.crawl import MakeTransport
    from crawl4r.workspace.followers import Followers

_LOOK_AGAIN = 0.25  # seconds


class Host(Protocol):
    """What must be known of the crawl that others are guests of."""

    parts: Parts
    heart: Heartbeat
    network: NetworkWatch
    pause_gate: PauseGate
    followers: Followers
    control_folder: Path

    @property
    def budgets(self) -> HostBudgets:
        """Those of all crawls of the process."""

    @property
    def make_transport(self) -> MakeTransport | None:
        """What asks for pages, if it is not the usual one."""


class Guest:
    """One crawl, from its request to its answer."""

    def __init__(self, host: Host, hosting: Hosting, request: TakenRequest) -> None:
        self._host = host
        self._hosting = hosting
        self._request = request
        self._crawl: Crawl | None = None
        self._plan: CrawlPlan | None = None
        self._gate = PauseGate(host.pause_gate, but_for=PAUSE)
        self._is_handed_back = False
        self._is_hurried = False  # its documents are made later

    def stop(self) -> None:
        """Begin no new page; what is in flight is kept."""
        if self._crawl and not self._crawl.is_stopping:
            self._crawl.stop()

    def hand_back(self) -> None:
        """End without an answer: the process that wants this crawl goes on with it."""
        self._is_hurried = True
        if self._crawl is None or not self._crawl.is_stopping:  # else it ends by itself
            self._is_handed_back = True
            self.stop()

    def stop_now(self) -> None:
        self._is_hurried = self._is_handed_back = True
        if self._crawl:
            self._crawl.stop_now()

    async def run(self) -> None:
        try:
            answer = await self._run(self._request.read())
        except Exception as problem:  # it must not end the other crawls
            trouble = worst_of(problem)
            if isinstance(trouble, StorageError):  # of all crawls here: the first one waits it out
                return
            is_ours = isinstance(trouble, Crawl4rError)
            answer = CrawlAnswer(error=str(trouble) if is_ours else repr(trouble))
        if not self._is_handed_back:
            self._request.give(answer)

    async def _run(self, wanted: CrawlRequest) -> CrawlAnswer:
        parts, clock = self._host.parts, self._host.parts.clock
        settings = load_settings(environment={}, overrides=wanted.settings)
        check_store(parts.notes, settings)
        record = parts.crawls.find(wanted.name) if wanted.name else None
        if record and record in parts.crawls.running():
            raise UsageError(f"the crawl {record.name!r} runs already in process {os.getpid()}")
        plan = CrawlPlan(parts, settings, wanted.seeds, record, wanted.name, "crawl")
        self._plan = plan
        order = CrawlOrder(
            plan.record.id,
            settings,
            plan.seeds,
            plan.links,
            wanted.refresh,
            wanted.retry_failed,
            pause_gate=self._gate,
            heart=self._host.heart,
            network=self._host.network,
            hosting=self._hosting,
        )
        began = clock.monotonic()
        async with contextlib.AsyncExitStack() as stack:
            plan.note_hosts(parts)
            for key, note in wanted.notes.items():
                parts.notes_of(plan.record.id).put(key, note)
            parts.crawls.begin(plan.record.id, clock.wall())
            self._request.begin(plan.record.id)
            moved = None if settings.scope.hosts else self._widen_scope
            hooks = CrawlHooks(_ignore, moved)
            self._hosting.under_way.has_neighbours = True
            built = await build_crawl(
                parts, order, self._host.budgets, hooks, stack, self._host.make_transport
            )
            self._crawl = built.crawl
            ended = await self._visit_all(built.crawl, plan)
        await self._until_read()
        seconds = clock.monotonic() - began
        made = self._host.followers
        return CrawlAnswer(outcome_of(plan, "crawl", built.crawl, ended, seconds, made))

    async def _visit_all(self, crawl: Crawl, plan: CrawlPlan) -> EndedBy:
        control = ControlFiles(
            self._host.control_folder, "crawl", plan.record.name, self._gate, self.stop,
            is_first=False,
        )  # fmt: skip
        watching = [asyncio.create_task(each) for each in (control.watch(), self._heed())]
        if self._is_handed_back:
            crawl.stop()
        try:
            ended = await crawl.run()
        finally:
            for task in watching:
                task.cancel()
        plan.note_end(self._host.parts, ended)
        return ended

    async def _heed(self) -> None:
        """Follow what the process that ordered this crawl wants."""
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            if not self._request.is_wanted:
                self.stop_now()
            elif self._request.is_stopped:
                self.stop()

    async def _until_read(self) -> None:
        """Wait for the documents of this crawl's pages."""
        documenter, last = self._host.followers.documenter, self._host.parts.captures.last_id()
        while documenter and documenter.cursor < last and not self._is_hurried:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN)

    def _widen_scope(self, netloc: str) -> None:
        assert self._crawl is not None
        assert self._plan is not None
        self._crawl.visitor.judge.rescope(self._plan.meet(self._host.parts, netloc))
        events.emit(events.SCOPE_WIDENED, 30, host=netloc)


class Guests:
    """All guests of one crawl, while its context is open."""

    def __init__(self, host: Host, hosting: Hosting) -> None:
        self._host = host
        self._hosting = hosting
        self._running: dict[str, tuple[Guest, asyncio.Task[None]]] = {}
        self._desk: RequestDesk | None = None
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._desk = RequestDesk(self._host.control_folder)
        self._looking = asyncio.create_task(self._look(self._desk))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._desk is not None
        assert self._looking is not None
        self._looking.cancel()
        self._desk.close()
        for guest, _ in self._running.values():
            if kind is None:
                guest.hand_back()
            else:
                guest.stop_now()
        if self._running:
            await asyncio.wait([task for _, task in self._running.values()])

    def stop_now(self) -> None:
        for guest, _ in self._running.values():
            guest.stop_now()

    async def _look(self, desk: RequestDesk) -> None:
        while True:
            for request in desk.requests():
                if request.key not in self._running:
                    guest = Guest(self._host, self._hosting, request)
                    task = asyncio.create_task(guest.run())
                    self._running[request.key] = guest, task
            for key, (_, task) in list(self._running.items()):
                if task.done():
                    del self._running[key]
            await asyncio.sleep(_LOOK_AGAIN)


async def _ignore(visit: Visit) -> None:
    """The pages of a guest are for its documents alone."""
