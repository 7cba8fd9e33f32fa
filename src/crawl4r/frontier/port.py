"""What every frontier promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from crawl4r.model import Ending, Found, Lease, UrlState


class Frontier(Protocol):
    """A durable set of URLs, each known once, handed out by host and in order of priority.

    A lease is exclusive. It ends by `settle` or, when its holder dies, by `recover`: a URL is never
    lost in between. Nothing here is durable before the owner commits.
    """

    caps: Mapping[str, int]  # how many URLs each group may admit, by cap name
    admitted: int  # URLs that `add` has made ready to lease, so far
    keeps_to_known: bool  # while true, `lease`, `wake` and `..._pending` see kept pages alone

    def add(self, found: Iterable[Found], referrer: int | None, now: float) -> set[str]:
        """Make URLs known; returns the hosts that have more to lease than before.

        A URL already known stays as it is, except that a shorter way to a pending one counts and
        that one refused by scope or a cap is reconsidered when it is admitted now. A guess of ours
        that a document names is a guess no more.
        """

    def id_of(self, url: str) -> int | None:
        """The number of a URL, None when it is not known."""

    def lease(self, host: str, most: int) -> list[Lease]:
        """Take up to `most` pending URLs of a host, best first; empty when there are none."""

    def settle(self, endings: Iterable[Ending]) -> None:
        """End leases as told."""

    def count_kept(self, url_ids: Iterable[int]) -> int:
        """How many of these URLs the archive holds a page of, also one that was rejected."""

    def still_caps(self, reason: str) -> bool:
        """Whether a cap that kept URLs out, for this reason, is no larger than it was."""

    def count_groups_again(self, groups_of: Callable[[str, str], Sequence[str]]) -> None:
        """Groups are others than they were: count every URL that has a place.

        `groups_of` names the groups of a URL of a page type.
        """

    def hold_to_caps(self, groups_of: Callable[[str, str], Sequence[str]]) -> int:
        """Keep out what has a place that a smaller cap no longer has, the last in line first.

        How many were kept out.
        """

    def release(self, leases: Iterable[Lease]) -> None:
        """Give leases back untouched."""

    def recover(self) -> int:
        """Give back what a dead holder had leased; how many there were."""

    def requeue(self, states: Sequence[UrlState], urls: Iterable[str] | None = None) -> int:
        """Make URLs in these states pending again, all or the named ones; how many there were.

        Guesses of ours that led to nothing are made pending only by name.
        """

    def wake(self, now: float) -> tuple[set[str], float | None]:
        """Make due retries pending: their hosts, and when the next one is due (None: no more)."""

    def hosts_pending(self, after: str, most: int) -> Sequence[str]:
        """Hosts with pending URLs whose internal order is past `after`, for start-up."""

    def has_pending(self, host: str) -> bool:
        """Whether there is anything of a host to lease."""

    def count_unfinished(self) -> int:
        """URLs that are pending, leased or waiting."""
