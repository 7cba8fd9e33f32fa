"""Connections in, requests to their handlers, one log record for each."""

import asyncio
import itertools
import socket
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tests.site.access_log import AccessLog, AccessRecord
from tests.site.arriving import seconds_since_data
from tests.site.exchange import Handler, Reply, Request, Routes
from tests.site.gate import Gates
from tests.site.in_flight import InFlight

MAX_REQUEST_HEAD = 1 << 20  # bytes
PORT_ATTEMPTS = 20
BACKLOG = 1024  # connections waiting; a test may open many at once

StartServing = Callable[[asyncio.StreamReader, asyncio.StreamWriter], asyncio.Task[None]]


class Closing(Exception):
    """Ends the task group of connections when the site is told to close."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is known of a request before its answer; `in_flight` includes it."""

    connection_number: int
    monotonic: float
    wall: float
    in_flight: int


class Site:
    """Answers requests by a table of routes until told to close."""

    def __init__(self, routes: Routes, log: AccessLog) -> None:
        self.in_flight = InFlight()
        self.gates = Gates()
        self._routes = routes
        self._log = log
        self._connection_numbers = itertools.count(1)

    async def serve(self, listeners: Sequence[socket.socket], until: Awaitable[None]) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.TaskGroup() as connections:

                def start(r: asyncio.StreamReader, w: asyncio.StreamWriter) -> asyncio.Task[None]:
                    return connections.create_task(self._converse(r, w))

                servers = [
                    await loop.create_server(
                        lambda: _ClientProtocol(start), sock=listener, backlog=BACKLOG
                    )
                    for listener in listeners
                ]
                await until
                for server in servers:
                    server.close()
                raise Closing
        except* Closing:
            pass

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        number = next(self._connection_numbers)
        try:
            while request := await _read_request(reader, host):
                reply = Reply(request, writer)
                with self._counting(request, reply, number):
                    await _discard_body(request, reader)
                    await self.gates.passed(request.host, request.path)
                    await self._run(request, reply)
                if not reply.keeps_alive:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client left, which clients may do.
        finally:
            writer.close()

    @contextmanager
    def _counting(self, request: Request, reply: Reply, number: int) -> Iterator[None]:
        """Count the request as in flight inside the block, and log it at the end of the block.

        There is no await between the last byte of an answer and that end: a client that has the
        whole answer and asks again must not find itself still counted.
        """
        in_flight = self.in_flight.enter(request.host, reply.connection)
        ago = seconds_since_data(reply.connection)
        arrival = Arrival(number, time.monotonic() - ago, time.time() - ago, in_flight)
        is_complete = False
        try:
            yield
            is_complete = True
        finally:
            self.in_flight.leave(request.host, reply.connection)
            self._log.append(_record(arrival, request, reply, is_complete))

    async def _run(self, request: Request, reply: Reply) -> None:
        """A handler's bug, or a URL it cannot read, must not end the site amid a test."""
        handler, tail = find_route(self._routes, request)
        try:
            await handler(replace(request, tail=tail), reply)
        except ConnectionError:
            raise
        except Exception:
            traceback.print_exc(file=sys.stderr)
            reply.hang_up()
            if not reply.bytes_sent:
                await reply.send(b"the test site has a bug here\n", status=500)


class _ClientProtocol(asyncio.StreamReaderProtocol):
    """Streams that cancel the answer under way when the client closes its side.

    Otherwise a client that gave up on a silent page would stay counted as in flight, and the log
    would accuse a polite crawler. The price: a client cannot half-close and wait for its answer.
    """

    def __init__(self, start_serving: StartServing) -> None:
        self._incoming = asyncio.StreamReader(limit=MAX_REQUEST_HEAD)
        self._start_serving = start_serving
        self._serving: asyncio.Task[None] | None = None
        super().__init__(self._incoming)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        # With no buffer of our own, drain() returns when the kernel has everything.
        transport.set_write_buffer_limits(high=0)
        loop = asyncio.get_running_loop()
        writer = asyncio.StreamWriter(transport, self, self._incoming, loop)
        self._serving = self._start_serving(self._incoming, writer)

    def eof_received(self) -> bool | None:
        self._stop_serving()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_serving()
        super().connection_lost(exc)

    def _stop_serving(self) -> None:
        if self._serving is not None:
            self._serving.cancel()


def find_route(routes: Routes, request: Request) -> tuple[Handler, str]:
    """The handler of the longest prefix (whole segments) of the path, and the rest of it."""
    if not request.version.startswith("HTTP/1."):
        return _answer_bad_request, ""
    path = request.path
    prefix = path
    while prefix:
        if prefix in routes:
            return routes[prefix], path[len(prefix) :].removeprefix("/")
        prefix = prefix.rpartition("/")[0]
    return _answer_not_found, ""


def listen_on_one_port(hosts: Sequence[str], port: int) -> list[socket.socket]:
    """Listening sockets on every address, all on the same port; port 0 picks a free one."""
    for attempt in range(PORT_ATTEMPTS):
        listeners: list[socket.socket] = []
        try:
            for host in hosts:
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                chosen = listeners[0].getsockname()[1] if listeners else port
                address = (host, chosen)
                listeners.append(socket.create_server(address, family=family))
        except OSError:
            for listener in listeners:
                listener.close()
            # A port free on the first address may be taken on another: only then try again.
            if port or not listeners or attempt == PORT_ATTEMPTS - 1:
                raise
        else:
            return listeners
    raise AssertionError("unreachable")


async def _read_request(reader: asyncio.StreamReader, host: str) -> Request | None:
    """The next request head, however odd; None when the client has closed."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    method, target, version, *_ = [*first.split(" "), "", "", ""]
    pairs = (line.partition(":") for line in lines)
    headers = tuple((name, value.strip()) for name, _, value in pairs)
    return Request(host, method, target, version, headers)


async def _discard_body(request: Request, reader: asyncio.StreamReader) -> None:
    length = request.header("Content-Length") or ""
    await reader.readexactly(int(length) if length.isdecimal() else 0)


def _record(arrival: Arrival, request: Request, reply: Reply, is_complete: bool) -> AccessRecord:
    return AccessRecord(
        connection=arrival.connection_number,
        host=request.host,
        host_header=request.header("Host"),
        method=request.method,
        path=request.target,
        user_agent=request.header("User-Agent"),
        headers=request.headers,
        arrived_monotonic=arrival.monotonic,
        arrived_wall=arrival.wall,
        ended_monotonic=time.monotonic(),
        ended_wall=time.time(),
        status=reply.status,
        bytes_sent=reply.bytes_sent,
        in_flight=arrival.in_flight,
        is_complete=is_complete,
    )


async def _answer_not_found(request: Request, reply: Reply) -> None:
    await reply.send(b"not found\n", status=404, content_type="text/plain")


async def _answer_bad_request(request: Request, reply: Reply) -> None:
    reply.hang_up()
    await reply.send(b"bad request\n", status=400, content_type="text/plain")
