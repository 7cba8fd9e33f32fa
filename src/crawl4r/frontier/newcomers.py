"""New URLs that are more urgent than those that a schedule has leased ahead."""

from __future__ import annotations

from collections import deque
from math import inf

from crawl4r.frontier.port import Frontier
from crawl4r.model import Lease

_AT_ONCE = 8  # leases


def put_newcomers_in_order(frontier: Frontier, host: str, leases: deque[Lease], batch: int) -> None:
    """Put the more urgent new URLs of a host among the leases at hand; at most two batches stay."""
    if frontier.soonest.get(host, inf) >= leases[-1].priority:
        return
    last, ahead = leases[-1].priority, list(leases)
    while some := frontier.lease(host, min(batch, _AT_ONCE)):
        ahead += some
        if some[-1].priority >= last:
            break
    ahead.sort(key=lambda lease: (lease.priority, lease.url_id))
    leases.clear()
    leases.extend(ahead[: 2 * batch])
    frontier.release(ahead[2 * batch :])
