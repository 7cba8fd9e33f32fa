"""One budget a host, however many crawls want it: rate, concurrency, slow-down, breaker.

A budget answers one question, `ready_at`, and hears two events, `begin` and `end`. Crawls that
found a host full leave a callback and are told when it is free, so nobody polls and nobody scans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from crawl4r.resilience.breaker import Breaker, BreakerRules, BreakerState

# A timer may fire early by the clock's grain, and the server's clock sees arrivals, not departures.
_GAP_MARGIN = 0.003  # seconds
_SLOW_DOWN = 2.0
_RECOVERY = 0.9
_LATENCY_MEMORY = 0.2  # weight of the newest latency in its moving average
_LATENCY_RISE = 3.0  # times the host's own quickest; above it we give the host room


class Health(Enum):
    """What an answer, or none, says of a host."""

    WELL = auto()
    OVERLOADED = auto()  # 429, 503: it asks for less
    SICK = auto()  # 5xx, 403, no connection
    UNTOUCHED = auto()  # the request never left, or says nothing of the host


@dataclass(frozen=True, slots=True)
class HostRules:
    delay: float = 1.0  # seconds between two requests to a host
    per_host: int = 1  # requests at once to a host
    delay_cap: float = 60.0  # seconds; how far a slow-down or a crawl-delay may go
    retry_after_cap: float = 3600.0  # seconds
    breaker: BreakerRules = field(default_factory=BreakerRules)


@dataclass(frozen=True, slots=True)
class HostMemory:
    """What must outlive the process: when the host may be asked again, and how it fared."""

    host: str
    next_at: float  # epoch seconds
    delay: float  # seconds it had slowed us down to, 0 when it had not
    failures: int
    openings: int
    open_until: float  # epoch seconds, 0 when closed


class HostBudget:
    """All times are of the one clock that the owner passes in."""

    def __init__(
        self, host: str, rules: HostRules, changed: set[HostBudget], not_before: float
    ) -> None:
        self.host = host
        self.rules = rules
        self.breaker = Breaker(rules.breaker)
        self.in_flight = 0
        self.next_at = not_before + rules.delay if not_before else 0.0
        self.requests = 0
        self._changed = changed  # where to leave word that there is something to remember
        self._delay = rules.delay
        self._asked_delay = 0.0  # robots.txt
        self._quickest = float("inf")
        self._latency = 0.0
        self._waiters: list[Callable[[], None]] = []

    def adopt(self, rules: HostRules) -> None:
        """Go on under other rules; a slow-down stays until the host has recovered from it."""
        self.rules = rules
        self.breaker.rules = rules.breaker
        self._delay = max(self._delay, rules.delay)

    @property
    def delay(self) -> float:
        """Seconds between requests now: the configured, the asked-for or the slowed-down one."""
        return max(self._delay, self._asked_delay)

    def ask_delay(self, seconds: float) -> None:
        """Honour a crawl-delay, up to the cap."""
        self._asked_delay = min(seconds, self.rules.delay_cap)

    def ready_at(self, now: float) -> float:
        """The earliest time for the next request; infinity while the host is full."""
        if self.in_flight >= self.rules.per_host:
            return float("inf")
        return max(self.next_at, self.breaker.ready_at(now))

    def when_free(self, callback: Callable[[], None]) -> None:
        """Call back once, as soon as a request to this host has ended."""
        self._waiters.append(callback)

    def begin(self, now: float) -> None:
        self.in_flight += 1
        self.breaker.begin()
        self._space(now)

    def end(
        self,
        now: float,
        health: Health,
        sent_at: float = 0.0,
        latency: float = 0.0,
        retry_after: float | None = None,
    ) -> None:
        """A request has ended. `sent_at` is when it left; the gap counts from there."""
        self.in_flight -= 1
        if health is Health.UNTOUCHED:
            self.breaker.abandon()
        else:
            self._learn(now, health, sent_at or now, latency, retry_after)
        waiters, self._waiters = self._waiters, []
        for callback in waiters:
            callback()

    def withdraw(self, now: float) -> None:
        """Undo `begin`: nothing was sent, so nobody has to wait for it."""
        self.next_at = min(self.next_at, now)
        self.end(now, Health.UNTOUCHED)

    def _learn(
        self, now: float, health: Health, sent_at: float, latency: float, retry_after: float | None
    ) -> None:
        self.requests += 1
        if health is Health.WELL:
            was_open = self.breaker.succeed()
            self._adapt(latency)
            if was_open or self.delay:
                self._changed.add(self)
        else:
            self._changed.add(self)
            self.breaker.fail(now)
            if health is Health.OVERLOADED:
                self._delay = min(self.rules.delay_cap, max(self._delay, 0.5) * _SLOW_DOWN)
        self._space(sent_at)
        if retry_after is not None:
            self.next_at = max(self.next_at, now + min(retry_after, self.rules.retry_after_cap))

    def _space(self, moment: float) -> None:
        if delay := self.delay:
            self.next_at = max(self.next_at, moment + delay + _GAP_MARGIN)

    def _adapt(self, latency: float) -> None:
        """Drift back to the configured delay, unless the host answers ever more slowly."""
        if not self.rules.delay and self._delay == 0:
            return
        self._quickest = min(self._quickest, latency)
        self._latency += _LATENCY_MEMORY * (latency - self._latency)
        wanted = self.rules.delay
        if self.rules.delay and self._latency > _LATENCY_RISE * max(self._quickest, 0.05):
            wanted = min(self.rules.delay_cap, max(wanted, self._latency))
        if self._delay > wanted:
            self._delay = max(wanted, self._delay * _RECOVERY if self._delay > 0.05 else 0.0)
        else:
            self._delay = wanted


class HostBudgets:
    """The budgets of one process, by host. Share one between crawls that run side by side."""

    def __init__(self, rules: HostRules | None = None) -> None:
        self.rules = rules or HostRules()
        self._budgets: dict[str, HostBudget] = {}
        self._changed: set[HostBudget] = set()
        self._not_before = 0.0

    def __getitem__(self, host: str) -> HostBudget:
        budget = self._budgets.get(host)
        if budget is None:
            budget = HostBudget(host, self.rules, self._changed, self._not_before)
            self._budgets[host] = budget
        return budget

    def assume_just_asked(self, now: float) -> None:
        """Somebody died without telling whom it had asked: let every host rest for one delay."""
        self._not_before = now
        for budget in self._budgets.values():
            budget.next_at = max(budget.next_at, now + budget.delay)

    def __iter__(self) -> Iterator[HostBudget]:
        return iter(self._budgets.values())

    def tighten(self, rules: HostRules) -> None:
        """A second crawl joins: the more polite of both rules holds for both."""
        self.replace_rules(
            replace(
                self.rules,
                delay=max(self.rules.delay, rules.delay),
                per_host=min(self.rules.per_host, rules.per_host),
            )
        )

    def replace_rules(self, rules: HostRules) -> None:
        """New rules for every host, known or not."""
        self.rules = rules
        for budget in self._budgets.values():
            budget.adopt(rules)

    def forget_idle(self, now: float, keep: int) -> None:
        """Drop budgets that say nothing any more, so that memory does not grow with the hosts.

        Looks at all of them, so only when there are twice as many as are worth keeping.
        """
        if len(self._budgets) <= 2 * keep:
            return
        idle = [
            host
            for host, budget in self._budgets.items()
            if not budget.in_flight
            and budget.next_at <= now
            and budget.breaker.state(now) is BreakerState.CLOSED
            and not budget.breaker.failures
        ]
        for host in idle:
            del self._budgets[host]

    def remember(self, now: float, wall: float) -> list[HostMemory]:
        """What changed since the last call and must survive a restart, in wall-clock time."""
        memories = [_memory_of(budget, wall - now) for budget in self._changed]
        self._changed.clear()
        return memories

    def restore(self, memories: list[HostMemory], now: float, wall: float) -> None:
        offset = wall - now
        for memory in memories:
            budget = self[memory.host]
            budget.next_at = memory.next_at - offset
            budget._delay = min(max(memory.delay, budget.rules.delay), budget.rules.delay_cap)
            budget.breaker.failures = memory.failures
            # A host given up on by the last run gets another probe from this one.
            budget.breaker.openings = min(memory.openings, budget.rules.breaker.give_up_after - 1)
            budget.breaker.open_until = memory.open_until - offset if memory.open_until else 0.0


def _memory_of(budget: HostBudget, offset: float) -> HostMemory:
    breaker = budget.breaker
    return HostMemory(
        budget.host,
        budget.next_at + offset,
        budget._delay if budget._delay > budget.rules.delay else 0.0,
        breaker.failures,
        breaker.openings,
        breaker.open_until + offset if breaker.open_until else 0.0,
    )
