"""The port of the frontier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from crawl4r.model import Ending, Found, Lease, UrlState


class Frontier(Protocol):
    """A durable set of distinct URLs, leased by host in order of priority.

    A lease is exclusive. It ends by `settle` or, when its holder dies, by `recover`, so no URL is lost.
    Changes become durable when the owner commits.
    """

    caps: Mapping[str, int]  # maximum number of admitted URLs, by cap name
    admitted: int  # number of URLs that `add` has made pending
    soonest: dict[
        str, float
    ]  # by host: the lowest priority that `add` made pending since its `lease`
    keeps_to_known: bool  # True: `lease`, `wake` and `..._pending` see only kept pages

    def add(self, found: Iterable[Found], referrer: int | None, now: float) -> set[str]:
        """Add URLs. Returns the hosts with new pending URLs.

        A known URL stays unchanged, with three exceptions: a pending URL takes a smaller depth; a URL
        that scope or a cap refused is admitted if the rules admit it now; and a guess that a document
        names is no guess any more.
        """

    def id_of(self, url: str) -> int | None:
        """The id of a URL; None for an unknown one."""

    def lease(self, host: str, most: int) -> list[Lease]:
        """Lease up to `most` pending URLs of a host, best first; empty when there are none."""

    def settle(self, endings: Iterable[Ending]) -> None:
        """End leases with the given results."""

    def count_kept(self, url_ids: Iterable[int]) -> int:
        """How many of these URLs have a page in the archive, including rejected pages."""

    def still_caps(self, reason: str) -> bool:
        """Whether the cap in this reason of a refusal is not larger now."""

    def count_groups_again(self, groups_of: Callable[[str, str], Sequence[str]]) -> None:
        """Count all admitted URLs again after a change of the groups.

        `groups_of` names the groups of a URL of a page type.
        """

    def hold_to_caps(self, groups_of: Callable[[str, str], Sequence[str]]) -> int:
        """Refuse pending URLs above a smaller cap, the last in order first.

        Returns their number.
        """

    def release(self, leases: Iterable[Lease]) -> None:
        """Make leased URLs pending again, without a result."""

    def recover(self) -> int:
        """Make the leases of a dead holder pending again; returns their number."""

    def requeue(self, states: Sequence[UrlState], urls: Iterable[str] | None = None) -> int:
        """Make all or the named URLs in these states pending again; returns their number.

        Guesses without a result become pending only by name.
        """

    def wake(self, now: float) -> tuple[set[str], float | None]:
        """Make due retries pending. Returns their hosts, and the time of the next retry or None."""

    def hosts_pending(self, after: str, most: int) -> Sequence[str]:
        """Hosts with pending URLs after `after` in internal order, for start-up."""

    def has_pending(self, host: str) -> bool:
        """Whether a host has pending URLs."""

    def count_unfinished(self) -> int:
        """The number of URLs that are pending, leased or waiting."""
