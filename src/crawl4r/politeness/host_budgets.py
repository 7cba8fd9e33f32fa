"""The host budgets of one process, by host."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from crawl4r.model import HostMemory
from crawl4r.politeness.breaker import BreakerState
from crawl4r.politeness.host_budget import HostBudget, HostRules
from crawl4r.politeness.shared_host_lock import HostLock

_LONG_AGO = -1e9  # seconds


class HostBudgets:
    """The budgets of one process, by host, for all crawls that run in it.

    With a `host_lock`, several processes share the hosts' pace.
    """

    def __init__(self, rules: HostRules | None = None, host_lock: HostLock | None = None) -> None:
        self.rules = rules or HostRules()
        self._host_lock = host_lock
        self._has_rules = rules is not None
        self._budgets: dict[str, HostBudget] = {}
        self._changed: set[HostBudget] = set()
        self._asked_at = _LONG_AGO  # assumed time of the last request to a host without a budget

    def __getitem__(self, host: str) -> HostBudget:
        budget = self._budgets.get(host)
        if budget is None:
            budget = HostBudget(host, self.rules, self._changed, self._asked_at, self._host_lock)
            self._budgets[host] = budget
        return budget

    def assume_just_asked(self, now: float) -> None:
        """A process died without recording its last requests: let every host rest for one delay."""
        self._asked_at = now
        for budget in self._budgets.values():
            budget.assume_just_asked(now)

    def __iter__(self) -> Iterator[HostBudget]:
        return iter(self._budgets.values())

    def tighten(self, rules: HostRules) -> None:
        """Add the rules of another crawl. The more polite rule of the two applies to both crawls."""
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
        """Set the rules of every host, with or without a budget."""
        self.rules = rules
        for budget in self._budgets.values():
            budget.adopt(rules)

    def forget_idle(self, now: float, keep: int) -> None:
        """Drop budgets without any state left, so that memory does not grow with the hosts.

        A sweep reads all budgets, so it runs only when their number has doubled since the last one.
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
        """The states that changed since the last call and must survive a restart, in epoch seconds."""
        memories = [budget.remember(wall - now) for budget in self._changed]
        self._changed.clear()
        return memories

    def remember_again(self) -> None:
        """Report all states with the next call, because the earlier ones may not have been saved."""
        self._changed.update(self._budgets.values())

    def restore(self, memories: list[HostMemory], now: float, wall: float) -> None:
        for memory in memories:
            self[memory.host].restore(memory, wall - now)
