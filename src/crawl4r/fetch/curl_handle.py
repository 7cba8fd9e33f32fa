"""What libcurl is told before a request: the options of a handle, and where the answer is put."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import pycurl
from msgspec import Struct, field

from crawl4r.clock import Clock
from crawl4r.fetch.cookie_jar import CookieJar
from crawl4r.fetch.port import FetchLimits, Request
from crawl4r.model import Failure, Response
from crawl4r.urls.canonical import host_of_netloc, split

OpenSocket = Callable[["Transfer", str, tuple[Any, ...]], Any]  # host that is connected to, address

_NAMES_KEPT = 60.0  # seconds that an address is used without asking for it again


class Transfer(Struct):
    """What belongs to one request while it runs on a handle.

    Head and body are one buffer each: a server chooses how small its chunks are, so a chunk must
    leave no object behind. libcurl caps both as they arrive: the head by itself, the body by
    MAXFILESIZE.
    """

    request: Request
    host: str
    answer: asyncio.Future[Response | Failure]
    started: float
    head: BytesIO = field(default_factory=BytesIO)
    body: BytesIO = field(default_factory=BytesIO)
    refusal: str | None = None
    is_cut: bool = False

    def take(self, chunk: bytes) -> int:
        """Like `body.write`, but ends the transfer when there is enough."""
        taken = self.body.write(chunk)
        self.is_cut = self.body.tell() >= (self.request.cut_at or 0)
        return 0 if self.is_cut else taken


class HandleOptions:
    """The options that a transport gives to each of its handles."""

    def __init__(
        self,
        limits: FetchLimits,
        clock: Clock,
        jar: CookieJar | None,
        *,
        http2: bool,
        resolve: Mapping[str, str],
        ca_file: str | None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._jar = jar
        self._http2 = http2
        self._resolve = resolve
        self._ca_file = ca_file

    def new_handle(self) -> pycurl.Curl:
        """A handle with all that stays the same from request to request."""
        limits, on_machine = self._limits, self._clock.on_machine
        handle = pycurl.Curl()
        for option, value in (
            (pycurl.NOSIGNAL, 1),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.CONNECTTIMEOUT_MS, round(on_machine(limits.connect_timeout) * 1000)),
            (pycurl.LOW_SPEED_LIMIT, round(limits.slowest * self._clock.speed)),
            (pycurl.LOW_SPEED_TIME, max(1, round(on_machine(limits.slow_seconds)))),
            (pycurl.TIMEOUT_MS, round(on_machine(limits.timeout) * 1000)),
            (pycurl.HTTP_CONTENT_DECODING, 0),  # ours has a cap, and knows zstd
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.TCP_KEEPALIVE, 1),
            (
                pycurl.HTTP_VERSION,
                pycurl.CURL_HTTP_VERSION_2TLS if self._http2 else pycurl.CURL_HTTP_VERSION_1_1,
            ),
        ):
            handle.setopt(option, value)
        if self._jar is not None:
            self._jar.give_to(handle)
        return handle

    def aim(
        self,
        handle: pycurl.Curl,
        transfer: Transfer,
        open_socket: OpenSocket,
        *,
        keeps_names: bool,
    ) -> None:
        """Set what differs between requests. Raises pycurl.error or UnicodeError for a bad URL.

        Without `keeps_names` every name is asked for anew.
        """
        request = transfer.request
        handle.setopt(pycurl.URL, request.url)
        if request.url.startswith("https:"):
            handle.setopt(pycurl.CAINFO, self._roots())
        handle.setopt(pycurl.HTTPHEADER, request.headers)
        handle.setopt(pycurl.HEADERFUNCTION, transfer.head.write)
        handle.setopt(
            pycurl.WRITEFUNCTION, transfer.take if request.cut_at else transfer.body.write
        )
        limit = 0 if request.cut_at else self._limits.max_bytes
        handle.setopt(pycurl.MAXFILESIZE_LARGE, limit)
        handle.setopt(pycurl.CONNECT_ONLY, int(request.connects_only))
        kept = self._clock.on_machine(_NAMES_KEPT) if keeps_names else 0.0
        handle.setopt(pycurl.DNS_CACHE_TIMEOUT, int(kept))
        # Set also when empty: libcurl would else take a proxy from the environment.
        handle.setopt(pycurl.PROXY, request.proxy or "")
        handle.setopt(pycurl.NOPROXY, "")
        # The proxy's own host is what is connected to when there is one.
        connects_to = _host_of_proxy(request.proxy) if request.proxy else transfer.host

        def open_one(_purpose: int, address: tuple[Any, ...]) -> Any:
            return open_socket(transfer, connects_to, address)

        handle.setopt(pycurl.OPENSOCKETFUNCTION, open_one)
        if self._resolve:
            handle.setopt(pycurl.RESOLVE, self._resolve_lines(request.url))

    def _roots(self) -> str:
        """The file of root certificates. A crawl of http:// URLs alone does not load certifi."""
        if self._ca_file is None:
            import certifi  # noqa: PLC0415 - with what it loads, a fiftieth of a start

            self._ca_file = certifi.where()
        return self._ca_file

    def _resolve_lines(self, url: str) -> list[str]:
        parts = split(url)
        address = self._resolve.get(parts.host)
        if address is None:
            return []
        port = parts.netloc[len(parts.host) + 1 :] or ("443" if parts.scheme == "https" else "80")
        return [f"{parts.host}:{port}:{address}"]


def _host_of_proxy(proxy: str) -> str:
    authority = proxy.partition("://")[2] or proxy
    return host_of_netloc(authority.rpartition("@")[2].partition("/")[0])
