"""One request and the means to answer it, truthfully or not."""

import asyncio
import socket
import struct
from asyncio.trsock import TransportSocket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import parse_qsl

Headers = Iterable[tuple[str, str]]

HTML = "text/html; charset=utf-8"
BODYLESS = {204, 304}


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of one local address. `tail` is the path after the route that matched."""

    host: str
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]
    tail: str = ""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @property
    def origin(self) -> str:
        return f"http://{self.header('Host') or self.host}"

    @property
    def keeps_alive(self) -> bool:
        wish = (self.header("Connection") or "").lower()
        return wish != "close" if self.version == "HTTP/1.1" else wish == "keep-alive"

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for known, value in self.headers if known.lower() == wanted), None)

    def number(self, name: str, default: int) -> int:
        return int(self.query.get(name, default))

    async def pause(self, default_ms: int) -> None:
        """Wait for the `ms` of the query."""
        await asyncio.sleep(self.number("ms", default_ms) / 1000)


def format_head(status: int, headers: Headers = (), version: str = "HTTP/1.1") -> bytes:
    lines = [f"{version} {status} {_reason(status)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def format_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


# A page of fewer words than this would be judged too small.
COLOPHON = "<p>One of the many pages of a site that exists to be crawled.</p>\n"


def html_page(title: str, body: str, head: str = "") -> bytes:
    return (
        f'<!doctype html>\n<html lang="en"><head><title>{title}</title>{head}</head>\n'
        f"<body><h1>{title}</h1>\n{body}\n{COLOPHON}</body></html>\n"
    ).encode()


class Reply:
    """The answer to one request, as it goes over the wire.

    `send` is the well-behaved way. Handlers that misbehave compose bytes and `write` them; they
    `hang_up` when the connection cannot be used again afterwards.
    """

    def __init__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.status: int | None = None
        self.bytes_sent = 0
        self.keeps_alive = request.keeps_alive
        self.connection: TransportSocket = writer.get_extra_info("socket")
        self._wants_body = request.method != "HEAD"
        self._writer = writer

    async def send(
        self,
        body: bytes = b"",
        *,
        status: int = 200,
        content_type: str | None = HTML,
        headers: Headers = (),
    ) -> None:
        has_body = status not in BODYLESS
        honest = [("Date", formatdate(usegmt=True)), *headers]
        if has_body:
            honest.append(("Content-Length", str(len(body))))
        if has_body and content_type is not None:
            honest.append(("Content-Type", content_type))
        if not self.keeps_alive:
            honest.append(("Connection", "close"))
        wire = format_head(status, honest)
        await self.write(wire + body if has_body and self._wants_body else wire)

    async def redirect(self, location: str, status: int = 302) -> None:
        await self.send(status=status, headers=[("Location", location)])

    async def write(self, data: bytes) -> None:
        """Send bytes as they are; returns once the kernel has taken all of them."""
        if self.status is None:
            self.status = _status_on_wire(data)
        self._writer.write(data)
        self.bytes_sent += len(data)
        await self._writer.drain()

    async def stay_silent(self) -> None:
        """Never return: the client must give up (that cancels the answer)."""
        await asyncio.Event().wait()

    def hang_up(self) -> None:
        """Close the connection once everything written is out."""
        self.keeps_alive = False

    def reset(self) -> None:
        """Drop the connection with a TCP reset, not an orderly end."""
        self.keeps_alive = False
        # A linger time of zero is what makes close() send RST.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


Handler = Callable[[Request, Reply], Awaitable[None]]
Routes = dict[str, Handler]


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unheard Of"


def _status_on_wire(data: bytes) -> int | None:
    code = data[9:12]
    return int(code) if data.startswith(b"HTTP/1.") and code.isdigit() else None
