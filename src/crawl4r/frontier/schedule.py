"""Choose the next URL to visit, from the durable frontier and the host budgets.

A heap orders the hosts by the time of their next request, and the schedule reads only its head. A host
has a handful of leased URLs at hand, and the frontier keeps the rest, so that neither a slow host nor a
million URLs of one host delay the others.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crawl4r.clock import Clock
from crawl4r.frontier.newcomers import put_newcomers_in_order
from crawl4r.frontier.port import Frontier
from crawl4r.model import Lease
from crawl4r.politeness.host_budget import HostTurn
from crawl4r.politeness.host_budgets import CrawlBudgets
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.pause_gate import PauseGate

_LEASES_AT_HAND = 4096  # over all hosts
_MOST_HOSTS = 20_000
_LOOKED_AT = 64  # hosts at the head of the queue that a forecast reads


class PageTurn(NamedTuple):
    """A URL to visit, with its turn at the host."""

    lease: Lease
    host: HostTurn


class RobotsTurn(NamedTuple):
    """A host whose robots.txt must be fetched before its next URL."""

    host: str
    url: str


class Schedule:
    """Hands out leases, each with a turn at its host, when the host is ready.

    `needs_robots(url)` tells whether the robots.txt of a URL's origin must be fetched first. The host
    then waits until `resume(host)`.
    """

    def __init__(
        self,
        frontier: Frontier,
        budgets: CrawlBudgets,
        clock: Clock,
        needs_robots: Callable[[str], bool],
        *,
        batch: int = 64,
        pause_gate: PauseGate | None = None,
        heart: Heartbeat | None = None,
        on_dry: Callable[[str], set[str]] | None = None,
    ) -> None:
        """`on_dry(host)` is called when a host has no URL left or in flight. It may find more URLs, and
        returns the hosts that have new ones."""
        self._frontier = frontier
        self._budgets = budgets
        self._clock = clock.monotonic
        self._wall = clock.wall
        self._needs_robots = needs_robots
        self._batch = batch
        self._turns: list[tuple[float, int, str]] = []
        self._queued: dict[str, float] = {}  # hosts in _turns, with their times
        self._order = itertools.count()
        self._hosts: dict[str, deque[Lease]] = {}
        self._has_more_hosts = False
        self._next_due: float | None = 0.0
        self._changed = asyncio.Event()
        self._is_stopped = False
        self._is_asleep = False  # `next` waits
        self._heart = heart or Heartbeat(clock.monotonic)
        self.is_fed = False  # another task adds URLs, so an empty frontier is not the end
        self._pause_gate = pause_gate or PauseGate()
        self._pause_gate.watch(self._changed.set)
        self._last_turn_at = 0.0
        self._on_dry = on_dry
        self._under_way: Counter[str] = Counter()  # by host
        self.outstanding = 0
        self.given_up: set[str] = set()
        self._load_hosts()

    async def next(self) -> PageTurn | RobotsTurn | None:
        """Wait for the next lease or robots errand; None when nothing is left or after `stop`."""
        while not self._is_stopped:
            now = self._clock()
            if self._pause_gate.is_held or now < self._last_turn_at + self._pause_gate.gap:
                if self._is_finished():
                    return None
                await self._sleep_while_held(now)
                continue
            self._wake_due()
            while self._turns and self._turns[0][0] <= now:
                ready_at, _, host = heapq.heappop(self._turns)
                if self._queued.get(host) != ready_at:
                    continue  # outdated: the host moved in the heap
                del self._queued[host]
                if turn := self._take(host, now):
                    self._last_turn_at = now
                    return turn
            if self._is_finished():
                return None
            await self._sleep(now)
        return None

    def end_feed(self) -> None:
        """Call when no task adds URLs any more."""
        self.is_fed = False
        self._changed.set()

    def notice(self, hosts: Iterable[str]) -> None:
        """Queue these hosts, which have new pending URLs."""
        for host in hosts:
            if leases := self._hosts.get(host):
                put_newcomers_in_order(self._frontier, host, leases, self._batch)
            if host in self._hosts or host in self.given_up:
                continue
            if self._frontier.keeps_to_known and not self._frontier.has_pending(host):
                continue
            if len(self._hosts) >= _MOST_HOSTS:
                self._has_more_hosts = True
                continue
            self._hosts[host] = deque()
            self._budgets.enter(host)
            self._enqueue(host)

    def keep_to_known(self) -> None:
        """Hand out only URLs of kept pages from now on, because they do not count against caps."""
        self._frontier.keeps_to_known = True
        for host, leases in list(self._hosts.items()):
            self._frontier.release(lease for lease in leases if not lease.is_revisit)
            known = deque(lease for lease in leases if lease.is_revisit)
            if known or self._frontier.has_pending(host):
                self._hosts[host] = known
            else:
                self._leave(host)
        self._next_due = 0.0
        self._changed.set()

    def widen(self) -> None:
        """Hand out new pages again."""
        self._frontier.keeps_to_known = False
        self._next_due = 0.0

    def _leave(self, host: str) -> None:
        del self._hosts[host]
        self._queued.pop(host, None)
        self._budgets[host].leave_line(self)
        self._budgets.leave(host)

    def resume(self, host: str) -> None:
        """Continue with a host after its robots errand, or to repeat the errand."""
        self._heart.due.pop(host, None)
        if host in self._hosts:
            self._enqueue(host)
        self._changed.set()

    def hurry(self, host: str) -> None:
        """Requeue a host after a withdrawn request, because it may be ready earlier."""
        if self._queued.get(host, 0.0) > self._clock():
            del self._queued[host]
            self._enqueue(host)

    def reconsider(self) -> None:
        """After a change of the rules, read the hosts and their times again."""
        hosts, self._queued, self._turns = self._queued, {}, []
        for host in hosts:
            self._enqueue(host)
        self._load_hosts()

    def resume_later(self, host: str, seconds: float) -> None:
        self._heart.due[host] = self._clock() + seconds
        asyncio.get_running_loop().call_later(seconds, self.resume, host)

    def settled(self, host: str, due_at: float | None = None) -> None:
        """Report a committed end of a lease; `due_at` (epoch seconds) is the time of a retry."""
        self.outstanding -= 1
        self._under_way[host] -= 1
        if not self._under_way[host]:
            del self._under_way[host]
            if self._on_dry and not self._hosts.get(host) and not self._is_stopped:
                self._explore(host, self._on_dry)
        if due_at is not None and (self._next_due is None or due_at < self._next_due):
            self._next_due = due_at
        self._changed.set()

    def _explore(self, host: str, on_dry: Callable[[str], set[str]]) -> None:
        """Drop a host without URLs from the line of its budget."""
        if self._frontier.keeps_to_known:
            return
        if host not in self.given_up and not self._frontier.has_pending(host):
            self.notice(on_dry(host))

    def give_back(self, lease: Lease) -> None:
        """Take back a lease without a visit, as the first of its host."""
        self.outstanding -= 1
        self._under_way[lease.host] -= 1
        if not self._under_way[lease.host]:
            del self._under_way[lease.host]
        if self._is_stopped or lease.host in self.given_up:
            self._frontier.release([lease])
        else:
            self._hosts.setdefault(lease.host, deque()).appendleft(lease)
            self._budgets.enter(lease.host)
            self._enqueue(lease.host)
        self._changed.set()

    def expects_at(self) -> float | None:
        """The time of the next lease without outside events; infinity while it waits for its feed.

        None while it waits for running visits, or when no task calls `next`. A time in the past means
        that another crawl blocks the host.
        """
        if not self._is_asleep:
            return None
        now = self._clock()
        times = [
            self._budgets[host].rests_until(now)
            for ready_at, _, host in self._turns[:_LOOKED_AT]
            if self._queued.get(host) == ready_at
        ]
        if self._next_due is not None:
            times.append(now + self._next_due - self._wall())
        if self.is_fed and not self._hosts and not self.outstanding:
            times.append(math.inf)
        return min(times, default=None)

    def stop(self) -> None:
        """Stop handing out leases, and return those at hand to the frontier."""
        at_hand = [lease for leases in self._hosts.values() for lease in leases]
        self._leave_all_lines()
        if at_hand:
            self._frontier.release(at_hand)

    def abandon(self) -> None:
        """Leave all lines after a failure of the crawl. The next run recovers the leases at hand."""
        self._leave_all_lines()
        self._hosts.clear()

    def _leave_all_lines(self) -> None:
        self._is_stopped = True
        self._changed.set()
        self._pause_gate.forget(self._changed.set)
        for host, leases in self._hosts.items():
            leases.clear()
            self._budgets[host].leave_line(self)
        self._budgets.leave_all()

    def _take(self, host: str, now: float) -> PageTurn | RobotsTurn | None:
        budget = self._budgets[host]
        if budget.breaker.is_hopeless:
            self._give_up(host)
            return None
        ready_at = budget.ready_at(now, self)
        if ready_at > now:
            self._enqueue(host)
            return None
        leases = self._hosts[host] or self._refill(host)
        if not leases:
            del self._hosts[host]
            budget.leave_line(self)
            self._budgets.leave(host)
            self._budgets.forget_idle(now, _MOST_HOSTS)
            if self._has_more_hosts and len(self._hosts) < _MOST_HOSTS // 2:
                self._load_hosts()
            return None
        if self._needs_robots(leases[0].url):
            budget.leave_line(self)  # the robots errand takes the place in line
            return RobotsTurn(host, leases[0].url)
        host_turn = budget.begin(now, self)
        if host_turn is None:
            self._enqueue(host)
            return None
        self.outstanding += 1
        self._under_way[host] += 1
        self._enqueue(host)
        return PageTurn(leases.popleft(), host_turn)

    def _give_up(self, host: str) -> None:
        self._frontier.release(self._hosts.pop(host))
        self._budgets[host].leave_line(self)
        self._budgets.leave(host)
        self.given_up.add(host)

    def _refill(self, host: str) -> deque[Lease]:
        most = max(1, min(self._batch, _LEASES_AT_HAND // len(self._hosts)))
        leases = self._hosts[host]
        leases.extend(self._frontier.lease(host, most))
        return leases

    def _enqueue(self, host: str) -> None:
        """Queue the host for its ready time, or register for the budget's callback."""
        if host in self._queued or self._is_stopped:
            return
        budget = self._budgets[host]
        ready_at = budget.ready_at(self._clock(), self)
        if math.isinf(ready_at):
            budget.wait_in_line(self, lambda: self.resume(host))
        else:
            heapq.heappush(self._turns, (ready_at, next(self._order), host))
            self._queued[host] = ready_at
            self._changed.set()

    def _load_hosts(self) -> None:
        hosts = self._frontier.hosts_pending("", _MOST_HOSTS + 1)
        self._has_more_hosts = len(hosts) > _MOST_HOSTS
        self.notice(hosts[:_MOST_HOSTS])

    def _wake_due(self) -> None:
        if self._next_due is not None and self._next_due <= self._wall():
            hosts, self._next_due = self._frontier.wake(self._wall())
            self.notice(hosts)

    def _is_finished(self) -> bool:
        """Whether no host has URLs, no visit runs, no task adds URLs, and no retry is due."""
        is_idle = not self._hosts and not self.outstanding and self._next_due is None
        return is_idle and not self.is_fed

    async def _sleep(self, now: float) -> None:
        waits = [self._turns[0][0] - now] if self._turns else []
        if self._next_due is not None:
            waits.append(self._next_due - self._wall())
        await self._sleep_until_changed(waits)

    async def _sleep_while_held(self, now: float) -> None:
        """Wait until the pause gate opens; other events are handled after that."""
        gap_ends = self._last_turn_at + self._pause_gate.gap
        await self._sleep_until_changed([] if self._pause_gate.is_held else [gap_ends - now])

    async def _sleep_until_changed(self, waits: list[float]) -> None:
        self._changed.clear()
        loop = asyncio.get_running_loop()
        timer = loop.call_later(max(0.0, min(waits)), self._changed.set) if waits else None
        self._is_asleep = True
        try:
            await self._changed.wait()
        finally:
            self._is_asleep = False
            if timer:
                timer.cancel()
