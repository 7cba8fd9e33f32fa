"""HTTP by libcurl's multi interface on the event loop (docs/decisions/0001 says why).

Every connection goes through `_open_socket`, which sees the very address that libcurl is about to
connect to: the egress gate stands there, so no name, redirect or cached answer gets around it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

import pycurl

from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.fetch.connection_cost import Effort
from crawl4r.fetch.cookie_jar import CookieJar
from crawl4r.fetch.curl_errors import costly_answer, failure_of
from crawl4r.fetch.curl_handle import HandleOptions, Transfer
from crawl4r.fetch.curl_sockets import CurlSockets
from crawl4r.fetch.headers import parse_head
from crawl4r.fetch.port import FetchLimits, Request
from crawl4r.fetch.proxies import proxy_id
from crawl4r.formats.content_coding import TooLarge, Undecodable, remove_codings
from crawl4r.model import Failure, Response, Verdict
from crawl4r.urls.canonical import host_of_netloc, split
from crawl4r.urls.egress import AddressGate

_MAX_IDLE_HANDLES = 256
_HTTP_VERSIONS = {1: "1.0", 2: "1.1", 3: "2", 30: "3"}
_CLOSED = Failure(Verdict.NETWORK_ERROR, "the crawl ended", True, hurts_host=False)


class _NewSocket:
    """What pycurl wants of a socket: a number to duplicate, and to be gone afterwards."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


class CurlTransport:
    """See `port.Transport`. One cookie jar a transport, so one a job; none when `cookies` is off."""

    renders = False

    def __init__(
        self,
        gate: AddressGate,
        *,
        limits: FetchLimits | None = None,
        http2: bool = True,
        cookies: bool = True,
        resolve: Mapping[str, str] | None = None,
        ca_file: str | None = None,
        max_connections: int = 256,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        self._clock = clock
        self._now = clock.monotonic
        self._gate = gate
        self._limits = limits or FetchLimits()
        self._resolve = resolve or {}
        self._jar = CookieJar() if cookies else None
        self._options = HandleOptions(
            self._limits, clock, self._jar, http2=http2, resolve=self._resolve, ca_file=ca_file
        )
        self._idle: list[pycurl.Curl] = []
        self._running: dict[pycurl.Curl, Transfer] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | asyncio.Handle | None = None
        self._sockets = CurlSockets()
        self._effort = Effort(self._limits.max_effort, time.thread_time)
        self._loop.add_reader(self._sockets, self._act_on_ready)
        self._is_lost_for_names = False
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_connections)

    async def fetch(self, request: Request) -> Response | Failure:
        if request.proxy and (refusal := await self._refusal_behind_proxy(request.url)):
            return Failure(Verdict.EGRESS_REFUSED, refusal, False, hurts_host=False)
        handle = self._idle.pop() if self._idle else self._options.new_handle()
        transfer = Transfer(
            request,
            host_of_netloc(split(request.url).netloc),
            self._loop.create_future(),
            self._now(),
        )
        try:
            # libcurl remembers that a name had no address, which may be the name server's fault.
            self._options.aim(
                handle, transfer, self._open_socket, keeps_names=not self._is_lost_for_names
            )
        except (pycurl.error, UnicodeError) as problem:
            self._put_back(handle)
            return Failure(Verdict.NETWORK_ERROR, f"request: {problem}", transient=False)
        self._running[handle] = transfer
        self._multi.add_handle(handle)
        try:
            return await transfer.answer
        finally:
            # Cancelled: libcurl must let go. (A finished handle may already carry another transfer.)
            if self._running.get(handle) is transfer:
                del self._running[handle]
                self._multi.remove_handle(handle)
                handle.close()

    async def _refusal_behind_proxy(self, url: str) -> str | None:
        """A proxy connects for us, perhaps from inside a network: judge the target ourselves.

        The proxy resolves names on its own; a name that we cannot resolve is left to it.
        """
        parts = split(url)
        port = int(parts.netloc[len(parts.host) + 1 :] or (443 if parts.scheme == "https" else 80))
        host = self._resolve.get(parts.host, parts.host.strip("[]"))
        try:
            found = await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            return None
        refusals = (self._gate.refusal(str(item[4][0]), port, parts.host) for item in found)
        return next((refusal for refusal in refusals if refusal), None)

    async def close(self) -> None:
        if self._timer:
            self._timer.cancel()
        for handle in [*self._running, *self._idle]:
            if transfer := self._running.get(handle):
                self._multi.remove_handle(handle)
                if not transfer.answer.done():
                    transfer.answer.set_result(_CLOSED)
            handle.close()
        self._running.clear()
        self._idle.clear()
        self._multi.close()
        self._loop.remove_reader(self._sockets)
        self._sockets.close()

    def _open_socket(self, transfer: Transfer, host: str, address: tuple[Any, ...]) -> Any:
        family, kind, protocol, where = address
        refusal = self._gate.refusal(where[0], where[1], host.strip("[]"))
        if refusal:
            transfer.refusal = refusal
            return pycurl.SOCKET_BAD
        return _NewSocket(socket.socket(family, kind, protocol).detach())

    def _watch(self, what: int, fd: int, _multi: object, _data: object) -> None:
        """libcurl wants to hear of a connection, of something else of it, or of it no longer."""
        self._sockets.watch(fd, what)

    def _set_timer(self, milliseconds: int) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if milliseconds == 0:
            self._timer = self._loop.call_soon(self._act_on_time)
        elif milliseconds > 0:
            seconds = self._clock.of_machine(milliseconds / 1000)
            self._timer = self._loop.call_later(seconds, self._act_on_time)

    def _act_on_ready(self) -> None:
        costly = self._effort.serve(self._sockets.ready, self._multi.socket_action)
        self._read_results()
        for fd in costly:
            self._give_up(fd)

    def _act_on_time(self) -> None:
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._read_results()

    def _read_results(self) -> None:
        while True:
            queued, succeeded, failed = self._multi.info_read()
            for handle in succeeded:
                self._finish(handle, None)
            for handle, code, message in failed:
                self._finish(handle, (code, message))
            if not queued:
                return

    def _give_up(self, fd: int) -> None:
        """End what runs on a connection that has kept us busy for too long."""
        self._effort.forget(fd)
        running = self._running.items()
        for handle, transfer in [each for each in running if _socket_of(each[0]) == fd]:
            del self._running[handle]
            self._multi.remove_handle(handle)
            if not transfer.answer.done():
                seconds = self._limits.max_effort
                sent_at = self._sent_at(handle, transfer)
                transfer.answer.set_result(costly_answer(handle, seconds, sent_at, self._now()))
            handle.close()

    def _finish(self, handle: pycurl.Curl, error: tuple[int, str] | None) -> None:
        transfer = self._running.pop(handle)
        self._effort.forget(_socket_of(handle))
        self._multi.remove_handle(handle)
        if self._jar is not None:
            self._jar.heed(handle, transfer.head.getvalue())
        self._is_lost_for_names = error is not None and error[0] == pycurl.E_COULDNT_RESOLVE_HOST
        answer = (
            failure_of(
                handle, *error, transfer.refusal, self._sent_at(handle, transfer), self._now()
            )
            if error and not transfer.is_cut
            else self._response(handle, transfer)
        )
        self._put_back(handle)
        if not transfer.answer.done():
            transfer.answer.set_result(answer)

    def _response(self, handle: pycurl.Curl, transfer: Transfer) -> Response | Failure:
        headers = parse_head(transfer.head.getvalue())
        body = transfer.body.getvalue()
        wire_bytes = len(body)
        sent_at = self._sent_at(handle, transfer)
        latency = self._now() - sent_at
        codings = ",".join(value for name, value in headers if name == "content-encoding")
        status = handle.getinfo(pycurl.RESPONSE_CODE)
        try:
            body = remove_codings(body, codings, self._limits.max_decoded_bytes)
        except TooLarge as problem:
            return Failure(
                Verdict.TOO_LARGE, str(problem), False, sent_at, latency, status, hurts_host=False
            )
        except Undecodable as problem:
            return Failure(
                Verdict.UNDECODABLE, str(problem), False, sent_at, latency, status, hurts_host=False
            )
        return Response(
            transfer.request.url,
            status,
            headers,
            body,
            sent_at,
            latency,
            wire_bytes,
            _HTTP_VERSIONS.get(handle.getinfo(pycurl.INFO_HTTP_VERSION), ""),
            handle.getinfo(pycurl.PRIMARY_IP),
            proxy_id(transfer.request.proxy) if transfer.request.proxy else "",
        )

    def _sent_at(self, handle: pycurl.Curl, transfer: Transfer) -> float:
        """When the request left: after name look-up, connection and handshake."""
        waited = float(handle.getinfo(pycurl.PRETRANSFER_TIME))
        return transfer.started + self._clock.of_machine(waited)

    def _put_back(self, handle: pycurl.Curl) -> None:
        if len(self._idle) < _MAX_IDLE_HANDLES:
            self._idle.append(handle)
        else:
            handle.close()


def _socket_of(handle: pycurl.Curl) -> int:
    return int(handle.getinfo(pycurl.ACTIVESOCKET))
