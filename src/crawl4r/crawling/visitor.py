"""Visit one URL: all steps between its lease and its commit.

admission ──> send ──> judge ──> end of the host's turn ──> compare with missing pages ──> screen
                └─ unless another crawl of the store has a fresh answer ────────────────────^
"""

from __future__ import annotations

from msgspec.structs import replace

from crawl4r import events
from crawl4r.clock import Clock
from crawl4r.crawling.admission import Admission
from crawl4r.crawling.judge import Judge
from crawl4r.crawling.shared_answers import SharedAnswers
from crawl4r.fetch.sender import Sender, was_lost
from crawl4r.frontier.schedule import PageTurn
from crawl4r.model import Failure, Lease, Response, Verdict, Visit
from crawl4r.politeness.answers import health_of, retry_after_of
from crawl4r.politeness.breaker import BreakerState
from crawl4r.politeness.host_budget import Health
from crawl4r.politeness.host_budgets import HostBudgets


class Visitor:
    """Visits URLs that have a turn at their host."""

    def __init__(
        self,
        sender: Sender,
        admission: Admission,
        judge: Judge,
        budgets: HostBudgets,
        clock: Clock,
        shared: SharedAnswers,
    ) -> None:
        self.judge = judge
        self.budgets = budgets
        self._sender = sender
        self.admission = admission
        self._clock = clock
        self._shared = shared

    async def visit(self, turn: PageTurn) -> Visit | None:
        """The visit to keep; None when the network was down, which is not the host's fault.

        The turn at the host has ended when this returns or raises.
        """
        lease, host = turn
        try:
            if refused := self.admission.refusal(lease):
                host.withdraw(self._clock.monotonic())
                return refused
            if known := await self._from_neighbour(lease):
                host.withdraw(self._clock.monotonic())
                return self.admission.screen(known)
            if lease.validators and not lease.is_read and not self._shared.can_read(lease):
                lease = replace(lease, validators=None)
                turn = turn._replace(lease=lease)
            answer = await self._sender.send(lease.url, lease.validators)
            if was_lost(answer):
                host.end(self._clock.monotonic(), Health.UNTOUCHED, answer.sent_at)
                return None
            visit = await self._judge(turn, answer)
        finally:
            host.end(self._clock.monotonic(), Health.UNTOUCHED)
        if visit.ending.verdict is Verdict.NOT_MODIFIED and not lease.is_read:
            visit = await self._with_links(visit)
        if visit.likeness is not None:
            visit = await self.judge.compare_with_missing(visit)
        return self.admission.screen(visit)

    def left(self, url: str) -> None:
        """The visit of a URL is kept, or it failed."""
        self._shared.end(url)

    async def _from_neighbour(self, lease: Lease) -> Visit | None:
        kept = await self._shared.find(lease)
        return await self.judge.judge_kept(lease, kept) if kept else None

    async def _with_links(self, visit: Visit) -> Visit:
        """What this crawl finds in a page that another one keeps, and that has not changed since."""
        kept = self._shared.page_behind(visit.lease)
        read = await self.judge.judge_kept(visit.lease, kept) if kept else None
        if read is None:
            return visit
        return replace(
            visit, found=read.found, ending=visit.ending._replace(content=visit.lease.content)
        )

    async def _judge(self, turn: PageTurn, answer: Response | Failure) -> Visit:
        """Judge the answer before the turn ends, because the page may show that the host refuses us."""
        lease, host = turn
        breaker = self.budgets[lease.host].breaker
        is_sick = breaker.openings > 0
        visit = await self.judge.judge(lease, answer, is_host_sick=is_sick)
        health = health_of(answer, visit.ending.verdict)
        now = self._clock.monotonic()
        was = breaker.state(now)
        retry_after = retry_after_of(answer, self._clock.wall())
        host.end(now, health, answer.sent_at, answer.latency, retry_after)
        self._report(lease, health, was)
        return visit

    def _report(self, lease: Lease, health: Health, was: BreakerState) -> None:
        budget, moment = self.budgets[lease.host], self._clock.monotonic()
        state = budget.breaker.state(moment)
        if state is not was and state is BreakerState.OPEN:
            wait = budget.breaker.open_until - moment
            events.emit(events.HOST_OPENED, 30, host=lease.host, cooldown_s=round(wait))
        elif state is not was and state is BreakerState.CLOSED:
            events.emit(events.HOST_CLOSED, host=lease.host)
        if health is Health.CHALLENGING:
            rest = budget.next_at - moment
            events.emit(events.HOST_CHALLENGED, 30, host=lease.host, rest_s=round(rest))
