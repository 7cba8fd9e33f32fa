"""Send the requests of one crawl, with its headers and proxies."""

from __future__ import annotations

from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import Request, Transport
from crawl4r.fetch.proxies import ProxyPool
from crawl4r.model import Failure, Response, Validators


class Sender:
    def __init__(self, transport: Transport, headers: RequestHeaders, proxies: ProxyPool) -> None:
        self._transport = transport
        self._headers = headers
        self._proxies = proxies

    async def send(
        self, url: str, validators: Validators | None = None, *, cut_at: int | None = None
    ) -> Response | Failure:
        """Make one request without following redirects. A body is cut at `cut_at` bytes.

        Reports the result to the proxy pool, unless the network was down.
        """
        proxy = self._proxies.pick()
        headers = self._headers.for_url(url, validators)
        answer = await self._transport.fetch(Request(url, headers, proxy, cut_at=cut_at))
        if proxy and not was_lost(answer):
            self._proxies.report(proxy, answer)
        return answer


def was_lost(answer: Response | Failure) -> bool:
    """Whether the network was down, which tells nothing about the host."""
    return isinstance(answer, Failure) and answer.by_network
