"""The hosts that belong to this worker, as it remembers them, for both adapters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawl4r.crawling.ledger.port import ClaimLost, Kept
from crawl4r.model import HostMemory, Lease


class HeldHosts:
    """Epochs of claims, and the URLs that were leased under each.

    The database tells whether a claim is over. Only this memory tells that a visit belongs to an
    earlier claim of this worker on the same host: another worker may have visited the URL since.
    """

    def __init__(self) -> None:
        self._epochs: dict[str, int] = {}
        self._leased: dict[str, set[int]] = {}  # ids of URLs

    def take(self, host: str, epoch: int) -> None:
        self._epochs[host] = epoch
        self._leased[host] = set()

    def drop(self, hosts: Iterable[str]) -> None:
        for host in hosts:
            self._epochs.pop(host, None)
            self._leased.pop(host, None)

    def epochs(self, hosts: Iterable[str]) -> dict[str, int]:
        """The epochs of those of the hosts that are held."""
        return {host: self._epochs[host] for host in hosts if host in self._epochs}

    def note_leases(self, leases: Iterable[Lease]) -> None:
        for lease in leases:
            self._leased[lease.host].add(lease.url_id)

    def end(self, leases: Iterable[Lease]) -> None:
        """Forget leases that are over."""
        for lease in leases:
            self._leased.get(lease.host, set()).discard(lease.url_id)

    def still_leased(self, leases: Iterable[Lease]) -> list[Lease]:
        """Those of the leases that belong to the present claim on their host."""
        return [lease for lease in leases if self._is_leased(lease)]

    def _is_leased(self, lease: Lease) -> bool:
        return lease.url_id in self._leased.get(lease.host, ())

    def check(
        self, visits: Sequence[Kept], memories: Iterable[HostMemory], ours: Iterable[str]
    ) -> None:
        """Raise ClaimLost, unless each visit has its lease and each host is one of `ours`."""
        lost = hosts_of(visits, memories) - set(ours)
        self.drop(lost)
        leases = [kept.visit.lease for kept in visits]
        lost |= {lease.host for lease in leases if not self._is_leased(lease)}
        if lost:
            raise ClaimLost(lost)


def hosts_of(visits: Iterable[Kept], memories: Iterable[HostMemory]) -> set[str]:
    """The hosts that a unit is about: they must belong to the worker that keeps it."""
    return {kept.visit.lease.host for kept in visits} | {memory.host for memory in memories}
