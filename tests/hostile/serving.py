"""A small web server for pages that a test makes up, packed where it says so."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTML = "text/html; charset=utf-8"
PROSE = "The harbour keeper paints the lighthouse before sunrise, and the gulls watch him do it. "


@dataclass
class Site:
    """Pages by path, changed by the test as it likes; the front page links to all of them."""

    url: str = ""
    pages: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def put(self, path: str, content_type: str, body: bytes | str) -> None:
        text = body.encode() if isinstance(body, str) else body
        self.pages[path] = (content_type, gzip.compress(text, 6))

    def put_article(self, path: str, word: str) -> None:
        """A page as it should be, that can be found by its word."""
        self.put(path, HTML, article(f"About {word}", f"{word} {PROSE}"))

    def front(self) -> bytes:
        links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in self.pages)
        return gzip.compress(article("Front", PROSE, links).encode())


def article(title: str, text: str, more: str = "", head: str = "") -> str:
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1><p>{text}</p><p>{PROSE}</p>{more}</main></body></html>"
    )


@contextmanager
def serving(site: Site | None = None) -> Iterator[Site]:
    site = site or Site()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = site.pages.get(self.path)
            if self.path == "/":
                known = (HTML, site.front())
            kind, body = known or ("text/plain", gzip.compress(b"none"))
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield site
        server.shutdown()
