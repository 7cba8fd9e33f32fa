"""A small site with everything that a log has to tell of, and that a test may change."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import crawl4r

PROSE = "The harbour keeper paints the lighthouse before sunrise, and the gulls watch him do it. "
BLOCKED = (
    "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>"
    "<p>You are unable to access this site. Cloudflare Ray ID: 7d2f</p>"
)
# Seconds for the parser: each end tag is compared with every element of the drawing that is open.
SLOW = "<svg>" + "<g>" * 600 + "</x>" * 500_000
LINKS = """
<a href="a">A</a> <a href="/b">B, and "more"</a> <a href="/copy">=SUM(A1)</a> <a href="b">B
again</a> <a rel="NoFollow
external" href="/old">moved</a> <a href="/gone">gone</a> <a href="/private/x">private</a>
<a href="/notes.txt">text</a> <a href="/picture.png">picture</a> <a href="/blocked">blocked</a>
<a href="/empty">empty</a> <a href="/latin">latin</a> <a href="/large">large</a> <a href="#top">top</a>
<a href="mailto:a@b.invalid">mail</a> <a href="http://elsewhere.invalid/x?utm_source=y&b=2&a=1">away</a>
<a href="/broken">broken</a> <a href="/loop">loop</a> <a href="/sometimes">sometimes</a>
"""


class Answer(NamedTuple):
    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    has_etag: bool = False


class World:
    """Answers by path."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.url = ""

    def put(self, path: str, html: str, **more: Any) -> None:
        self.answers[path] = Answer(html.encode(), **more)


def article(title: str, links: str = "", head: str = "") -> str:
    return (
        f"<html lang=en><head><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1><p>{PROSE * 3}</p>{links}</main></body></html>"
    )


def furnish(world: World) -> None:
    """Redirects, errors, validators, copies, other types, refusals, rejections, broken answers."""
    head = '<link rel="canonical" href="/"><link rel="next" href="/a"><base href="/">'
    world.answers["/robots.txt"] = Answer(
        b"User-agent: *\nDisallow: /private/\n", content_type="text/plain"
    )
    world.put("/", article("Start", LINKS, head), has_etag=True)
    world.put("/a", article("A", '<a href="/">home</a>'), has_etag=True)
    world.put("/b", article("B", '<a href="/">home</a><iframe src="/a"></iframe>'))
    world.put("/copy", article("A", '<a href="/">home</a>'))
    world.answers["/old"] = Answer(status=301, headers=(("Location", "/a"),))
    world.answers["/loop"] = Answer(status=302, headers=(("Location", "/loop"),))
    world.put("/gone", article("Not here", '<a href="/never">no edge</a>'), status=404)
    world.answers["/notes.txt"] = Answer(b"a plain text\n", content_type="text/plain")
    world.answers["/picture.png"] = Answer(
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)), 200, "image/png"
    )
    world.put("/blocked", BLOCKED + '<a href="/never">no edge</a>')
    world.answers["/empty"] = Answer(b"")
    world.answers["/latin"] = Answer(
        article("Café", '<a href="/é">déjà vu</a>').encode("latin-1"),
        content_type="text/html; charset=iso-8859-1",
        headers=(("X-Note", "=cmd|' /C calc'!A0"), ("Last-Modified", "@yesterday")),
    )
    filler = "".join(f"<p>{PROSE} {number}</p>" for number in range(1_300))
    world.put("/large", article("Large", filler + '<a href="/a">-1+1</a>'))
    world.answers["/broken"] = Answer(b"no gzip", headers=(("Content-Encoding", "gzip"),))
    world.answers["/sometimes"] = Answer(
        gzip.compress(article("Packed").encode()), headers=(("Content-Encoding", "gzip"),)
    )


@contextmanager
def serving() -> Iterator[World]:
    world = World()

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = world.answers.get(self.path, Answer(b"none", 404, "text/plain"))
            etag = f'"{hashlib.sha256(answer.body).hexdigest()[:12]}"'
            is_known = answer.has_etag and self.headers.get("If-None-Match") == etag
            body = b"" if is_known else answer.body
            self.send_response(304 if is_known else answer.status)
            self.send_header("Content-Type", answer.content_type)
            if answer.has_etag:
                self.send_header("ETag", etag)
            for name, value in answer.headers:
                self.send_header(name, value)
            if not is_known:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        world.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield world
        server.shutdown()


def settings_with(**sections: dict[str, Any]) -> crawl4r.Settings:
    """Logs on, no waiting, no retries."""
    merged: dict[str, dict[str, Any]] = {
        "agent": {"contact": "https://example.org"},
        "network": {"allow_private": ["127.0.0.0/8"]},
        "politeness": {"rate": 0, "per_host": 4, "challenge_rest": 0},
        "fetch": {"retries": 0},
        "content": {"probe": False, "extract": False},
        "index": {"enabled": False},
        "explore": {"enabled": False},
        "logs": {"enabled": True},
    }
    for name, section in sections.items():
        merged[name] = {**merged.get(name, {}), **section}
    return crawl4r.load_settings(environment={}, overrides=merged)


def crawl(folder: Path, url: str, *, refresh: bool = False, **sections: dict[str, Any]) -> None:
    async def work() -> None:
        async with crawl4r.Workspace(folder, settings_with(**sections)) as workspace:
            async with asyncio.timeout(60):
                await workspace.crawl(url, refresh=refresh).finish()

    asyncio.run(work())
