"""The port of transports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from crawl4r.model import Failure, Response


class Request(Struct, frozen=True):
    """One GET with all its headers. The transport adds none from an earlier request."""

    url: str
    headers: Sequence[str]  # "Name: value"
    proxy: str | None = None
    cut_at: int | None = None  # end after this many bytes of the body; no error
    connects_only: bool = False  # send no request; a connection with its handshake gives status 0


class FetchLimits(Struct, frozen=True):
    """The limits of time and size for an answer."""

    connect_timeout: float = 10.0  # seconds
    timeout: float = 60.0  # seconds for the whole answer
    slowest: int = 32  # bytes a second; a slower answer fails after `slow_seconds`
    slow_seconds: int = 20
    max_bytes: int = 32 * 1024**2  # on the wire
    max_decoded_bytes: int = 32 * 1024**2
    # Seconds of CPU to receive one answer; 32 MB in normal packets and chunks take 0.05.
    max_effort: float = 5.0


class Transport(Protocol):
    """One request, one answer. Follows no redirects: the caller judges each hop."""

    renders: bool  # whether it runs the scripts of a page

    async def fetch(self, request: Request) -> Response | Failure:
        """The answer without content codings, or the failure."""

    async def close(self) -> None:
        """Drop connections; requests in flight end as failures."""
