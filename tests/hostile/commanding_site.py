"""A site whose words command: a terminal, rich's markup, a shell. It says them wherever it can."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

CLIPBOARD = "\x1b]52;c;c3Vkbw==\x07"  # OSC 52
LINK = "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\"  # OSC 8
TITLE = "\x1b]0;evil\x07"  # OSC 0
MOVES = "\x1b[2J\x1b[1;1H\x1b[5;7;8m\x1b[?1049h\x1bc"  # CSI, and a full reset
C1 = "\x9b5;7;8m\x9d52;c;c3Vkbw==\x9c\x90q\x9c\x85"
BIDI = "\u202eevil\u202c\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
HIDDEN = "\u2028\u2029\ufeff\U000e0041\x7f\x08"
TERMINAL = f"{CLIPBOARD}{LINK}{TITLE}{MOVES}{C1}{BIDI}{HIDDEN}"
MARKUP = "[/bold][bold][link=http://evil.example/]click[/link][/][red]:bomb:"
WORDS = f"Ev{TERMINAL}il {MARKUP}"
RULE_PATH = "/%1b]0;evil%07%e2%80%ae[/bold]"  # of the only URL that robots.txt denies

_PROSE = "The harbour keeper paints the lighthouse before sunrise, and the gulls watch him. "
_HTML = {"Content-Type": "text/html; charset=utf-8"}
_LINKS = ("/said", "/coded", "/moved", "/typed", RULE_PATH)


class Reply(NamedTuple):
    body: bytes = b""
    headers: Mapping[str, str] = _HTML
    status: int = 200


def html(title: str, body: str, head: str = "") -> bytes:
    """A page with enough words to be kept."""
    text = f"<main><h1>{title}</h1><p>{body}</p><p>{_PROSE * 6}</p></main>"
    head = f"<meta charset=utf-8><title>{title}</title>{head}"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{text}</body></html>'.encode()


def commanding_pages() -> dict[str, Reply]:
    data = {"@type": "Article", "headline": WORDS, "author": WORDS, "keywords": WORDS}
    linked_data = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    links = " ".join(f'<a href="{path}">{MARKUP}</a>' for path in _LINKS)
    rule = f"User-agent: *\nDisallow: /{TITLE}\u202e[/bold]\n".encode()
    return {
        "/robots.txt": Reply(rule, {"Content-Type": "text/plain; charset=utf-8"}),
        "/": Reply(html(WORDS, WORDS + links), {**_HTML, "X-Words": WORDS}),
        "/said": Reply(html(WORDS, f"{WORDS} again", linked_data)),
        "/coded": Reply(html("Coded", "words"), {**_HTML, "Content-Encoding": MARKUP}),
        "/moved": Reply(b"", {"Location": f"/said?{TITLE}{MARKUP}"}, 302),
        "/typed": Reply(b"words", {"Content-Type": f"application/{TITLE}{MARKUP}"}),
    }


@contextmanager
def serving(pages: Mapping[str, Reply]) -> Iterator[str]:
    """The URL of a server that sends these pages, with headers as they are written here."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply = pages.get(self.path, Reply(b"There is no such page.", status=404))
            head = {**reply.headers, "Content-Length": str(len(reply.body)), "Connection": "close"}
            lines = [f"HTTP/1.1 {reply.status} Word", *(f"{k}: {v}" for k, v in head.items())]
            self.wfile.write("\r\n".join([*lines, "", ""]).encode() + reply.body)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing: the test reads what crawl4r says."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
