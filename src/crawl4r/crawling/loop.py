"""The crawl loop: lease a URL, fetch it politely, judge the answer, keep it, add its links.

    schedule.next() ──> visitor.visit: robots.txt and rules, request, verdict, links ──┐
         ^                                                                            │
         └────────────── keeper.keep: bytes, capture, lease and links in one commit <─┘

Each page has one task. At most `concurrency` pages are between lease and commit, and a crash repeats
only those.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import StrEnum

from crawl4r import events
from crawl4r.clock import Clock
from crawl4r.crawling.keeper import Keeper
from crawl4r.crawling.progress import CrawlProgress
from crawl4r.crawling.visitor import Visitor
from crawl4r.errors import Crawl4rError
from crawl4r.frontier.schedule import PageTurn, RobotsTurn, Schedule
from crawl4r.model import Visit
from crawl4r.politeness.host_budget import Health, HostTurn
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.urls.policy import CrawlLimits


class EndedBy(StrEnum):
    """Why a crawl ended."""

    NOTHING_LEFT = "nothing left"
    MAX_PAGES = "max pages"
    MAX_BYTES = "max bytes"
    MAX_SECONDS = "max seconds"
    STOPPED = "stopped"
    HOSTS_GIVEN_UP = "hosts given up"
    STALLED = "stalled"
    MEMORY = "memory"


OnKept = Callable[[Visit], Awaitable[None]]  # called for each visit once it is durable


class Crawl:
    """One run over one workspace."""

    def __init__(
        self,
        schedule: Schedule,
        visitor: Visitor,
        keeper: Keeper,
        limits: CrawlLimits,
        clock: Clock,
        heart: Heartbeat,
        network: NetworkWatch | None,
        on_kept: OnKept,
    ) -> None:
        self.schedule = schedule
        self.visitor = visitor
        self.keeper = keeper
        self.limits = limits
        self.progress = CrawlProgress(clock.monotonic())
        self._clock = clock.monotonic
        self._heart = heart
        self._network = network
        self._on_kept = on_kept
        self._is_full = False  # the cap of pages is reached
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._turns: set[HostTurn] = set()  # of the pages between lease and commit
        self._visit_ended = asyncio.Event()
        self._ended_by: EndedBy | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> EndedBy:
        """Crawl until nothing is left, a cap is reached or `stop` is called."""
        events.emit(events.CRAWL_STARTED, pages_so_far=self.keeper.pages)
        try:
            await self._visit_all()
        except BaseException:
            self.keeper.drop()
            self.schedule.abandon()
            raise
        finally:
            self._leave_hosts()
            self._report_untold()
        self.schedule.stop()
        self.keeper.commit()
        self._report_untold()
        if self._ended_by is None:
            self._ended_by = self._why_nothing_is_left()
        for host in sorted(self.schedule.given_up):
            events.emit(events.HOST_GIVEN_UP, 30, host=host)
        events.emit(events.CRAWL_ENDED, why=self._ended_by.value, visits=self.progress.visits)
        return self._ended_by

    def _why_nothing_is_left(self) -> EndedBy:
        if self._is_full:
            return EndedBy.MAX_PAGES
        return EndedBy.HOSTS_GIVEN_UP if self.schedule.given_up else EndedBy.NOTHING_LEFT

    async def _visit_all(self) -> None:
        async with asyncio.TaskGroup() as tasks, self._time_limit():
            while (turn := await self._next_turn()) is not None:
                work = self._ask_robots(turn) if isinstance(turn, RobotsTurn) else self._visit(turn)
                task = tasks.create_task(work)
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def stop(self, why: EndedBy = EndedBy.STOPPED) -> None:
        """Begin no more visits; finish and keep those in flight."""
        if self._ended_by is None:
            self._ended_by = why
            events.emit(events.CRAWL_STOPPING, why=why.value, in_flight=self.in_flight)
        self.schedule.stop()
        if self._network:
            self._network.end()

    def adopt(self, limits: CrawlLimits) -> None:
        """Replace the limits."""
        self.limits = limits
        if self._is_full and not self._has_all_pages():
            self._is_full = False
            self.schedule.widen()

    def stop_now(self) -> None:
        """Drop the visits in flight; the next run fetches their URLs."""
        self.stop()
        for task in list(self._tasks):
            task.cancel()

    @property
    def is_stopping(self) -> bool:
        """Whether the crawl begins no more visits."""
        return self._ended_by is not None

    @property
    def in_flight(self) -> int:
        """The number of pages between lease and commit."""
        return len(self._turns)

    async def _next_turn(self) -> PageTurn | RobotsTurn | None:
        await self._slots.acquire()
        if why := self._cap_reached():
            self.stop(why)
        turn = await self._next_within_page_cap()
        self._heart.beat()
        if turn is None:
            self._slots.release()
        elif isinstance(turn, PageTurn):
            self._turns.add(turn.host)
        return turn

    async def _next_within_page_cap(self) -> PageTurn | RobotsTurn | None:
        """How many pages may be leased, so that a cap of pages is exact."""
        cap = self.limits.max_pages
        while self._may_fill(cap):
            self._visit_ended.clear()
            await self._visit_ended.wait()
            if why := self._cap_reached():
                self.stop(why)
        return await self.schedule.next()

    def _may_fill(self, cap: int | None) -> bool:
        """Whether the pages in flight could reach the cap, so that no lease may begin."""
        if cap is None or self._is_full:
            return False
        return self.in_flight > 0 and self.keeper.fetched_pages + self.in_flight >= cap

    def _has_all_pages(self) -> bool:
        most = self.limits.max_pages
        return most is not None and self.keeper.fetched_pages >= most

    def _cap_reached(self) -> EndedBy | None:
        """The cap that ends the crawl. A full cap of pages still allows visits to kept pages."""
        limits = self.limits
        if not self._is_full and self._has_all_pages():
            self._is_full = True
            self.schedule.keep_to_known()
        if limits.max_bytes is not None and self.keeper.fetched_bytes >= limits.max_bytes:
            return EndedBy.MAX_BYTES
        return None

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        timer = None
        if self.limits.max_seconds is not None:
            left = self.progress.started_at + self.limits.max_seconds - self._clock()
            loop = asyncio.get_running_loop()
            timer = loop.call_later(max(0.0, left), self.stop, EndedBy.MAX_SECONDS)
        try:
            yield
        finally:
            if timer:
                timer.cancel()

    async def _ask_robots(self, turn: RobotsTurn) -> None:
        try:
            wait = await self.visitor.admission.load_robots(turn.url)
        finally:
            self._slots.release()
        if wait is None:
            self.schedule.resume(turn.host)
        else:
            self.schedule.resume_later(turn.host, wait)

    async def _visit(self, turn: PageTurn) -> None:
        """Visit one URL and keep the result."""
        lease, host_turn = turn
        try:
            visit = await self.visitor.visit(turn)
            if host_turn.is_withdrawn:
                self.schedule.hurry(lease.host)
            if visit is None:
                self.schedule.give_back(lease)
                return
            hosts = await self.keeper.keep(visit, self.in_flight)
            self._heart.beat()
            self.schedule.notice(hosts)
            self.progress.report(visit)
            await self._on_kept(visit)
            self.schedule.settled(lease.host, visit.ending.due_at)
        finally:
            self.visitor.left(lease.url)
            self._turns.remove(host_turn)
            self._visit_ended.set()
            self._slots.release()

    def _leave_hosts(self) -> None:
        """End the turns of pages whose tasks were cancelled before they began."""
        for turn in self._turns:
            with contextlib.suppress(Crawl4rError):  # a full disk: other processes wait longer
                turn.end(self._clock(), Health.UNTOUCHED)
        self._turns.clear()

    def _report_untold(self) -> None:
        for visit in self.keeper.untold:
            self.progress.report(visit)
        self.keeper.untold.clear()
