"""A plain model of a ledger: what it must answer, and what its rows must be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from crawl4r.crawling.ledger.port import Kept
from crawl4r.frontier.priority import breadth_first
from crawl4r.model import REJECTED, Capture, Found, HostMemory, Lease, UrlState, Verdict
from tests.crawling.ledger.stores import CAPS, CLAIM_SECONDS

PENDING, LEASED, WAITING = UrlState.PENDING, UrlState.LEASED, UrlState.WAITING
FAILURES = frozenset([UrlState.WAITING, UrlState.FAILED])
Name = tuple[int, str]  # a crawl and a URL


@dataclass
class KnownUrl:
    """A row of `urls`; `order` is that of its discovery."""

    host: str
    order: int
    state: UrlState
    depth: int
    priority: float
    attempts: int = 0
    due_at: float = 0.0
    by_rule: bool = False  # refused by our own rules, which may change their mind
    verdict: Verdict | None = None
    has_content: bool = False
    answered: Verdict | None = None  # the verdict of its newest capture

    @property
    def is_kept(self) -> bool:
        return self.has_content or self.verdict in REJECTED


@dataclass
class KnownHost:
    owner: int = 0  # the number of a worker; 0: none
    epoch: int = 0
    until: float = 0.0
    was_left: bool = False  # its last owner did not let go
    memory: HostMemory | None = None


@dataclass
class Model:
    running: set[int] = field(default_factory=set)
    urls: dict[Name, KnownUrl] = field(default_factory=dict)
    hosts: dict[str, KnownHost] = field(default_factory=dict)
    places: Counter[tuple[int, str]] = field(default_factory=Counter)  # by crawl and group
    captures: list[Name] = field(default_factory=list)
    pages: Counter[int] = field(default_factory=Counter)

    def add(self, crawl: int, item: Found) -> bool:
        """Whether the URL is pending by this."""
        known = self.urls.get((crawl, item.url))
        priority = breadth_first(item.depth, item.score)
        is_full = any(self.places[crawl, group] >= CAPS[group] for group in item.groups)
        if known is not None and known.state is PENDING:
            if not item.admitted or item.depth >= known.depth:
                return False
            known.depth, known.priority = item.depth, priority
            return True
        is_admitted = item.admitted and not is_full
        if known is None:
            order = len(self.urls)
            state = PENDING if is_admitted else UrlState.REFUSED
            known = KnownUrl(item.host, order, state, item.depth, priority)
            known.by_rule = not is_admitted
            self.urls[crawl, item.url] = known
            self.hosts.setdefault(item.host, KnownHost())
        elif is_admitted and known.by_rule:
            known.state, known.depth, known.priority = PENDING, item.depth, priority
            known.by_rule = False
        else:
            return False
        if is_admitted:
            self.places.update((crawl, group) for group in item.groups)
        return is_admitted

    def of(self, crawl: int, *states: UrlState) -> dict[str, KnownUrl]:
        return {
            url: known
            for (number, url), known in self.urls.items()
            if number == crawl and known.state in states
        }

    def best(self, crawl: int, host: str, most: int) -> list[str]:
        pending = {u: k for u, k in self.of(crawl, PENDING).items() if k.host == host}
        return sorted(pending, key=lambda u: (pending[u].priority, pending[u].order))[:most]

    def end_claims(self, now: float) -> None:
        for name, host in self.hosts.items():
            if host.owner and host.until <= now:
                self.end_leases(name)
                host.owner, host.was_left = 0, True
                host.epoch += 1

    def end_leases(self, name: str) -> None:
        for known in self.urls.values():
            if known.host == name and known.state is LEASED:
                known.state = PENDING

    def free(self) -> set[str]:
        return {
            known.host
            for crawl in self.running
            for known in self.of(crawl, PENDING).values()
            if not self.hosts[known.host].owner
        }

    def take(self, name: str, owner: int, now: float) -> KnownHost:
        host = self.hosts[name]
        host.owner, host.until = owner, now + CLAIM_SECONDS
        host.epoch += 1
        return host

    def keep(self, kept: Kept) -> None:
        """End a lease, and add its capture."""
        ending, lease = kept.visit.ending, kept.visit.lease
        known = self.urls[kept.crawl, lease.url]
        assert known.state is LEASED, f"{lease.url} is kept a second time"
        before = known.is_kept
        if kept.visit.capture:
            self.captures.append((kept.crawl, lease.url))
            known.answered = ending.verdict
            known.has_content |= ending.verdict is Verdict.OK
        known.state, known.verdict = ending.state, ending.verdict
        known.due_at = ending.due_at or 0.0
        known.attempts = known.attempts + 1 if ending.state in FAILURES else 0
        if ending.state is UrlState.REFUSED and known.answered:
            known.state, known.verdict = UrlState.DONE, known.answered
        self.pages[kept.crawl] += known.is_kept - before


@dataclass
class Worker:
    """What a worker holds, by the model."""

    number: int
    epochs: dict[str, int] = field(default_factory=dict)
    live: dict[int, Lease] = field(default_factory=dict)  # by the id of the URL
    # All that it ever leased and did not keep, also what is not its own any more.
    in_flight: dict[tuple[int, int], tuple[int, Lease]] = field(default_factory=dict)

    def owns(self, model: Model, host: str) -> bool:
        known = model.hosts.get(host)
        return (
            known is not None
            and host in self.epochs
            and (known.owner, known.epoch) == (self.number, self.epochs[host])
        )

    def drop(self, host: str) -> None:
        self.epochs.pop(host, None)
        self.live = {n: lease for n, lease in self.live.items() if lease.host != host}


def names_of(captures: list[Capture]) -> list[tuple[int, int | None, str]]:
    return [(capture.id, capture.crawl, capture.url) for capture in captures]
