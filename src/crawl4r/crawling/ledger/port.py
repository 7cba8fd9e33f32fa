"""The port of the ledger: what is to be visited, what visits gave, and to whom a host belongs.

    claim hosts ──> lease URLs of a host ──> visits ──> keep: captures, endings, links, caps, what was
         ^                                              learned of hosts: one unit, all or nothing
         └── renew, until nothing is left                                │
                                                                         └──> followers, by number

A host belongs to one worker at a time, for all crawls. Its claim has an epoch, which grows with each
new owner: what a former owner still keeps is refused, so that nothing is kept twice. Any worker can add
URLs to a host. Its owner leases until nothing is left and lets go; URLs that come later let the host be
claimed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from crawl4r.errors import Crawl4rError
from crawl4r.model import Capture, Found, HostMemory, Lease, UrlState, Visit
from crawl4r.storage.tables import RobotsRecord


class ClaimLost(Crawl4rError):
    """The claim under which these hosts' URLs were leased is over; nothing of the unit was kept.

    The same worker may have claimed a host again since; `renew` tells which hosts are still its own.
    """

    def __init__(self, hosts: Iterable[str]) -> None:
        self.hosts = frozenset(hosts)
        super().__init__(f"the claims on these hosts are over: {', '.join(sorted(self.hosts))}")


class HostClaim(Struct, frozen=True):
    """A host that belongs to this worker until `until`."""

    host: str
    epoch: int
    until: float  # epoch seconds
    memory: HostMemory | None  # as its last owner left it; None when there is nothing to know
    is_inherited: bool  # its last owner did not let go: wait one delay before the first request


class Lesson(Struct, frozen=True):
    """A finding about a host, for one crawl or (0) for all; None forgets it."""

    crawl: int
    host: str
    kind: str
    key: str
    value: Any


class Kept(Struct, frozen=True):
    """A visit of a crawl. Its bytes are durable already, and its capture names their hash.

    A 304 may name none: it then gets the hash of the content that its lease's validators belong to.
    """

    crawl: int
    visit: Visit


class Taught(Struct, frozen=True):
    """What visits taught besides their own results. `hosts` are hosts of this worker."""

    hosts: Sequence[HostMemory] = ()
    robots: Sequence[RobotsRecord] = ()
    lessons: Sequence[Lesson] = ()
    tallies: Sequence[tuple[int, str, int]] = ()  # crawl, name, how much more


class KeptUnit(Struct, frozen=True):
    """What a unit made durable."""

    captures: Sequence[int]  # the number of each visit that has a capture, in their order
    hosts: Sequence[tuple[int, str]]  # crawls and hosts with new pending URLs
    admitted: Sequence[int]  # how many URLs each visit made pending
    pages: dict[
        int, int
    ]  # by crawl: how many pages it has now that it had not; counted in its tally


class Ledger(Protocol):
    """The ledger as one worker sees it, in one thread.

    What a method changed is durable when it returns. Leases and releases may be lost in a crash, which
    makes URLs pending: so does every crash of a worker.
    """

    def claim(self, most: int, now: float) -> Sequence[HostClaim]:
        """Take up to `most` hosts that have pending URLs of running crawls and no owner.

        This ends claims whose time is over, first of all: their leases are pending again.
        """

    def renew(self, hosts: Iterable[str], now: float) -> set[str]:
        """Lengthen claims; returns those of `hosts` that are still ours."""

    def let_go(self, hosts: Iterable[str], memories: Iterable[HostMemory] = ()) -> None:
        """Give hosts back, with what is remembered of them. Their leases are pending again."""

    def lease(self, crawl: int, host: str, most: int) -> Sequence[Lease]:
        """Lease pending URLs of a claimed host, the best first. Raises ClaimLost."""

    def release(self, leases: Iterable[Lease]) -> None:
        """Make leased URLs pending again, without a result. Those of a lost host are left alone."""

    def keep(
        self, unit: str, visits: Sequence[Kept], taught: Taught, now: float, offset: float
    ) -> KeptUnit:
        """Make visits durable with all that they taught, or nothing of it. Raises ClaimLost.

        `offset` converts the times of requests without an answer to epoch seconds. `unit` is a name
        that is never used again. To keep a unit that was kept within the last hour changes nothing and
        gives its first outcome: so a worker whose connection broke during COMMIT asks once more.
        """

    def add(self, crawl: int, found: Iterable[Found], now: float) -> set[str]:
        """Add URLs that no visit found, such as seeds; returns the hosts with new pending URLs."""

    def requeue(self, crawl: int, states: Sequence[UrlState]) -> int:
        """Make URLs in these states pending again; returns their number.

        Refusals by scope or a cap stay, and guesses without a result.
        """

    def wake(self, crawl: int, now: float) -> tuple[set[str], float | None]:
        """Make due retries pending, also of hosts without an owner: nothing else would wake them.

        Returns their hosts, and when the next one is due.
        """

    def unfinished(self, crawl: int) -> int:
        """The number of URLs that are pending, leased or waiting."""

    def captures_after(self, number: int, most: int) -> Sequence[Capture]:
        """Captures with larger numbers, in order. Numbers grow in the order of commits, so a follower
        that reads from its last number on misses none."""
