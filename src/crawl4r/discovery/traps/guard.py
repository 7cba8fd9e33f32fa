"""Judges URLs before they are admitted: is this a place that makes new URLs without end?

A shape of URLs has a budget. The budget grows while its pages bring new content, and the guard closes
a shape whose pages bring nothing new. The guard does no I/O: its owner reports admitted URLs and the
results of visits.
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
    """The traps of all hosts of a crawl. The table of a host stays below a few hundred kilobytes."""

    def __init__(self, rules: TrapRules, today: date) -> None:
        self.rules = rules
        self._today = today.toordinal()
        self._hosts: dict[str, HostTraps] = {}

    def judge(self, url: str) -> str | None:
        """Why to refuse a URL that is not known yet; None to admit it."""
        return self._host(url).judge(url)

    def recheck(self, url: str) -> str | None:
        """Why to refuse a URL that was admitted before, by later findings alone and without budgets."""
        return self._host(url).recheck(url)

    def admit(self, url: str) -> None:
        """Count an admitted URL. Call once for each URL."""
        self._host(url).admit(url)

    def observe(self, url: str, is_new_content: bool, found: Iterable[str] | None = None) -> None:
        """Report a visit: whether its content was new, and which URLs it was the first to name.

        Without `found` the guard judges a calendar by its content, which differs even for empty months.
        """
        self._host(url).observe(url, found, is_new=is_new_content)

    def suggest_excludes(self) -> list[Suggestion]:
        """Patterns that keep the next crawl out of the traps that this one found."""
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
        """The part of one host in `as_json`; None for an unknown host."""
        host = self._hosts.get(netloc)
        return host.as_json() if host else None

    def restore(self, netloc: str, state: Any) -> None:
        """Restore a state that `state_of` returned."""
        self._hosts[netloc] = HostTraps.from_json(state, netloc, self.rules, self._today)

    def _host(self, url: str) -> HostTraps:
        netloc = split(url).netloc
        host = self._hosts.get(netloc)
        if host is None:
            host = self._hosts[netloc] = HostTraps(netloc, self.rules, self._today)
        return host
