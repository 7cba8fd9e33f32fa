"""http://harbour.test/ on port 80 of a loopback address, so that no URL holds a random port."""

from __future__ import annotations

import hashlib
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.golden.harbour_pages import DAYS, Answer, answers_of

NAME = "harbour.test"
_PORT = 80
_ATTEMPTS = 20
_IDLE_SECONDS = 30
_MISSING = Answer(b"not here", 404, "text/plain")


class HarbourSite:
    """Answers as `day` has it; `environment` makes crawl4r find it.

    What stands in `when_asked` for a path is called before that path is answered.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.day = DAYS[0]
        self.when_asked: dict[str, Callable[[], None]] = {}
        self._answers = {day: answers_of(day) for day in DAYS}

    @property
    def environment(self) -> dict[str, str]:
        return {
            "CRAWL4R_NETWORK__RESOLVE": f"{{{NAME}: {self.address}}}",
            "CRAWL4R_NETWORK__ALLOW_PRIVATE": f"[{self.address}]",
        }

    def answer(self, path: str) -> Answer:
        if act := self.when_asked.get(path):
            act()
        return self._answers[self.day].get(path, _MISSING)


@contextmanager
def harbour_site() -> Iterator[HarbourSite]:
    """Serve the site while the block runs."""
    listener = _listen()
    site = HarbourSite(listener.getsockname()[0])

    class Handler(_Handler):
        harbour = site

    server = _Server(listener.getsockname(), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _listen() -> socket.socket:
    """A listener on port 80 of some loopback address; skips where that may not be."""
    chance = random.Random()
    for attempt in range(_ATTEMPTS):
        address = f"127.{chance.randint(64, 126)}.{chance.randint(0, 255)}.{chance.randint(1, 254)}"
        try:
            return socket.create_server((address, _PORT), backlog=128)
        except PermissionError:
            pytest.skip(f"port {_PORT} on loopback is for root here")
        except OSError as problem:
            if attempt == _ATTEMPTS - 1:
                pytest.skip(f"no loopback address has a free port {_PORT} ({problem.strerror})")
    raise AssertionError("unreachable")


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    """Sends the same bytes each time: no Date and no Server header."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    harbour: HarbourSite

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError):  # the client has left
            super().handle()

    def do_GET(self) -> None:
        answer = self.harbour.answer(self.path)
        tag = f'"{hashlib.sha256(answer.body).hexdigest()[:12]}"'
        if answer.status == 200 and self.headers["If-None-Match"] == tag:
            self._send(304, b"", [("ETag", tag)])
            return
        headers = [("Content-Type", answer.content_type), *answer.headers]
        headers += [("ETag", tag)] if answer.status == 200 else []
        headers.append(("Content-Length", str(len(answer.body))))
        self._send(answer.status, answer.body, headers)

    def _send(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
