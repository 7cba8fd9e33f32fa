"""One budget a host, however many crawls want it: rate, concurrency, slow-down, breaker.

A budget answers one question, `ready_at`, and hears two events, `begin` and `end`. Crawls that
found a host full leave a callback and are told when it is free, so nobody polls and nobody scans.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum, auto

from msgspec import Struct, field
from msgspec.structs import replace

from crawl4r.model import HostMemory
from crawl4r.politeness.breaker import Breaker, BreakerRules, BreakerState
from crawl4r.politeness.shared_host_lock import HeldPlace, HostLock

# A timer may fire early by the clock's grain, and the server's clock sees arrivals, not departures.
_GAP_MARGIN = 0.003  # seconds
_LONG_AGO = -1e9  # seconds
_SLOW_DOWN = 2.0
_RECOVERY = 0.9
_LATENCY_MEMORY = 0.2  # weight of the newest latency in its moving average
_LATENCY_RISE = 3.0  # times the host's own quickest; above it we give the host room


class Health(Enum):
    """What an answer, or none, says of a host."""

    WELL = auto()
    OVERLOADED = auto()  # 429, 503: it asks for less
    SICK = auto()  # 5xx, 403, no connection
    CHALLENGING = auto()  # a challenge, a captcha, "access denied": it does not want us just now
    UNTOUCHED = auto()  # the request never left, or says nothing of the host


class HostRules(Struct, frozen=True):
    delay: float = 1.0  # seconds between two requests to a host
    per_host: int = 1  # requests at once to a host
    delay_cap: float = 60.0  # seconds; how far a slow-down or a crawl-delay may go
    retry_after_cap: float = 3600.0  # seconds
    challenge_rest: float = 5.0  # seconds after the first challenge; doubles with each that follows
    breaker: BreakerRules = field(default_factory=BreakerRules)


class HostBudget:
    """All times are of the one clock that the owner passes in."""

    def __init__(
        self,
        host: str,
        rules: HostRules,
        changed: set[HostBudget],
        asked_at: float,
        host_lock: HostLock | None = None,
    ) -> None:
        self.host = host
        self.rules = rules
        self.breaker = Breaker(rules.breaker)
        self.in_flight = 0
        self.requests = 0
        self._asked_at = asked_at  # when the last request left
        self._begun: deque[float] = deque()  # when those in flight were begun, oldest first
        self._held_until = 0.0  # by Retry-After
        self._challenges = 0  # since the last good page
        self._rests_until = 0.0  # because of them
        self._slowed = 0.0  # seconds between requests that trouble has slowed us down to
        self._crawl_delays: dict[str, float] = {}  # seconds that each robots.txt of it asks for
        self._quickest = float("inf")
        self._latency = 0.0
        self._changed = changed  # where to leave word that there is something to remember
        self._line: dict[object, Callable[[], None]] = {}
        self._host_lock = host_lock
        self._turns: deque[HeldPlace] = deque()  # of the requests in flight
        self._others_until = 0.0  # when to ask the host lock again

    @property
    def delay(self) -> float:
        """Seconds between requests now: the configured, the asked-for or the slowed-down ones."""
        return max(self.rules.delay, self._slowed, *self._crawl_delays.values())

    @property
    def next_at(self) -> float:
        """When the next request may leave, as far as pace and Retry-After go."""
        delay = self.delay
        last = max(self._asked_at, self._begun[-1]) if self._begun else self._asked_at
        paced = last + delay + _GAP_MARGIN if delay else 0.0
        return max(paced, self._held_until, self._rests_until)

    def adopt(self, rules: HostRules) -> None:
        """Go on under other rules; a slow-down stays until the host has recovered from it."""
        self.rules = rules
        self.breaker.rules = rules.breaker

    def ask_delay(self, seconds: float, origin: str = "") -> None:
        """Honour a crawl-delay, up to the cap; the longest, where origins of a host disagree."""
        self._crawl_delays[origin] = min(seconds, self.rules.delay_cap)

    def ready_at(self, now: float, who: object = None) -> float:
        """The earliest time for `who`'s next request; infinity while it must `wait_in_line`."""
        if self.in_flight >= self.rules.per_host:
            return float("inf")
        if self._line and next(iter(self._line)) is not who:
            return float("inf")
        return max(self.next_at, self.breaker.ready_at(now), self._others_until)

    def rests_until(self, now: float) -> float:
        """Until when politeness alone keeps everybody from this host; in the past: it does not."""
        others = now + self._host_lock.rest(self.host) if self._host_lock else 0.0
        return max(self.next_at, self.breaker.open_until, others)

    def wait_in_line(
        self, who: object, callback: Callable[[], None], *, is_urgent: bool = False
    ) -> None:
        """Be called when it is `who`'s turn. Whoever was called goes on, or must `leave_line`.

        `is_urgent` goes to the front: for whoever holds what the others need to take their turn.
        """
        if is_urgent and who not in self._line:
            self._line = {who: callback, **self._line}
            self._call_first()
        else:
            self._line.setdefault(who, callback)

    def leave_line(self, who: object) -> None:
        if self._line.pop(who, None):
            self._call_first()

    def begin(self, now: float, who: object = None) -> bool:
        """`who` sends a request, and goes to the end of the line when it wants another.

        False when another process is at the host: nothing has begun, and `ready_at` says when to try
        again.
        """
        if self._host_lock and not self._pass(self._host_lock, now):
            return False
        self._line.pop(who, None)
        self.in_flight += 1
        self.breaker.begin()
        self._begun.append(now)
        self._call_first()
        return True

    def _pass(self, host_lock: HostLock, now: float) -> bool:
        turn = host_lock.acquire(self.host, self.rules.per_host, self.delay)
        if isinstance(turn, float):
            self._others_until = now + turn
            return False
        self._turns.append(turn)
        return True

    def end(
        self,
        now: float,
        health: Health,
        sent_at: float = 0.0,
        latency: float = 0.0,
        retry_after: float | None = None,
    ) -> None:
        """A request has ended that left at `sent_at`.

        When it arrived only the server knows, but it had by the time it was answered: the gap counts
        from there, for an answer that took no longer than the gap itself.
        """
        # Which of several has ended is not known: taking the oldest can only make us wait longer.
        arrived_at = min(now, sent_at + self.delay) if sent_at else 0.0
        self._asked_at = max(self._asked_at, self._begun.popleft(), arrived_at)
        self._let_go(now, health, latency, retry_after)

    def _let_go(
        self,
        now: float,
        health: Health,
        latency: float = 0.0,
        retry_after: float | None = None,
        *,
        was_sent: bool = True,
    ) -> None:
        self.in_flight -= 1
        if health is Health.UNTOUCHED:
            self.breaker.abandon()
        else:
            self._learn(now, health, latency, retry_after)
        try:
            if self._host_lock:
                self._host_lock.release(
                    self._turns.popleft(), self._rest(now) if was_sent else None
                )
        finally:
            self._call_first()

    def _rest(self, now: float) -> float:
        """Seconds for which nobody should ask this host."""
        return max(self.next_at, self.breaker.open_until) - now

    def withdraw(self, now: float) -> None:
        """Undo `begin`: nothing was sent, so nobody has to wait for it."""
        self._begun.popleft()
        self._let_go(now, Health.UNTOUCHED, was_sent=False)

    def remember(self, offset: float) -> HostMemory:
        """What the next process should know; `offset` turns the clock into epoch seconds."""
        breaker = self.breaker
        return HostMemory(
            self.host,
            self.next_at + offset,
            self._slowed,
            breaker.failures,
            breaker.openings,
            breaker.open_until + offset if breaker.open_until else 0.0,
        )

    def restore(self, memory: HostMemory, offset: float) -> None:
        """Add what an earlier process knew; what this one learnt since is never softened by it."""
        self._held_until = max(self._held_until, memory.next_at - offset)
        self._slowed = max(self._slowed, min(memory.delay, self.rules.delay_cap))
        breaker = self.breaker
        if self.requests or breaker.failures:
            return
        breaker.failures = memory.failures
        # A host given up on by the last run gets another probe from this one.
        breaker.openings = min(memory.openings, self.rules.breaker.give_up_after - 1)
        breaker.open_until = memory.open_until - offset if memory.open_until else 0.0

    def assume_just_asked(self, now: float) -> None:
        self._asked_at = max(self._asked_at, now)

    def _call_first(self) -> None:
        if self._line and self.in_flight < self.rules.per_host:
            next(iter(self._line.values()))()

    def _learn(self, now: float, health: Health, latency: float, retry_after: float | None) -> None:
        self.requests += 1
        if health is Health.WELL:
            had_failed = self.breaker.failures > 0
            self.breaker.succeed()
            self._challenges, self._rests_until = 0, 0.0
            self._recover(latency)
            if had_failed or self.delay:
                self._changed.add(self)
        else:
            self._changed.add(self)
            self.breaker.fail(now)
            if health is Health.OVERLOADED:
                self._slowed = min(self.rules.delay_cap, max(self.delay, 0.5) * _SLOW_DOWN)
            elif health is Health.CHALLENGING:
                self._rest_from_challenge(now)
        if retry_after is not None:
            wait = min(retry_after, self.rules.retry_after_cap)
            self._held_until = max(self._held_until, now + wait)

    def _rest_from_challenge(self, now: float) -> None:
        """At once, and long before the breaker opens: asking on makes a host surer of its refusal."""
        rest = self.rules.challenge_rest * 2.0 ** min(self._challenges, 30)
        self._challenges += 1
        self._rests_until = now + min(rest, self.rules.breaker.cooldown_cap)

    def _recover(self, latency: float) -> None:
        """Drift back to the configured delay, unless the host answers ever more slowly."""
        self._slowed = self._slowed * _RECOVERY if self._slowed > self.rules.delay + 0.05 else 0.0
        if not self.rules.delay:  # who asked for no delay measures the machine, not the host
            return
        self._quickest = min(self._quickest, latency)
        self._latency += _LATENCY_MEMORY * (latency - self._latency)
        if self._latency > _LATENCY_RISE * max(self._quickest, 0.05):
            self._slowed = max(self._slowed, min(self._latency, self.rules.delay_cap))


class HostBudgets:
    """The budgets of one process, by host. Share one between crawls that run side by side; crawls in
    `host_lock` shares it with other processes."""

    def __init__(self, rules: HostRules | None = None, host_lock: HostLock | None = None) -> None:
        self.rules = rules or HostRules()
        self._host_lock = host_lock
        self._has_rules = rules is not None
        self._budgets: dict[str, HostBudget] = {}
        self._changed: set[HostBudget] = set()
        self._asked_at = _LONG_AGO  # when a host that we know nothing of was asked, at the latest

    def __getitem__(self, host: str) -> HostBudget:
        budget = self._budgets.get(host)
        if budget is None:
            budget = HostBudget(host, self.rules, self._changed, self._asked_at, self._host_lock)
            self._budgets[host] = budget
        return budget

    def assume_just_asked(self, now: float) -> None:
        """Somebody died without telling whom it had asked: let every host rest for one delay."""
        self._asked_at = now
        for budget in self._budgets.values():
            budget.assume_just_asked(now)

    def __iter__(self) -> Iterator[HostBudget]:
        return iter(self._budgets.values())

    def tighten(self, rules: HostRules) -> None:
        """Another crawl joins: the more polite of both rules holds for both."""
        if not self._has_rules:
            self._has_rules = True
            self.replace_rules(rules)
            return
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
            and budget.delay <= self.rules.delay
        ]
        for host in idle:
            del self._budgets[host]

    def remember(self, now: float, wall: float) -> list[HostMemory]:
        """What changed since the last call and must survive a restart, in wall-clock time."""
        memories = [budget.remember(wall - now) for budget in self._changed]
        self._changed.clear()
        return memories

    def remember_again(self) -> None:
        """What was told before may not have been kept: tell it all with the next call."""
        self._changed.update(self._budgets.values())

    def restore(self, memories: list[HostMemory], now: float, wall: float) -> None:
        for memory in memories:
            self[memory.host].restore(memory, wall - now)
