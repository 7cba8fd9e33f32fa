"""https://example.org/ and docs.example.org on loopback: the bundled pages, and one that changes."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from tests.github.certificates import make_authority
from tests.github.server import listen_as_https

NAMES = ("example.org", "docs.example.org")
_PLACEHOLDER = b"http://field-guide.invalid"
_TYPES = {".html": "text/html", ".css": "text/css", ".txt": "text/plain", ".xml": "application/xml"}
_CHANGING = "/x"


@contextmanager
def example_site(folder: Path) -> Iterator[dict[str, str]]:
    """Serve it while the block runs; the environment with which crawl4r finds it."""
    authority = make_authority(folder, NAMES)
    listener = listen_as_https()
    address = listener.getsockname()[0]
    server = ThreadingHTTPServer(
        listener.getsockname(), partial(_Handler, _pages()), bind_and_activate=False
    )
    server.socket.close()
    server.socket = authority.server_context().wrap_socket(
        listener, server_side=True, do_handshake_on_connect=False
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield {
            "CRAWL4R_NETWORK__RESOLVE": f"{{{', '.join(f'{name}: {address}' for name in NAMES)}}}",
            "CRAWL4R_NETWORK__ALLOW_PRIVATE": f"[{address}]",
            "CRAWL4R_NETWORK__CA_FILE": str(authority.ca_file),
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _pages() -> dict[str, bytes]:
    with as_file(files("crawl4r.sample") / "site") as root:
        return {
            f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in root.rglob("*.*")
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    disable_nagle_algorithm = True  # which holds each body back for 40 ms

    def __init__(self, pages: dict[str, bytes], *connection: Any) -> None:
        self._pages = pages
        super().__init__(*connection)

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError, ssl.SSLError):  # the client has left
            super().handle()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        body = _changing() if path == _CHANGING else self._pages.get(path)
        if path == "/":
            link = f'<a href="{_CHANGING}">What is new</a></body>'.encode()
            body = self._pages["/index.html"].replace(b"</body>", link)
        status = 200 if body is not None else 404
        origin = f"https://{self.headers['Host']}".encode()
        self._send(status, (body or b"not here").replace(_PLACEHOLDER, origin), Path(path).suffix)

    def _send(self, status: int, body: bytes, suffix: str) -> None:
        validator = f'"{sha256(body).hexdigest()[:12]}"'
        if status == 200 and self.headers["If-None-Match"] == validator:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(status)
        self.send_header("ETag", validator)
        self.send_header("Content-Type", _TYPES.get(suffix, "text/html"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


_times = iter(range(1_000_000))


def _changing() -> bytes:
    """A page that says something else at each visit."""
    words = f"<p>This paragraph of the page was written at visit number {next(_times)} of all.</p>"
    return f"<!doctype html><title>News</title><h1>News</h1>{words * 3}".encode()
