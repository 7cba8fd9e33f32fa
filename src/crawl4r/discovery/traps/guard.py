"""Judges URLs before they are admitted: is this a place that makes new URLs without end?

No rule here forbids much by itself. A shape of URLs has a budget, the budget grows while its pages
bring new content, and a shape whose pages bring nothing is closed. Pure: the owner says what was
admitted and what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

from crawl4r.discovery.traps.budgets import TrapRules
from crawl4r.discovery.traps.host import HostTraps
from crawl4r.urls.canonical import split

__all__ = ["Suggestion", "TrapGuard", "TrapRules"]


class Suggestion(NamedTuple):
    """A pattern (RE2) for `scope.deny`, and why."""

    pattern: str
    reason: str


class TrapGuard:
    """All hosts of a crawl; for each a table that does not grow past a few hundred kilobytes."""

    def __init__(self, rules: TrapRules, today: date) -> None:
        self.rules = rules
        self._today = today.toordinal()
        self._hosts: dict[str, HostTraps] = {}

    def judge(self, url: str) -> str | None:
        """Why a URL that is not known yet should not be; None when nothing speaks against it."""
        return self._host(url).judge(url)

    def recheck(self, url: str) -> str | None:
        """The same for a URL that was admitted: what was learnt since, without the budgets."""
        return self._host(url).recheck(url)

    def admit(self, url: str) -> None:
        """The URL became known: count it. To be said once of each URL."""
        self._host(url).admit(url)

    def observe(self, url: str, is_new_content: bool, found: Iterable[str] | None = None) -> None:
        """What came of a visit: whether its content was new, and which URLs it was the first to name.

        Without `found` a calendar is judged by its content alone, which differs on every empty month.
        """
        self._host(url).observe(url, found, is_new=is_new_content)

    def suggest_excludes(self) -> list[Suggestion]:
        """Patterns that would have kept the crawl out of what turned out to be traps."""
        by_pattern: dict[str, str] = {}
        for host in self._hosts.values():
            for pattern, reason in host.excludes():
                by_pattern.setdefault(pattern, reason)
        return [Suggestion(pattern, reason) for pattern, reason in by_pattern.items()]

    def as_json(self) -> dict[str, Any]:
        return {name: host.as_json() for name, host in self._hosts.items()}

    @staticmethod
    def from_json(plain: Mapping[str, Any], rules: TrapRules, today: date) -> TrapGuard:
        made = TrapGuard(rules, today)
        for name, state in plain.items():
            made.restore(name, state)
        return made

    def state_of(self, netloc: str) -> Any:
        """One host's part of `as_json`; None for a host that nothing was said of."""
        host = self._hosts.get(netloc)
        return host.as_json() if host else None

    def restore(self, netloc: str, state: Any) -> None:
        """Go on from what `state_of` gave."""
        self._hosts[netloc] = HostTraps.from_json(state, netloc, self.rules, self._today)

    def _host(self, url: str) -> HostTraps:
        netloc = split(url).netloc
        host = self._hosts.get(netloc)
        if host is None:
            host = self._hosts[netloc] = HostTraps(netloc, self.rules, self._today)
        return host
