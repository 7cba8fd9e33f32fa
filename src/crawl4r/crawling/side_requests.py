"""Requests for robots.txt and probes, under the same host budgets as pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crawl4r.archive.requests import Requests, SideRequest
from crawl4r.clock import Clock
from crawl4r.fetch.sender import Sender, was_lost
from crawl4r.model import Failure, Response
from crawl4r.politeness.answers import health_of, retry_after_of
from crawl4r.politeness.host_budget import Health, HostBudget, HostTurn
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.urls.canonical import split


class SideRequests:
    """Fetches one URL as soon as its host budget allows another request."""

    def __init__(
        self,
        sender: Sender,
        budgets: HostBudgets,
        clock: Clock,
        heart: Heartbeat,
        network: NetworkWatch | None,
        on_answer: Callable[[str, Response | Failure], None],
    ) -> None:
        """`on_answer` is called for every sent request, unless the network was down."""
        self._sender = sender
        self._budgets = budgets
        self._clock = clock
        self._heart = heart
        self._network = network
        self._on_answer = on_answer

    async def fetch(self, url: str, *, cut_at: int, is_urgent: bool = False) -> Response | Failure:
        """Return the answer, with its body cut at `cut_at` bytes. Follows no redirects.

        An urgent request is part of a visit, which holds one of the crawl's slots meanwhile. It goes
        first in line, because the crawl may need that slot to use the next turn of the host.
        """
        while True:
            answer = await self._ask(url, cut_at, is_urgent=is_urgent)
            if not was_lost(answer) or not self._network:
                return answer
            if not await self._network.comes_back():
                return answer

    async def _ask(self, url: str, cut_at: int, *, is_urgent: bool) -> Response | Failure:
        turn = await self._turn_at(self._budgets[split(url).host], is_urgent=is_urgent)
        try:
            answer = await self._sender.send(url, cut_at=cut_at)
            if was_lost(answer):
                turn.end(self._clock.monotonic(), Health.UNTOUCHED, answer.sent_at)
                return answer
            if answer.sent_at:
                self._on_answer(url, answer)
            now, latency = self._clock.monotonic(), answer.latency
            retry_after = retry_after_of(answer, self._clock.wall())
            turn.end(now, health_of(answer), answer.sent_at, latency, retry_after)
            return answer
        finally:
            turn.end(self._clock.monotonic(), Health.UNTOUCHED)

    async def _turn_at(self, budget: HostBudget, *, is_urgent: bool) -> HostTurn:
        """Wait for the host's next free turn and take it."""
        ready = asyncio.Event()
        try:
            while True:
                now = self._clock.monotonic()
                ready_at = budget.ready_at(now, ready)
                if ready_at == float("inf"):
                    ready.clear()
                    budget.wait_in_line(ready, ready.set, is_urgent=is_urgent)
                    await ready.wait()
                elif ready_at > now:
                    self._heart.due[ready] = budget.rests_until(now)
                    await asyncio.sleep(ready_at - now)
                elif turn := budget.begin(now, ready):
                    return turn
        except BaseException:
            budget.leave_line(ready)
            raise
        finally:
            self._heart.due.pop(ready, None)


class SideRequestLog:
    """Records side requests, for reports to the owner of a site."""

    def __init__(self, requests: Requests, clock: Clock) -> None:
        self._requests = requests
        self._clock = clock

    def note(self, url: str, answer: Response | Failure) -> None:
        offset = self._clock.wall() - self._clock.monotonic()
        reason = answer.reason if isinstance(answer, Failure) else ""
        latency_ms = round(answer.latency * 1000)
        sent_at = answer.sent_at + offset
        host = split(url).host
        self._requests.note(SideRequest(url, host, sent_at, answer.status, latency_ms, reason))
