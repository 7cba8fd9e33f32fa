"""Guard a service: end stalled connections, and refuse requests of foreign web pages.

A page of another site can make a browser send requests to a local service, directly or by a name whose
address its owner changes to 127.0.0.1 (DNS rebinding). `Origin` or `Host` of the request shows it.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import h11
from fastapi import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from crawl4r.interfaces.http.embedding.shapes import RequestRefused, refusal
from crawl4r.safe_text import command_line

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_WAITING_FOR_THEM = (h11.IDLE, h11.SEND_BODY)  # states in which the client must send bytes


class HostCheck:
    """Refuses requests to unknown host names, and requests from pages of other sites.

    Addresses and `localhost` are always valid, because DNS rebinding cannot use them.
    """

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], allowed: Collection[str]
    ) -> None:
        self._app = app
        names = {"localhost", socket.gethostname(), *allowed}
        self._names = {name.strip("[]").rstrip(".").lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (why := self._refusal(scope["headers"])):
            answer = refusal(Request(scope), RequestRefused("Forbidden", why))
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Collection[tuple[bytes, bytes]]) -> str | None:
        for key, value in headers:
            if key not in {b"host", b"origin"}:
                continue
            text = value.decode("latin-1")
            name = _name_in(text if key == b"origin" else f"//{text}")
            if not self._is_ours(name):
                hint = f"; `{command_line('--allow-host', name)}` lets it in" if name else ""
                return f"{key.decode().title()} {text[:100]!r} is not served here{hint}"
        return None

    def _is_ours(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _name_in(url: str) -> str:
    """The host of a URL in lower case, or an empty string."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol with limits.

    A request must have arrived whole `request_seconds` after its first byte, or after the connection
    was opened; an answer may take any time.
    """

    request_seconds = 30.0
    most_connections = 128  # at once
    _deadline: asyncio.TimerHandle | None = None
    _is_too_many = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_too_many = len(self.connections) > self.most_connections
        if len(self.connections) > 2 * self.most_connections:  # not even a word for so many
            transport.abort()
        else:
            self._deadline = self.loop.call_later(self.request_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        if self._is_too_many:  # only now: a client that is still writing reads no answer
            most = self.most_connections
            self._refuse(503, "Overloaded", f"more than {most} connections are open")
            return
        super().data_received(data)
        self._set_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        """While a part of a request is here, and only then."""
        state = self.conn.their_state
        is_part = state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if state not in _WAITING_FOR_THEM or not is_part:
            self._forget_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self._give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        seconds = self.request_seconds
        self._refuse(408, "Timeout", f"the request did not arrive within {seconds:g} s")

    def _refuse(self, status: int, kind: str, message: str) -> None:
        """A last word, where none was said yet, and the end of the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": message, "error_type": kind}).encode()
            self.transport.write(_answer(status, body))
        self.transport.close()


def guarded_protocol(seconds: float, most: int) -> type[GuardedProtocol]:
    """The protocol with these limits: uvicorn takes a class, and makes its objects itself."""

    class Limited(GuardedProtocol):
        request_seconds = seconds
        most_connections = most

    return Limited


def _answer(status: int, body: bytes) -> bytes:
    reason = {408: "Request Timeout", 503: "Service Unavailable"}[status]
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
