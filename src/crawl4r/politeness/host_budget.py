"""The budget of one host, shared by all crawls of a process: rate, concurrency, slow-down, breaker.

`ready_at` tells when the next request may leave. `begin` takes a turn for it, and the turn reports how
it ended. A crawl that finds a host full registers a callback, which the budget calls when a turn is
free: no crawl polls or scans all hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from msgspec import Struct, field

from crawl4r.model import HostMemory
from crawl4r.politeness.breaker import Breaker, BreakerRules
from crawl4r.politeness.shared_host_lock import HeldPlace, HostLock

# A timer may fire early by the clock's grain, and the server's clock sees arrivals, not departures.
_GAP_MARGIN = 0.003  # seconds
_SLOW_DOWN = 2.0
_RECOVERY = 0.9
_LATENCY_MEMORY = 0.2  # weight of the newest latency in its moving average
_LATENCY_RISE = 3.0  # times the host's lowest latency; above it the budget slows down


class Health(Enum):
    """What the answer to a request, or its failure, says about the host."""

    WELL = auto()
    OVERLOADED = auto()  # 429, 503: the host asks for fewer requests
    SICK = auto()  # 5xx, 403, no connection
    CHALLENGING = auto()  # a challenge, a captcha, "access denied": the host turns crawlers away
    UNTOUCHED = auto()  # the request never left, or tells nothing about the host


class HostRules(Struct, frozen=True):
    delay: float = 1.0  # seconds between two requests to a host
    per_host: int = 1  # requests at once to a host
    delay_cap: float = 60.0  # seconds; how far a slow-down or a crawl-delay may go
    retry_after_cap: float = 3600.0  # seconds
    challenge_rest: float = 5.0  # seconds after the first challenge; doubles with each that follows
    breaker: BreakerRules = field(default_factory=BreakerRules)


def strictest(rules: Sequence[HostRules]) -> HostRules:
    """The rules that are no less strict than any of these."""
    if len(rules) == 1:
        return rules[0]
    return HostRules(
        delay=max(each.delay for each in rules),
        per_host=min(each.per_host for each in rules),
        delay_cap=max(each.delay_cap for each in rules),
        retry_after_cap=max(each.retry_after_cap for each in rules),
        challenge_rest=max(each.challenge_rest for each in rules),
        breaker=BreakerRules(
            threshold=min(each.breaker.threshold for each in rules),
            cooldown=max(each.breaker.cooldown for each in rules),
            cooldown_cap=max(each.breaker.cooldown_cap for each in rules),
            give_up_after=min(each.breaker.give_up_after for each in rules),
        ),
    )


class HostTurn:
    """The place of one request at its host. Its owner must `end` or `withdraw` it.

    A second call does nothing, so clean-up code may end every turn.
    """

    __slots__ = ("_budget", "_is_over", "begun_at", "is_withdrawn", "place")

    def __init__(self, budget: HostBudget, begun_at: float, place: HeldPlace | None) -> None:
        self._budget = budget
        self._is_over = False
        self.is_withdrawn = False
        self.begun_at = begun_at
        self.place = place  # held against other processes

    def end(
        self,
        now: float,
        health: Health,
        sent_at: float = 0.0,
        latency: float = 0.0,
        retry_after: float | None = None,
    ) -> None:
        """End the turn. The request left at `sent_at`; 0 means that it never left."""
        if not self._is_over:
            self._is_over = True
            self._budget.note_end(self, now, health, sent_at, latency, retry_after)

    def withdraw(self, now: float) -> None:
        """Undo `begin`: nothing was sent, so the next request need not wait for this one."""
        if not self._is_over:
            self._is_over = self.is_withdrawn = True
            self._budget.note_withdrawal(self, now)


class HostBudget:
    """The budget of one host. The owner passes in every time, from one clock."""

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
        self.requests = 0
        self._asked_at = asked_at  # when the last request left
        self._turns: list[HostTurn] = []  # of the requests in flight, oldest first
        self._held_until = 0.0  # set by Retry-After
        self._challenges = 0  # since the last good page
        self._rests_until = 0.0  # the host rests until then, after challenges
        self._slowed = 0.0  # seconds between requests after failures; 0 without a slow-down
        self._crawl_delays: dict[str, float] = {}  # seconds, by origin of the robots.txt
        self._quickest = float("inf")
        self._latency = 0.0
        self._changed = changed  # collects the budgets whose state must be saved
        self._line: dict[object, Callable[[], None]] = {}
        self._wanted: dict[object, HostRules] = {}  # by crawl
        self._host_lock = host_lock
        self._others_until = 0.0  # when to try the host lock again

    @property
    def in_flight(self) -> int:
        return len(self._turns)

    @property
    def delay(self) -> float:
        """Seconds between requests now: the largest of configuration, crawl-delay and slow-down."""
        return max(self.rules.delay, self._slowed, *self._crawl_delays.values())

    @property
    def next_at(self) -> float:
        """When pace and Retry-After allow the next request."""
        delay = self.delay
        last = max(self._asked_at, self._turns[-1].begun_at) if self._turns else self._asked_at
        paced = last + delay + _GAP_MARGIN if delay else 0.0
        return max(paced, self._held_until, self._rests_until)

    @property
    def is_wanted(self) -> bool:
        """Whether a crawl has URLs of this host."""
        return bool(self._wanted)

    def want(self, who: object, rules: HostRules) -> None:
        """A crawl has URLs of this host: its rules hold beside those of others."""
        self._wanted[who] = rules
        self.adopt(strictest([*self._wanted.values()]))

    def want_no_more(self, who: object) -> None:
        """The rules of the last crawl stay in force, because its requests may be in flight."""
        if self._wanted.pop(who, None) and self._wanted:
            self.adopt(strictest([*self._wanted.values()]))

    def adopt(self, rules: HostRules) -> None:
        """Replace the rules. A slow-down stays until the host has recovered."""
        self.rules = rules
        self.breaker.rules = rules.breaker

    def ask_delay(self, seconds: float, origin: str = "") -> None:
        """Obey a crawl-delay, up to the cap. If origins of a host disagree, the longest counts."""
        self._crawl_delays[origin] = min(seconds, self.rules.delay_cap)

    def ready_at(self, now: float, who: object = None) -> float:
        """The earliest time for `who`'s next request; infinity while it must `wait_in_line`."""
        if self.in_flight >= self.rules.per_host:
            return float("inf")
        if self._line and next(iter(self._line)) is not who:
            return float("inf")
        return max(self.next_at, self.breaker.ready_at(now), self._others_until)

    def rests_until(self, now: float) -> float:
        """Until when politeness alone blocks requests to this host; a past time means no block."""
        others = now + self._host_lock.rest(self.host) if self._host_lock else 0.0
        return max(self.next_at, self.breaker.open_until, others)

    def wait_in_line(
        self, who: object, callback: Callable[[], None], *, is_urgent: bool = False
    ) -> None:
        """Call `who` back when its turn comes; it must then `begin` or `leave_line`.

        An urgent caller goes to the front, because the others need its result (robots.txt) first.
        """
        if is_urgent and who not in self._line:
            self._line = {who: callback, **self._line}
            self._call_first()
        else:
            self._line.setdefault(who, callback)

    def leave_line(self, who: object) -> None:
        if self._line.pop(who, None):
            self._call_first()

    def begin(self, now: float, who: object = None) -> HostTurn | None:
        """Take a turn for one request of `who`, which then goes to the end of the line.

        None while another process uses the host: `ready_at` then tells when to try again.
        """
        place = None
        if self._host_lock:
            answer = self._host_lock.acquire(self.host, self.rules.per_host, self.delay)
            if isinstance(answer, float):
                self._others_until = now + answer
                return None
            place = answer
        self._line.pop(who, None)
        self.breaker.begin()
        turn = HostTurn(self, now, place)
        self._turns.append(turn)
        self._call_first()
        return turn

    def note_end(
        self,
        turn: HostTurn,
        now: float,
        health: Health,
        sent_at: float,
        latency: float,
        retry_after: float | None,
    ) -> None:
        """Called by the turn, once.

        Only the server knows when the request arrived, but it had by the time it was answered: the gap
        counts from there, for an answer that took no longer than the gap itself.
        """
        arrived_at = min(now, sent_at + self.delay) if sent_at else 0.0
        self._asked_at = max(self._asked_at, turn.begun_at, arrived_at)
        self._turns.remove(turn)
        if health is Health.UNTOUCHED:
            self.breaker.abandon()
        else:
            self._learn(now, health, latency, retry_after)
        self._free(turn, self._rest(now))

    def note_withdrawal(self, turn: HostTurn, now: float) -> None:
        """Called by the turn, once."""
        self._turns.remove(turn)
        self.breaker.abandon()
        self._free(turn, None)

    def _free(self, turn: HostTurn, rest: float | None) -> None:
        try:
            if self._host_lock and turn.place:
                self._host_lock.release(turn.place, rest)
        finally:
            self._call_first()

    def _rest(self, now: float) -> float:
        """Seconds during which no process should send a request to this host."""
        return max(self.next_at, self.breaker.open_until) - now

    def remember(self, offset: float) -> HostMemory:
        """The state for the next process; `offset` turns clock times into epoch seconds."""
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
        """Merge the state of an earlier process. It never shortens a wait that this one has set."""
        self._held_until = max(self._held_until, memory.next_at - offset)
        self._slowed = max(self._slowed, min(memory.delay, self.rules.delay_cap))
        breaker = self.breaker
        if self.requests or breaker.failures:
            return
        breaker.failures = memory.failures
        # The last run gave up on this host: this run probes it once more.
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
        """Rest at the first challenge, long before the breaker opens: more requests prolong a block."""
        rest = self.rules.challenge_rest * 2.0 ** min(self._challenges, 30)
        self._challenges += 1
        self._rests_until = now + min(rest, self.rules.breaker.cooldown_cap)

    def _recover(self, latency: float) -> None:
        """Drift back to the configured delay, unless the host answers ever more slowly."""
        self._slowed = self._slowed * _RECOVERY if self._slowed > self.rules.delay + 0.05 else 0.0
        if not self.rules.delay:  # without a delay, latency shows the load of this machine
            return
        self._quickest = min(self._quickest, latency)
        self._latency += _LATENCY_MEMORY * (latency - self._latency)
        if self._latency > _LATENCY_RISE * max(self._quickest, 0.05):
            self._slowed = max(self._slowed, min(self._latency, self.rules.delay_cap))
