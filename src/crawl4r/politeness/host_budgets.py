"""The host budgets of one process, by host, and what each of its crawls wants of them."""

from __future__ import annotations

from collections.abc import Iterator

from crawl4r.model import HostMemory
from crawl4r.politeness.breaker import BreakerState
from crawl4r.politeness.host_budget import HostBudget, HostRules, strictest
from crawl4r.politeness.shared_host_lock import HostLock

_LONG_AGO = -1e9  # seconds


class HostBudgets:
    """The budgets of one process, by host, for all crawls that run in it.

    A host goes by the strictest rules of the crawls that want it now. With a `host_lock`, several
    processes share the hosts' pace.
    """

    def __init__(
        self,
        floor: HostRules | None = None,
        host_lock: HostLock | None = None,
        *,
        usual: HostRules | None = None,
    ) -> None:
        """No crawl is less strict than `floor`. A host that no crawl has wanted yet goes by `usual`."""
        self._floor = floor
        self._usual = usual or HostRules()
        self._host_lock = host_lock
        self._budgets: dict[str, HostBudget] = {}
        self._changed: set[HostBudget] = set()
        self._asked_at = _LONG_AGO  # assumed time of the last request to a host without a budget

    def __getitem__(self, host: str) -> HostBudget:
        budget = self._budgets.get(host)
        if budget is None:
            rules = self._floor or self._usual
            budget = HostBudget(host, rules, self._changed, self._asked_at, self._host_lock)
            self._budgets[host] = budget
        return budget

    def assume_just_asked(self, now: float) -> None:
        """A process died without recording its last requests: let every host rest for one delay."""
        self._asked_at = now
        for budget in self._budgets.values():
            budget.assume_just_asked(now)

    def __iter__(self) -> Iterator[HostBudget]:
        return iter(self._budgets.values())

    def of_crawl(self, rules: HostRules | None = None) -> CrawlBudgets:
        """The same budgets for one crawl, whose rules hold at the hosts that it enters."""
        return CrawlBudgets(self, rules or self._floor or self._usual)

    def want(self, host: str, who: object, rules: HostRules) -> None:
        self[host].want(who, strictest([rules, self._floor]) if self._floor else rules)

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
            and budget.delay <= budget.rules.delay
            and not budget.is_wanted
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


class CrawlBudgets:
    """The budgets of a process for one crawl: its rules hold at a host from `enter` to `leave`."""

    def __init__(self, budgets: HostBudgets, rules: HostRules) -> None:
        self._budgets = budgets
        self._rules = rules
        self._hosts: set[str] = set()

    def __getitem__(self, host: str) -> HostBudget:
        return self._budgets[host]

    def enter(self, host: str) -> None:
        """This crawl has URLs of the host."""
        if host not in self._hosts:
            self._hosts.add(host)
            self._budgets.want(host, self, self._rules)

    def leave(self, host: str) -> None:
        """It has none any more: the rules of the others hold."""
        if host in self._hosts:
            self._hosts.remove(host)
            self._budgets[host].want_no_more(self)

    def leave_all(self) -> None:
        for host in list(self._hosts):
            self.leave(host)

    def adopt(self, rules: HostRules) -> None:
        """Replace the rules of this crawl."""
        self._rules = rules
        for host in self._hosts:
            self._budgets.want(host, self, rules)

    def forget_idle(self, now: float, keep: int) -> None:
        self._budgets.forget_idle(now, keep)
