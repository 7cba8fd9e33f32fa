"""A small, real forward proxy: absolute-form requests and CONNECT tunnels (RFC 9110 section 9.3.6).

It runs on the event loop of the test and remembers what it was asked for.
"""

import asyncio
import base64
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ForwardProxy:
    """`asked` holds `METHOD target`; with `login` ("user:password") others get a 407."""

    def __init__(self, login: str = "", host: str = "127.0.0.1") -> None:
        self.asked: list[str] = []
        self.port = 0
        self._host = host
        self._credentials = "Basic " + base64.b64encode(login.encode()).decode() if login else ""
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._conversations: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        if self._conversations:
            await asyncio.wait(self._conversations)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = asyncio.current_task()
        assert conversation is not None
        self._conversations.add(conversation)
        conversation.add_done_callback(self._conversations.discard)
        self._open.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        self.asked.append(f"{method} {target}")
        sent = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        if self._credentials and sent.get("proxy-authorization") != self._credentials.lower():
            writer.write(b"HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\n\r\n")
            return
        if method == "CONNECT":
            await self._tunnel((reader, writer), target)
        else:
            await self._forward(writer, method, target, lines)

    async def _tunnel(self, client: Streams, target: str) -> None:
        host, _, port = target.rpartition(":")
        origin = await self._connect(client[1], host, int(port))
        if origin is None:
            return
        client[1].write(b"HTTP/1.1 200 Connected\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            group.create_task(_relay(client[0], origin[1]))
            group.create_task(_relay(origin[0], client[1]))

    async def _forward(
        self, client: asyncio.StreamWriter, method: str, target: str, lines: list[str]
    ) -> None:
        """One request in origin-form; the end of the connection is the end of the answer."""
        parts = urlsplit(target)
        origin = await self._connect(client, parts.hostname or "", parts.port or 80)
        if origin is None:
            return
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kept = [line for line in lines if not line.lower().startswith(("proxy-", "connection:"))]
        request = "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""])
        origin[1].write(request.encode("latin-1"))
        await _relay(origin[0], client)

    async def _connect(self, client: asyncio.StreamWriter, host: str, port: int) -> Streams | None:
        try:
            reader, writer = await asyncio.open_connection(host.strip("[]"), port)
        except OSError:
            client.write(b"HTTP/1.1 502 Nobody There\r\nContent-Length: 0\r\n\r\n")
            return None
        self._open.add(writer)
        return reader, writer


async def _relay(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()
