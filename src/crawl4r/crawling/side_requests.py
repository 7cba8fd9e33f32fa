"""Requests beside the crawl's own: robots.txt, probes. Through the same budgets, so just as polite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import Request, Transport
from crawl4r.fetch.proxies import ProxyPool
from crawl4r.model import Failure, Response
from crawl4r.politeness.backoff import parse_retry_after
from crawl4r.politeness.host_budget import Health, HostBudget, HostBudgets
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.urls.canonical import split


class SideRequests:
    """Fetches one URL when its host is ready for another request."""

    def __init__(
        self,
        transport: Transport,
        headers: RequestHeaders,
        proxies: ProxyPool,
        budgets: HostBudgets,
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
        heart: Heartbeat | None = None,
        network: NetworkWatch | None = None,
        on_answer: Callable[[str, Response | Failure], None] | None = None,
    ) -> None:
        """`on_answer` hears of every request that left, but for those that found no network."""
        self._transport = transport
        self._headers = headers
        self._proxies = proxies
        self._budgets = budgets
        self._clock = clock
        self._wall = wall
        self._heart = heart or Heartbeat(clock)
        self._network = network
        self._on_answer = on_answer

    async def fetch(self, url: str, *, cut_at: int, is_urgent: bool = False) -> Response | Failure:
        """The answer, its body cut at so many bytes. Redirects are not followed.

        `is_urgent` is for errands of a visit: it holds one of the crawl's slots until it is back, and
        the crawl may need that slot to take the turn it waits for.
        """
        while True:
            answer = await self._ask(url, cut_at, is_urgent=is_urgent)
            if not _was_lost(answer) or not self._network:
                return answer
            if not await self._network.comes_back():
                return answer

    async def _ask(self, url: str, cut_at: int, *, is_urgent: bool) -> Response | Failure:
        budget = self._budgets[split(url).host]
        await self._turn_at(budget, is_urgent=is_urgent)
        proxy = self._proxies.pick()
        request = Request(url, self._headers.for_url(url), proxy, cut_at=cut_at)
        try:
            answer = await self._transport.fetch(request)
        except BaseException:
            budget.end(self._clock(), Health.UNTOUCHED)
            raise
        if _was_lost(answer):
            budget.end(self._clock(), Health.UNTOUCHED, answer.sent_at)
            return answer
        if proxy:
            self._proxies.report(proxy, answer)
        if self._on_answer and answer.sent_at:
            self._on_answer(url, answer)
        retry_after = None
        if isinstance(answer, Response):
            retry_after = parse_retry_after(answer.header("retry-after"), self._wall())
        budget.end(self._clock(), _health(answer), answer.sent_at, answer.latency, retry_after)
        return answer

    async def _turn_at(self, budget: HostBudget, *, is_urgent: bool) -> None:
        """Wait for the host's next free moment and take it."""
        turn = asyncio.Event()
        try:
            while True:
                now = self._clock()
                ready_at = budget.ready_at(now, turn)
                if ready_at == float("inf"):
                    turn.clear()
                    budget.wait_in_line(turn, turn.set, is_urgent=is_urgent)
                    await turn.wait()
                elif ready_at > now:
                    self._heart.due[turn] = budget.rests_until(now)
                    await asyncio.sleep(ready_at - now)
                elif budget.begin(now, turn):
                    return
        except BaseException:
            budget.leave_line(turn)
            raise
        finally:
            self._heart.due.pop(turn, None)


def _was_lost(answer: Response | Failure) -> bool:
    return isinstance(answer, Failure) and answer.by_network


def _health(answer: Response | Failure) -> Health:
    if isinstance(answer, Failure):
        return Health.SICK if answer.hurts_host else Health.UNTOUCHED
    if answer.status in {429, 503}:
        return Health.OVERLOADED
    return Health.SICK if answer.status >= 500 else Health.WELL
