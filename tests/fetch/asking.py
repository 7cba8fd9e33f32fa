"""The client of these tests, and a server that sends exactly the given bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from crawl4r.fetch.curl import CurlTransport
from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import FetchLimits, Request
from crawl4r.model import Failure, Response
from crawl4r.urls.egress import AddressGate
from tests.interfaces.cli.running import PATIENCE

HEADERS = RequestHeaders("Crawlr/0 (tests; +https://example.org)")
QUICK = FetchLimits(connect_timeout=10, timeout=20)  # no test comes near


def get(url: str, **options: Any) -> Request:
    return Request(url, HEADERS.for_url(url), **options)


@asynccontextmanager
async def open_transport(*allowed: str, **options: Any) -> AsyncIterator[CurlTransport]:
    gate = AddressGate(allowed or ["127.0.0.0/8"])
    transport = CurlTransport(gate, limits=options.pop("limits", QUICK), **options)
    try:
        yield transport
    finally:
        await transport.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what happens elsewhere, while the transport works."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - there is no callback
            await asyncio.sleep(0.005)


def fetch_each(*urls: str, **options: Any) -> list[Response | Failure]:
    """One transport, one request after the other."""

    async def fetch() -> list[Response | Failure]:
        async with open_transport(**options) as transport:
            return [await transport.fetch(get(url)) for url in urls]

    return asyncio.run(fetch())


def answer_of(answer: Response | Failure) -> Response:
    assert isinstance(answer, Response), answer
    return answer


def failure_of(answer: Response | Failure) -> Failure:
    assert isinstance(answer, Failure), answer
    return answer


@asynccontextmanager
async def serve_bytes(wire: bytes) -> AsyncIterator[str]:
    """A server that answers any request with these bytes, and hangs up; its URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(wire)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
