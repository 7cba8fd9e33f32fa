"""Serve the bundled field guide on loopback, the way a well-behaved site would."""

import hashlib
import re
import threading
from collections import deque
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import as_file, files
from typing import Any, Self
from urllib.parse import unquote, urlsplit

PLACEHOLDER = b"http://field-guide.invalid"  # the files hold it in place of the origin
WITH_ORIGIN = {"/robots.txt", "/sitemap.xml", "/feed.xml"}
REDIRECTS = {"/old-guide": "/guide/robots.html"}
TYPES = {"html": "text/html", "css": "text/css", "txt": "text/plain", "json": "application/json"}
TYPES |= {"xml": "application/xml", "feed.xml": "application/atom+xml"}
LASTMOD = re.compile(rb"<loc>%s(.+?)</loc>\s*<lastmod>(.+?)</lastmod>" % PLACEHOLDER)


class SampleSite:
    """Serves inside the `with` block at `url`, which ends with a slash; `log` is its access log."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.log: deque[str] = deque(maxlen=10_000)

    def __enter__(self) -> Self:
        self._server = _QuietServer(("127.0.0.1", self.port), partial(_Handler, self))
        origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = origin + "/"
        self.pages = _load(origin.encode())
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _load(origin: bytes) -> dict[str, tuple[bytes, dict[str, str]]]:
    """Body and headers by path. Dates come from the sitemap, because an install changes mtimes."""
    with as_file(files("crawl4r.sample") / "site") as root:
        found = {f"/{p.relative_to(root).as_posix()}": p.read_bytes() for p in root.rglob("*.*")}
    dates = {path.decode(): day.decode() for path, day in LASTMOD.findall(found["/sitemap.xml"])}
    pages = {}
    for path, raw in found.items():
        body = raw.replace(PLACEHOLDER, origin) if path in WITH_ORIGIN else raw
        day = datetime.fromisoformat(dates.get(path, max(dates.values()))).replace(tzinfo=UTC)
        kind = TYPES.get(path[1:]) or TYPES.get(path.rpartition(".")[2], "application/octet-stream")
        headers = {"Content-Type": f"{kind}; charset=utf-8"}
        headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        headers["Last-Modified"] = format_datetime(day, usegmt=True)
        pages[path] = (body, headers)
    return pages | {"/": pages["/index.html"]}


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no traceback when a killed client hangs up in the middle."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else body waits 40 ms for the headers' delayed ACK
    timeout = 30  # seconds an idle connection may hold its thread

    def __init__(self, site: SampleSite, *args: Any) -> None:
        self.site = site
        super().__init__(*args)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path in REDIRECTS:
            self._answer(301, b"", {"Location": REDIRECTS[path]})
        elif path not in self.site.pages or path == "/404.html":
            body, headers = self.site.pages["/404.html"]
            self._answer(404, body, {"Content-Type": headers["Content-Type"]})
        else:
            body, headers = self.site.pages[path]
            self._answer(304 if self._knows(headers) else 200, body, headers)

    do_HEAD = do_GET  # noqa: N815

    def _knows(self, page: dict[str, str]) -> bool:
        """RFC 9110 section 13.2.2: If-None-Match, when sent, decides alone."""
        if (tags := self.headers["If-None-Match"]) is not None:
            return tags == "*" or page["ETag"] in tags
        return bool(self.headers["If-Modified-Since"] == page["Last-Modified"])

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        length = {} if status == 304 else {"Content-Length": str(len(body))}
        for name, value in (headers | length).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.wfile.write(body)

    def log_message(self, template: str, *args: Any) -> None:
        self.site.log.append(template % args)
