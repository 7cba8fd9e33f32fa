"""The site on loopback: TLS on port 443, so that it is https://github.com/ with no port in the URL."""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.github.certificates import make_authority
from tests.github.routes import Answer, answer
from tests.site.access_log import AccessRecord
from tests.site.exchange import format_head

# Every name that a page of the site links to: what is asked of any of them is in the log.
NAMES = ("github.com", "www.github.com", "gist.github.com", "api.github.com", "docs.github.com")
NAMES += ("codeload.github.com", "raw.githubusercontent.com")
_TAKES = 0.002  # seconds that a page takes the server, so that two at once would be seen
_IDLE_SECONDS = 30
_ATTEMPTS = 20


class GithubSite:
    """Answers as github.com until the `with` block ends; `requests` is its own log.

    It has an address of its own in 127.0.0.0/8: others may run the same tests on this machine.
    """

    def __init__(self, folder: Path) -> None:
        authority = make_authority(folder, NAMES)
        self.ca_file = authority.ca_file
        self._server = _Server(listen_as_https(), authority.server_context())
        self.address: str = self._server.server_address[0]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def settings(self) -> dict[str, Any]:
        """The `network` section of a crawl that is to find this site."""
        return {
            "resolve": dict.fromkeys(NAMES, self.address),
            "allow_private": [self.address],
            "ca_file": str(self.ca_file),
        }

    def requests(self, since: int = 0) -> list[AccessRecord]:
        """Every request answered so far, in order of the answers."""
        return self._server.log[since:]

    def hold(self, after: int) -> None:
        """Answer this many more requests, and let all others wait for `release`."""
        with self._server.lock:
            self._server.free = after
            self._server.is_open.clear()

    def release(self) -> None:
        self._server.is_open.set()

    def held(self) -> int:
        """How many requests wait for it."""
        return self._server.held

    def refuse_once(self, path: str, seconds: int) -> None:
        """Answer the next request for a path with 429 and this Retry-After."""
        self._server.refusals[path] = seconds

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        assert self._server.bugs == []


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, context: ssl.SSLContext) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_address = listener.getsockname()
        self.log: list[AccessRecord] = []
        self.refusals: dict[str, int] = {}
        self.bugs: list[str] = []
        self.in_flight = 0
        self.free = 0  # requests that are answered though it is held
        self.held = 0
        self.is_open = threading.Event()
        self.is_open.set()
        self.lock = threading.Lock()
        self._context = context

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, client = super().get_request()
        wrapped = self._context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )
        return wrapped, client

    def handle_error(self, request: object, client_address: object) -> None:
        problem = sys.exception()
        if not isinstance(problem, (ConnectionError, TimeoutError, ssl.SSLError)):
            self.bugs.append(repr(problem))  # anything but a client that left


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.request.do_handshake()

    def do_GET(self) -> None:
        arrived, arrived_wall = time.monotonic(), time.time()
        with self.server.lock:
            self.server.in_flight += 1
            in_flight = self.server.in_flight
            wait = self.server.refusals.pop(self.path, None)
            self.server.free -= 1
            is_held = self.server.free < 0 and not self.server.is_open.is_set()
            self.server.held += is_held
        if is_held:
            self.server.is_open.wait()
            with self.server.lock:
                self.server.held -= 1
        found = _too_many(wait) if wait else answer(self.path, self.headers.get("If-None-Match"))
        time.sleep(_TAKES)
        wire = _wire(found)
        with self.server.lock:
            self.server.in_flight -= 1  # first: the client may go on at once
        is_complete = False
        with contextlib.suppress(OSError):
            self.wfile.write(wire)
            is_complete = True
        self.server.log.append(
            AccessRecord(
                connection=self.client_address[1],
                host=self.server.server_address[0],
                host_header=self.headers.get("Host"),
                method=self.command,
                path=self.path,
                user_agent=self.headers.get("User-Agent"),
                headers=tuple(self.headers.items()),
                arrived_monotonic=arrived,
                arrived_wall=arrived_wall,
                ended_monotonic=time.monotonic(),
                ended_wall=time.time(),
                status=found.status,
                bytes_sent=len(wire),
                in_flight=in_flight,
                is_complete=is_complete,
            )
        )

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


def _too_many(seconds: int) -> Answer:
    headers = (("Retry-After", str(seconds)),)
    return Answer(429, b"slow down\n", headers, "text/plain; charset=utf-8")


def _wire(found: Answer) -> bytes:
    headers = [("Content-Type", found.content_type), *found.headers]
    if found.status != 304:
        headers.append(("Content-Length", str(len(found.body))))
    return format_head(found.status, headers) + found.body


def listen_as_https() -> socket.socket:
    """A listener on port 443 of some loopback address; skips where that may not be."""
    chance = random.Random()
    for attempt in range(_ATTEMPTS):
        address = f"127.{chance.randint(64, 126)}.{chance.randint(0, 255)}.{chance.randint(1, 254)}"
        try:
            return socket.create_server((address, 443), backlog=128)
        except PermissionError:
            pytest.skip("port 443 on loopback is for root here")
        except OSError as problem:
            if attempt == _ATTEMPTS - 1:
                pytest.skip(f"no loopback address has a free port 443 ({problem.strerror})")
    raise AssertionError("unreachable")
