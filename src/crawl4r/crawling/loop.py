"""THE loop: lease a URL, ask politely, judge the answer, keep it, find more.

    schedule.next() ──> robots.judge ──> transport.fetch ──> judge the status ──> read its links
         ^                                                                            │
         └────────────── keeper.keep: bytes, capture, lease and links in one commit <─┘

One task a page, at most `concurrency` of them from lease to commit: that is all a crash can repeat.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crawl4r import events
from crawl4r.crawling.judge import Judge, health_of, retry_after_of
from crawl4r.crawling.keeper import Keeper
from crawl4r.crawling.listing_depth import ListingDepth
from crawl4r.crawling.robots import RobotsGate, RobotsWord
from crawl4r.crawling.trap_filter import TrapWatch
from crawl4r.errors import Crawl4rError
from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import Request, Transport
from crawl4r.fetch.proxies import ProxyPool
from crawl4r.frontier.guesses import was_in_vain
from crawl4r.frontier.schedule import RobotsTurn, Schedule
from crawl4r.model import Ending, Failure, Lease, UrlState, Verdict, Visit, verdict_of
from crawl4r.politeness.breaker import BreakerState
from crawl4r.politeness.host_budget import Health, HostBudgets
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.urls.policy import CrawlLimits


class EndedBy(StrEnum):
    """Why a crawl came to its end."""

    NOTHING_LEFT = "nothing left"
    MAX_PAGES = "max pages"
    MAX_BYTES = "max bytes"
    MAX_SECONDS = "max seconds"
    STOPPED = "stopped"
    HOSTS_GIVEN_UP = "hosts given up"
    STALLED = "stalled"
    MEMORY = "memory"


class CrawlProgress(Struct):
    """What a crawl has done since it was started; read it at any time."""

    started_at: float
    visits: int = 0
    pages: int = 0
    bytes: int = 0
    retries: int = 0
    guesses_in_vain: int = 0  # not among the verdicts
    verdicts: Counter[str] = field(default_factory=Counter)


class Crawl:
    """One run over one workspace. `on_kept` hears of each visit once it is durable."""

    def __init__(
        self,
        schedule: Schedule,
        robots: RobotsGate,
        transport: Transport,
        headers: RequestHeaders,
        proxies: ProxyPool,
        judge: Judge,
        keeper: Keeper,
        budgets: HostBudgets,
        limits: CrawlLimits,
        *,
        clock: Callable[[], float],
        heart: Heartbeat | None = None,
        network: NetworkWatch | None = None,
        on_kept: Callable[[Visit], Awaitable[None]] | None = None,
        traps: TrapWatch | None = None,
        listings: ListingDepth | None = None,
    ) -> None:
        self.schedule = schedule
        self.budgets = budgets
        self.keeper = keeper
        self.limits = limits
        self._is_full = False  # as many pages are kept as may be
        self.progress = CrawlProgress(clock())
        self._robots = robots
        self._transport = transport
        self._headers = headers
        self._proxies = proxies
        self.judge = judge
        self._clock = clock
        self._heart = heart or Heartbeat(clock)
        self._network = network
        self._on_kept = on_kept
        self.traps = traps
        self._listings = listings
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._busy = 0  # pages between lease and commit
        self._visit_ended = asyncio.Event()
        self._ended_by: EndedBy | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._at_hosts: dict[int, str] = {}  # URL and host, from its turn until the budget is told

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
                work = self._errand(turn) if isinstance(turn, RobotsTurn) else self._visit(turn)
                task = tasks.create_task(work)
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def stop(self, why: EndedBy = EndedBy.STOPPED) -> None:
        """Begin nothing more; what is in flight is finished and kept."""
        if self._ended_by is None:
            self._ended_by = why
            events.emit(events.CRAWL_STOPPING, why=why.value, in_flight=self._busy)
        self.schedule.stop()
        if self._network:
            self._network.end()

    def adopt(self, limits: CrawlLimits) -> None:
        """Go by other limits from now on."""
        self.limits = limits
        if self._is_full and not self._has_all_pages():
            self._is_full = False
            self.schedule.widen()

    def stop_now(self) -> None:
        """Drop what is in flight; its URLs stay to be fetched by the next run."""
        self.stop()
        for task in list(self._tasks):
            task.cancel()

    @property
    def is_stopping(self) -> bool:
        """Whether it begins nothing more."""
        return self._ended_by is not None

    @property
    def in_flight(self) -> int:
        return self._busy

    async def _next_turn(self) -> Lease | RobotsTurn | None:
        await self._slots.acquire()
        if why := self._cap_reached():
            self.stop(why)
        turn = await self._next_within_page_cap()
        self._heart.beat()
        if turn is None:
            self._slots.release()
        elif isinstance(turn, Lease):
            self._busy += 1
            self._at_hosts[turn.url_id] = turn.host
        return turn

    async def _next_within_page_cap(self) -> Lease | RobotsTurn | None:
        """Never lease more than could be kept, so that a cap of pages is exact."""
        cap = self.limits.max_pages
        while self._may_fill(cap):
            self._visit_ended.clear()
            await self._visit_ended.wait()
            if why := self._cap_reached():
                self.stop(why)
        return await self.schedule.next()

    def _may_fill(self, cap: int | None) -> bool:
        """Whether what is in flight could reach the cap, so that nothing more may be leased."""
        if cap is None or self._is_full:
            return False
        return self._busy > 0 and self.keeper.fetched_pages + self._busy >= cap

    def _has_all_pages(self) -> bool:
        most = self.limits.max_pages
        return most is not None and self.keeper.fetched_pages >= most

    def _cap_reached(self) -> EndedBy | None:
        """The cap that ends the crawl; a full cap of pages leaves what is kept to be visited again."""
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

    async def _errand(self, errand: RobotsTurn) -> None:
        try:
            wait = await self._robots.load(errand.url)
        finally:
            self._slots.release()
        if wait is None:
            self.schedule.resume(errand.host)
        else:
            self.schedule.resume_later(errand.host, wait)

    async def _visit(self, lease: Lease) -> None:
        """Everything that happens to one URL, from its lease to its commit."""
        try:
            word = self._robots.judge(lease.url, lease.written)
            if word.verdict is None:
                word = self._recheck(lease)
            if word.verdict is not None:
                del self._at_hosts[lease.url_id]
                self.budgets[lease.host].withdraw(self._clock())
                self.schedule.hurry(lease.host)
                visit: Visit | None = _refused(lease, word.verdict, word.reason)
            else:
                visit = await self._ask(lease)
            if visit is None:
                self.schedule.give_back(lease)
                return
            visit = self._screened(visit)
            hosts = await self.keeper.keep(visit, self._busy)
            self._heart.beat()
            self.schedule.notice(hosts)
            self._report(visit)
            if self._on_kept:
                await self._on_kept(visit)
            self.schedule.settled(lease.host, visit.ending.due_at)
        finally:
            self._busy -= 1
            self._visit_ended.set()
            self._slots.release()

    def _recheck(self, lease: Lease) -> RobotsWord:
        """Whether the rules of now keep out what was let in before."""
        if rule := self.judge.links.recheck(lease):
            return RobotsWord(verdict_of(rule), rule)
        if self.traps and (trap := self.traps.recheck(lease)):
            return RobotsWord(Verdict.CAPPED, trap)
        return RobotsWord(None, "")

    def _screened(self, visit: Visit) -> Visit:
        """What a page names, as far as robots.txt and the look of a trap let it through."""
        if not visit.found:
            return visit
        found = self._robots.spare_places(visit.found)
        if self._listings:
            found = self._listings.screen(visit.lease, found)
        if self.traps:
            found = self.traps.screen(found)
        return visit if found is visit.found else replace(visit, found=found)

    async def _ask(self, lease: Lease) -> Visit | None:
        """Fetch and judge; None when there was no network, which is nobody's fault.

        The host's turn lasts until its page is judged: it may be a refusal.
        """
        budget = self.budgets[lease.host]
        proxy = self._proxies.pick()
        headers = self._headers.for_url(lease.url, lease.validators)
        try:
            answer = await self._transport.fetch(Request(lease.url, headers, proxy))
            if isinstance(answer, Failure) and answer.by_network:
                self._end_turn(lease, Health.UNTOUCHED, answer.sent_at)
                return None
            is_sick = budget.breaker.openings > 0
            visit = await self.judge.judge(lease, answer, is_host_sick=is_sick)
        except BaseException:
            self._end_turn(lease, Health.UNTOUCHED)
            raise
        if proxy:
            self._proxies.report(proxy, answer)
        was = budget.breaker.state(self._clock())
        health = health_of(answer, visit.ending.verdict)
        self._end_turn(
            lease,
            health,
            answer.sent_at,
            answer.latency,
            retry_after_of(answer, self.judge.wall()),
        )
        self._report_breaker(lease.host, was, budget.breaker.state(self._clock()))
        if health is Health.CHALLENGING:
            rest = budget.next_at - self._clock()
            events.emit(events.HOST_CHALLENGED, 30, host=lease.host, rest_s=round(rest))
        if visit.likeness is not None:
            visit = await self.judge.compare_with_missing(visit)
        return visit

    def _end_turn(self, lease: Lease, health: Health, *facts: Any) -> None:
        if self._at_hosts.pop(lease.url_id, None):  # once, also when that fails
            self.budgets[lease.host].end(self._clock(), health, *facts)

    def _leave_hosts(self) -> None:
        """Turns of pages that were dropped before anybody began with them."""
        for host in self._at_hosts.values():
            with contextlib.suppress(Crawl4rError):  # no room to write it down: others wait longer
                self.budgets[host].end(self._clock(), Health.UNTOUCHED)
        self._at_hosts.clear()

    def _report_untold(self) -> None:
        for visit in self.keeper.untold:
            self._report(visit)
        self.keeper.untold.clear()

    def _report(self, visit: Visit) -> None:
        progress = self.progress
        progress.visits += 1
        if was_in_vain(visit.lease, visit.ending):
            progress.guesses_in_vain += 1
        else:
            progress.verdicts[visit.ending.verdict.value] += 1
        if visit.ending.state is UrlState.WAITING:
            progress.retries += 1
        if visit.capture:
            progress.bytes += visit.capture.bytes
            progress.pages += visit.ending.verdict is Verdict.OK
        if events.is_enabled(20):
            _log_visit(visit)

    def _report_breaker(self, host: str, was: BreakerState, now: BreakerState) -> None:
        if now is was:
            return
        if now is BreakerState.OPEN:
            wait = self.budgets[host].breaker.open_until - self._clock()
            events.emit(events.HOST_OPENED, 30, host=host, cooldown_s=round(wait))
        elif now is BreakerState.CLOSED:
            events.emit(events.HOST_CLOSED, host=host)


def _refused(lease: Lease, verdict: Verdict, reason: str) -> Visit:
    """No request was made. What the site could not be asked about may be asked again one day."""
    is_final = verdict is not Verdict.ROBOTS_UNREACHABLE
    state = UrlState.REFUSED if is_final else UrlState.FAILED
    return Visit(lease, Ending(lease.url_id, state, verdict, reason))


_LOG_NAMES = {
    UrlState.DONE: events.PAGE_KEPT,
    UrlState.NEEDS_BROWSER: events.PAGE_SHELVED,
    UrlState.REFUSED: events.PAGE_REFUSED,
    UrlState.WAITING: events.PAGE_RETRIED,
    UrlState.FAILED: events.PAGE_FAILED,
}


def _log_visit(visit: Visit) -> None:
    capture, ending = visit.capture, visit.ending
    fields: dict[str, Any] = {
        "url": visit.lease.url,
        "verdict": ending.verdict.value,
        "depth": visit.lease.depth,
    }
    if ending.reason:
        fields["reason"] = ending.reason
    if capture:
        fields |= {"status": capture.status, "bytes": capture.bytes, "ms": capture.latency_ms}
    if visit.found:
        fields["new_links"] = len(visit.found)
    events.emit(_LOG_NAMES[ending.state], **fields)
