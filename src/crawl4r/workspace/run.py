"""One run of a crawl: iterate over it, stop it, wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from crawl4r import events
from crawl4r.crawling.control_files import ControlFiles
from crawl4r.crawling.loop import Crawl, EndedBy
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.frontier.revisit_round import RevisitRound
from crawl4r.model import Visit
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.resilience.health_file import new_history
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.resilience.stall import WatchRules
from crawl4r.settings.load import Settings
from crawl4r.wiring.crawl import BuiltCrawl, MakeTransport, build_crawl
from crawl4r.wiring.crawl_order import CrawlHooks, CrawlOrder, RulesInForce
from crawl4r.wiring.parts import Parts, check_store
from crawl4r.workspace.blocking import iterate_blocking
from crawl4r.workspace.crawl_plan import CrawlPlan
from crawl4r.workspace.followers import Followers
from crawl4r.workspace.guests import Guests
from crawl4r.workspace.page_feed import PageFeed
from crawl4r.workspace.run_outcome import RunOutcome, outcome_of
from crawl4r.workspace.store_recovery import Reopening, first_of, may_pass, worst_of
from crawl4r.workspace.watch import CrawlWatch

if TYPE_CHECKING:
    from crawl4r.workspace.page import Page
    from crawl4r.workspace.page_reader import PageReader


class RunContext(NamedTuple):
    """What a workspace lends to its runs."""

    make_transport: MakeTransport | None = None
    reopen: Callable[[], Parts] | None = None  # close the parts and open them again
    page_reader: PageReader | None = None  # for what is asked of pages later


NO_CONTEXT = RunContext()  # no store is waited for


class CrawlRun:
    """One run of a crawl: iterate over it for its pages, or await `finish()`.

    `async for` and `for` give each capture once: as soon as its page is read where documents are made,
    else as soon as it is kept. A crawl under `for` goes on only while the next page is waited for.

    When the store cannot be written (a full disk, a failing one), it stops taking work, waits for up to
    `resilience.store_patience` seconds, opens the workspace again and goes on: `workspace.database` and
    its like are then new objects. What was not durable by then is fetched again. StorageFull is raised
    when the patience is over, StorageDamaged at once.
    """

    role = "crawl"  # what files that hold or stop it call it
    plan_kind: type[CrawlPlan] = CrawlPlan

    def __init__(
        self,
        parts: Parts,
        settings: Settings,
        seeds: tuple[str, ...],
        budgets: HostBudgets,
        context: RunContext = NO_CONTEXT,
        *,
        refresh: bool = False,
        retry_failed: bool = False,
        name: str | None = None,
    ) -> None:
        """`name`: which crawl of the store goes on, or begins; by default the one that began last."""
        self.parts = parts
        self.settings = settings
        self.crawl: Crawl | None = None
        self._in_force: RulesInForce | None = None
        self.followers = Followers()
        self.pause_gate = PauseGate()
        self.heart = Heartbeat(parts.clock.monotonic)
        self.history = new_history()
        self.network = NetworkWatch(self.pause_gate, self.heart, self.watch_rules)
        self.takes_guests = False  # crawls that other processes order run here too
        self.guests: Guests | None = None
        self.may_exit = False  # end the whole process when its event loop stays blocked
        self._watch = CrawlWatch(self)
        self._context = context
        self.reopening = Reopening(self)
        self.control_folder = parts.path
        self.control: ControlFiles | None = None
        self.seconds = 0.0  # that the crawl took, without what was made of its pages afterwards
        self._budgets = budgets
        self._feed: PageFeed | None = None
        self._task: asyncio.Task[EndedBy] | None = None
        self._started_at: float | None = None
        self.is_stopped = False
        record = parts.crawls.find(name) if name else parts.crawls.last()
        self.plan = self.plan_kind(parts, settings, seeds, record, name, self.role)
        self.record = self.plan.record
        self._order = CrawlOrder(
            self.record.id,
            settings,
            self.plan.seeds,
            self.plan.links,
            refresh,
            retry_failed,
            pause_gate=self.pause_gate,
            heart=self.heart,
            network=self.network,
        )

    @property
    def seeds(self) -> Sequence[str]:
        """Canonical; empty when a run goes on with what is known."""
        return self.plan.seeds

    def __aiter__(self) -> AsyncGenerator[Page, None]:
        return self._iterate()

    def __iter__(self) -> Iterator[Page]:
        return iterate_blocking(self._iterate())

    async def _iterate(self) -> AsyncGenerator[Page, None]:
        reads = self.settings.content.extract
        reader = self._context.page_reader
        self._feed = PageFeed(lambda: self.parts, self.record.id, reader, reads=reads)
        self._task = asyncio.create_task(self._run_to_the_end())
        try:
            async for page in self._feed.pages():
                yield page
        finally:
            await self.close()
        await self._task

    def wait(self) -> EndedBy:
        """`finish` for code without an event loop."""
        return asyncio.run(self.finish())

    async def finish(self) -> EndedBy:
        """Run to the end; why it ended."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await self._task

    def stop(self) -> None:
        """Begin no new page; what is in flight is finished and kept."""
        self.is_stopped = True
        if self.crawl:
            self.crawl.stop()
        if self.followers.index:
            self.followers.index.stop()

    def stop_now(self) -> None:
        """Drop what is in flight; the next run fetches it again."""
        if self.guests:
            self.guests.stop_now()
        if self.crawl:
            self.crawl.stop_now()
        self.followers.stop()

    def leave(self, why: EndedBy) -> None:
        """End soon with everything saved; what is still to be made of the pages is the next run's."""
        if self.crawl:
            self.crawl.stop(why)
        self.stop()
        if why is EndedBy.STALLED:  # what is in flight does not come back
            self.stop_now()
        self.followers.stop()

    @property
    def budgets(self) -> HostBudgets:
        return self._budgets

    @property
    def make_transport(self) -> MakeTransport | None:
        return self._context.make_transport

    def outcome(self, ended: EndedBy) -> RunOutcome:
        """What this run did, after its end."""
        assert self.crawl is not None
        return outcome_of(self.plan, self.role, self.crawl, ended, self.seconds, self.followers)

    def watch_rules(self) -> WatchRules:
        """Those in force now: a reload may change them."""
        return self.settings.resilience.rules()

    def is_ahead(self) -> bool:
        """Whether it waits for its pages to be taken."""
        return self._feed is not None and self._feed.is_full()

    def visits(self) -> int:
        """How many were kept so far."""
        return self.crawl.progress.visits if self.crawl else 0

    def seconds_left(self) -> float:
        """Of those that it may take at most; infinity without a limit."""
        limit = self.settings.crawl_limits().max_seconds
        if limit is None or self.crawl is None:
            return math.inf
        return self.crawl.progress.started_at + limit - self.parts.clock.monotonic()

    def reopen(self) -> None:
        """Stand on the store as it is now."""
        assert self._context.reopen is not None
        self.parts = self._context.reopen()

    async def close(self) -> None:
        """Stop, and wait until everything in flight is kept."""
        if self._task is None or self._task.done():
            return
        self.stop()
        while not self._task.done():
            if self._feed is not None:
                self._feed.close()
            await asyncio.wait([self._task], timeout=0.05)

    def reload(self, settings: Settings) -> None:
        """Take over new limits, pace and scope while running."""
        assert self.crawl is not None
        assert self._in_force is not None
        check_store(self.parts.notes, settings)
        self.settings = self.plan.settings = settings
        self.crawl.adopt(settings.crawl_limits())
        self.crawl.visitor.judge.rescope(self.plan.rules())
        self._in_force.adopt(settings, self.crawl.visitor.judge.links)
        self.crawl.schedule.reconsider()

    async def _run_to_the_end(self) -> EndedBy:
        assert self._feed is not None
        try:
            return await self._run()
        finally:
            await self._feed.end()

    async def _run(self) -> EndedBy:
        """To the end, over as many openings of the store as that takes."""
        self.control = ControlFiles(
            self.control_folder, self.role, self.record.name, self.pause_gate, self.stop
        )
        while True:
            try:
                return await self._run_once()
            except Exception as problem:
                trouble = worst_of(problem)
                if not self._can_wait_out(trouble):
                    if trouble is problem:
                        raise
                    raise trouble from None
            if not await self.reopening.outlast(trouble):
                events.emit(events.CRAWL_ENDED, why=EndedBy.STOPPED.value, visits=self.visits())
                return EndedBy.STOPPED
            self._prepare_to_go_on()

    def _can_wait_out(self, trouble: BaseException) -> bool:
        if self._context.reopen is None or self.is_stopped or not self.watch_rules().store_patience:
            return False
        return may_pass(trouble, has_begun=self.crawl is not None)

    def _prepare_to_go_on(self) -> None:
        self.seconds = 0.0
        self.network.begin_again()
        if self.crawl:  # else it never began, and all is still to be done
            self._order = replace(
                self._order,
                settings=self.settings,
                links=LinkJudge(self.plan.rules()),
                refresh=False,
                retry_failed=False,
                goes_on=True,
            )

    async def _run_once(self) -> EndedBy:
        async with contextlib.AsyncExitStack() as stack:
            self.plan.note_hosts(self.parts)
            self.parts.crawls.interrupt(but_for=self.record.id)
            self.parts.crawls.begin(self.record.id, self.parts.clock.wall())
            earlier = self.crawl
            built = await self._build(stack)
            self.crawl, self._in_force = built.crawl, built.in_force
            if earlier:
                self.crawl.progress = earlier.progress
                if self._feed:
                    await self._feed.add_missed()
            if self.is_stopped:
                self.crawl.stop()
            on_read = self._feed.add_read if self._feed else None
            await self.followers.build(self.parts, self.settings, stack, on_read)
            await self.followers.build_logs(
                self.parts, self.settings, stack, self.role, self.control_folder
            )
            stack.enter_context(self._watch.watching())
            if self.takes_guests:
                self.guests = await stack.enter_async_context(Guests(self, built.hosting))
            try:
                return self._watch.end(await self.followers.follow(self._visit_all))
            except* Exception as problems:
                raise first_of(problems) from None
        raise AssertionError("unreachable")

    async def _build(self, stack: contextlib.AsyncExitStack) -> BuiltCrawl:
        hooks = CrawlHooks(self._on_kept, None if self.settings.scope.hosts else self._widen_scope)
        return await build_crawl(
            self.parts, self._order, self._budgets, hooks, stack, self._context.make_transport
        )

    def _beside(self, crawl: Crawl) -> list[Coroutine[Any, Any, None]]:
        """What goes on as long as pages are visited."""
        assert self.control is not None
        return [self.control.watch(), self._watch.follow()]

    async def _visit_all(self) -> EndedBy:
        assert self.crawl is not None
        now = self.parts.clock.monotonic
        if self._started_at is None:
            self._started_at = now()
        try:
            async with asyncio.TaskGroup() as tasks:
                beside = [tasks.create_task(work) for work in self._beside(self.crawl)]
                ended = await self.crawl.run()
                for task in beside:
                    task.cancel()
            if ended is EndedBy.HOSTS_GIVEN_UP:
                RevisitRound(
                    self.parts.database, self.record.id
                ).end()  # not to wait for a host that is away
            self.plan.note_end(self.parts, ended)
            return ended
        finally:
            self.seconds = now() - self._started_at

    async def _on_kept(self, visit: Visit) -> None:
        if self._feed:
            await self._feed.add_kept(visit)

    def _widen_scope(self, netloc: str) -> None:
        """A seed moved to another host: that host belongs to the crawl from now on."""
        assert self.crawl is not None
        self.crawl.visitor.judge.rescope(self.plan.meet(self.parts, netloc))
        events.emit(events.SCOPE_WIDENED, 30, host=netloc)
