"""Two hosts on loopback that send raw bytes: one whose pages are good, one whose answers are attacks.

Nothing here knows HTTP beyond the path of a request, so that every byte of an answer can be wrong.
"""

from __future__ import annotations

import random
import socket
import struct
import threading
from enum import Enum, auto
from types import TracebackType
from typing import NamedTuple, Self

from tests.worlds.prose import coin, headline, paragraphs

GOOD_PAGES = 6
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: no farewell
_REQUEST_CAP = 65_536
_PATIENCE = 20.0  # seconds for a client that says nothing


class Ending(Enum):
    CLOSE = auto()
    RESET = auto()
    HOLD = auto()  # until the client has enough


class Sent(NamedTuple):
    """What a request is answered with: each piece is written by itself."""

    pieces: tuple[bytes, ...]
    ending: Ending = Ending.CLOSE


class GoodPage(NamedTuple):
    path: str
    word: str  # that stands on no other page
    html: bytes


def answer(
    body: bytes,
    content_type: str | bytes = b"text/html; charset=utf-8",
    *headers: bytes,
    status: bytes = b"200 OK",
) -> Sent:
    """A well-formed answer: what is wrong with it is in what it is given."""
    kind = content_type.encode() if isinstance(content_type, str) else content_type
    lines = [b"HTTP/1.1 " + status, b"Content-Type: " + kind, b"Content-Length: %d" % len(body)]
    head = b"\r\n".join([*lines, b"Connection: close", *headers])
    return Sent((head + b"\r\n\r\n" + body,))


def html_page(title: str, text: str, links: str = "", head: str = "") -> bytes:
    page = (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1>{text}{links}</main></body></html>"
    )
    return page.encode("utf-8", "surrogatepass")


def prose(chance: random.Random, count: int = 3) -> str:
    """Paragraphs that are like those of no other page."""
    own = coin(chance.randrange(1_000), chance.randrange(100_000))
    return "".join(f"<p>{each}</p>" for each in paragraphs(chance, (own,), count))


def good_pages(chance: random.Random) -> list[GoodPage]:
    start = chance.randrange(10_000)
    pages = []
    for number in range(GOOD_PAGES):
        word = coin(3, start + number)
        title = headline(chance, word)
        text = "".join(f"<p>{each}</p>" for each in paragraphs(chance, (word,), 3))
        pages.append(GoodPage(f"/good/{number}", word, html_page(title, text)))
    return pages


class Host:
    """One address and its answers by path."""

    def __init__(self, address: str) -> None:
        self._listener = socket.create_server((address, 0), backlog=64)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self.answers: dict[str, Sent] = {}
        self.url = f"http://{address}:{self._listener.getsockname()[1]}"
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join()
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        missing = answer(b"none", "text/plain", status=b"404 Not Found")
        with connection:
            connection.settimeout(_PATIENCE)
            try:
                path = _path_asked_for(connection)
                sent = self.answers.get(path, missing)
                for piece in sent.pieces:
                    connection.sendall(piece)
                if sent.ending is Ending.RESET:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                elif sent.ending is Ending.HOLD:
                    connection.recv(1)
            except OSError:  # the client had enough, which is its right
                return


def _path_asked_for(connection: socket.socket) -> str:
    request = b""
    while b"\r\n\r\n" not in request and len(request) < _REQUEST_CAP:
        if not (more := connection.recv(_REQUEST_CAP)):
            break
        request += more
    words = request.split(b" ", 2)
    return words[1].decode("latin-1") if len(words) > 1 else ""


class Site:
    """The good host names all good pages and all attacks in turn; so does the bad one."""

    def __init__(self, chance: random.Random) -> None:
        self.goods = good_pages(chance)
        self.attacks: list[str] = []  # paths on the bad host that a link leads to

    def __enter__(self) -> Self:
        self.good, self.bad = Host("127.0.0.1"), Host("127.0.0.2")
        for page in self.goods:
            self.good.answers[page.path] = answer(page.html)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.good.close()
        self.bad.close()

    def put(self, path: str, sent: Sent, *, is_linked: bool = True) -> None:
        self.bad.answers[path] = sent
        if is_linked:
            self.attacks.append(path)

    def attack(self, layer: str, sent: Sent) -> str:
        """Serve an attack under a path that names its layer."""
        path = f"/{layer}/{len(self.attacks)}"
        self.put(path, sent)
        return path

    def open(self, chance: random.Random) -> tuple[str, str]:
        """Put up both front pages; their URLs."""
        urls = [self.good.url + page.path for page in self.goods]
        urls += [self.bad.url + path for path in self.attacks]
        chance.shuffle(urls)
        links = "".join(f'<p><a href="{url}">{url[-40:]}</a></p>' for url in urls)
        for host in (self.good, self.bad):
            host.answers.setdefault("/", answer(html_page("Start", prose(chance), links)))
        return self.good.url + "/", self.bad.url + "/"

    @property
    def good_urls(self) -> dict[str, GoodPage]:
        return {self.good.url + page.path: page for page in self.goods}
