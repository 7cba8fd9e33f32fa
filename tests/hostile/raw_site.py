"""A web server that sends exactly the bytes it is told to, however unlawful."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self

Pieces = Iterable[bytes]
GOOD = ("/good/0", "/good/1", "/good/2")
_PROSE = "There once was a page about foxes and hounds which nobody had reason to complain of. " * 8


class RawSite:
    """Serves threads of the test's own process; `answers` maps a path to the bytes of its answer.

    Paths of GOOD are well-behaved pages, "/" links to all that there is, the rest is a 404.
    """

    def __init__(
        self,
        answers: Mapping[str, Callable[[], Pieces]],
        hosts: Sequence[str] = ("127.0.0.1",),
        otherwise: Callable[[str], Pieces | None] = lambda path: None,
    ) -> None:
        """`otherwise` may answer any path that is not in `answers`."""
        self.asked: list[tuple[str, str]] = []  # host and path, as they came
        self._answers = dict(answers)
        self._otherwise = otherwise
        self._listeners = [socket.create_server((hosts[0], 0), backlog=256)]
        self.port: int = self._listeners[0].getsockname()[1]
        self._listeners += [
            socket.create_server((host, self.port), backlog=256) for host in hosts[1:]
        ]
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [path for _, path in self.asked]

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host = connection.getsockname()[0]
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as file:
            while first := file.readline():
                path = first.split()[1].decode("latin-1")
                while file.readline().strip():
                    pass
                self.asked.append((host, path))
                for piece in self._answer(path):
                    connection.sendall(piece)

    def _answer(self, path: str) -> Pieces:
        if path in self._answers:
            return self._answers[path]()
        if path in GOOD:
            return [page(f"<p>{path}: {_PROSE}</p>")]
        if path == "/":
            links = "".join(f'<a href="{link}">{link}</a> ' for link in [*GOOD, *self._answers])
            return [page(f"<p>{links}{_PROSE}</p>")]
        if (pieces := self._otherwise(path)) is not None:
            return pieces
        return [answer(b"nothing here\n", "text/plain", status="404 Not Found")]


def answer(body: bytes, content_type: str = "text/html", *, status: str = "200 OK") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def page(body: str) -> bytes:
    text = f'<!doctype html><html lang="en"><title>A page</title><body>{body}</body></html>\n'
    return answer(text.encode())


def chunked(chunk: bytes, count: int, content_type: str = "text/html") -> Iterator[bytes]:
    """An answer of `count` chunks, all alike (`chunk` is with its framing)."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield head.encode()
    many = chunk * 1000
    for _ in range(count // 1000):
        yield many
    yield chunk * (count % 1000) + b"0\r\n\r\n"
