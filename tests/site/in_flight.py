"""How many requests is each host address answering at once?"""

import select
from asyncio.trsock import TransportSocket
from collections import defaultdict
from collections.abc import Collection


class InFlight:
    """The connections on which a request is being answered, for each local address."""

    def __init__(self) -> None:
        self._connections: defaultdict[str, set[TransportSocket]] = defaultdict(set)

    def enter(self, host: str, connection: TransportSocket) -> int:
        """How many are under way now, this one included."""
        others = _still_connected(self._connections[host])
        self._connections[host].add(connection)
        return others + 1

    def leave(self, host: str, connection: TransportSocket) -> None:
        self._connections[host].discard(connection)

    def counts(self) -> dict[str, int]:
        """Those not yet in the access log, hung up or not."""
        return {host: len(group) for host, group in self._connections.items()}


def _still_connected(connections: Collection[TransportSocket]) -> int:
    """How many of these clients have not hung up, as the kernel knows it.

    The event loop learns of a hang-up some turns later; a crawler that gives up on one page and
    then asks for another must not look like two requests at once.
    """
    open_ones = [number for number in (c.fileno() for c in connections) if number >= 0]
    hang_ups = select.poll()
    for number in open_ones:
        hang_ups.register(number, select.POLLRDHUP)
    return len(open_ones) - len(hang_ups.poll(0))
