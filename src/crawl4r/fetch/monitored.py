"""A transport that reports each request as a beat, and marks failures while the network is down."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from crawl4r.fetch.port import Request, Transport
from crawl4r.model import Failure, Response
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.probes import place_of_proxy


class WatchedTransport:
    """See `port.Transport`. Marks failures of the network itself."""

    def __init__(
        self,
        transport: Transport,
        heart: Heartbeat,
        network: NetworkWatch,
        on_lost: Callable[[str, Failure], None] | None = None,
    ) -> None:
        """`on_lost` is called for sent requests that the network lost and that do not count."""
        self.renders = transport.renders
        self._transport = transport
        self._heart = heart
        self._network = network
        self._on_lost = on_lost

    async def fetch(self, request: Request) -> Response | Failure:
        heart = self._heart
        heart.beat()
        heart.under_way += 1
        try:
            answer = await self._transport.fetch(request)
        finally:
            heart.under_way -= 1
            heart.beat()
        place = place_of_proxy(request.proxy) if request.proxy else request.url
        if not self._network.doubts(place, answer) or not await self._network.is_lost():
            return answer
        assert isinstance(answer, Failure)
        if self._on_lost and answer.sent_at:
            self._on_lost(request.url, answer)
        return replace(answer, by_network=True)

    async def close(self) -> None:
        await self._transport.close()
