"""What every way of fetching promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from crawl4r.model import Failure, Response


class Request(Struct, frozen=True):
    """One GET. Headers are complete; nothing is added from an earlier request."""

    url: str
    headers: Sequence[str]  # "Name: value"
    proxy: str | None = None
    cut_at: int | None = None  # take this many bytes of the body and be content with them
    connects_only: bool = False  # send nothing; a connection, with its handshake, has the status 0


class FetchLimits(Struct, frozen=True):
    """How long a server may take, and how much it may send."""

    connect_timeout: float = 10.0  # seconds
    timeout: float = 60.0  # seconds for the whole answer
    slowest: int = 32  # bytes a second, below which for `slow_seconds` an answer is given up
    slow_seconds: int = 20
    max_bytes: int = 32 * 1024**2  # on the wire
    max_decoded_bytes: int = 32 * 1024**2
    # Seconds of work to take one answer off the wire; 32 MB in sane packets and chunks take 0.05.
    max_effort: float = 5.0


class Transport(Protocol):
    """One request, one answer. Never follows a redirect: each hop is judged by the caller."""

    renders: bool  # whether it runs the scripts of a page, and so sees what they fill in

    async def fetch(self, request: Request) -> Response | Failure:
        """The answer with its content codings removed, or why there is none."""

    async def close(self) -> None:
        """Drop connections; requests under way end as failures."""
