"""What was exported, shown again: by pywb to a browser, from our files and our index as they are."""

from __future__ import annotations

import asyncio
import gzip
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import crawl4r
from crawl4r.clock import Clock
from crawl4r.model import Capture, Verdict
from crawl4r.settings.load import load_settings
from crawl4r.workspace.workspace import Workspace
from tests.interfaces.cli.running import run
from tests.transfer.warc.peers import Pywb, dom_of, environment, serving
from tests.transfer.warc.strict import read_index
from tests.transfer.warc.workspaces import PROSE, captures_of

HOST = "site.example"  # a name that only the crawl can resolve
SETTINGS = load_settings(
    environment={},
    overrides={
        "politeness": {"rate": 0},
        "network": {"allow_private": ["127.0.0.1"], "resolve": {HOST: "127.0.0.1"}},
        "content": {"probe": False},
        "index": {"enabled": False},
        "explore": {"enabled": False},
    },
)
SCRIPT = """<script>
const h1 = document.querySelector('h1');
document.body.dataset.color = getComputedStyle(h1).color;
</script>"""


def html(title: str) -> bytes:
    links = '<a href="/other.html">other</a> <a href="moved">moved</a>'
    head = f'<title>{title}</title><link rel="stylesheet" href="/style.css">'
    return f"<!doctype html>{head}<h1>{title}</h1><p>{PROSE * 4}</p>{links}{SCRIPT}".encode()


PAGES = {
    "/": ("text/html; charset=utf-8", html("Start")),
    "/other.html": ("text/html", html("Other")),
    "/copy.html": ("text/html", html("Start")),
    "/packed.html": ("text/html", html("Packed")),
    "/style.css": ("text/css", b"h1 { color: rgb(1, 2, 3) }"),
    "/empty": ("text/plain", b""),
}


class Answers(BaseHTTPRequestHandler):
    """Every page has a tag, and says so when it is asked for by it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/moved":
            return self._answer(301, [("Location", "/other.html")], b"")
        if self.path not in PAGES:
            return self._answer(404, [("Content-Type", "text/html")], b"<p>no such page</p>")
        kind, body = PAGES[self.path]
        tag = f'"{len(body)}"'
        if self.headers.get("If-None-Match") == tag:
            return self._answer(304, [("ETag", tag)], None)
        headers = [("Content-Type", kind), ("ETag", tag)]
        if self.path == "/packed.html":
            return self._answer(200, [*headers, ("Content-Encoding", "gzip")], gzip.compress(body))
        return self._answer(200, headers, body)

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes | None) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A workspace with each page twice, a minute apart; the second time it had not changed."""
    workspace = tmp_path_factory.mktemp("replay") / "ws"

    async def crawl(base: str) -> None:
        seeds = [base + path for path in (*PAGES, "/lost")]
        async with Workspace(workspace, SETTINGS) as opened:
            await opened.crawl(*seeds).finish()
        # An index knows seconds only.
        later = Clock(wall=lambda: time.time() + 60)
        async with Workspace(workspace, SETTINGS, clock=later) as opened:
            await opened.crawl(refresh=True).finish()

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://{HOST}:{server.server_address[1]}"
        asyncio.run(crawl(base))
        server.shutdown()
    return workspace, base


@pytest.fixture(scope="module")
def replay(crawled: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pywb]:
    environment("pywb==2.10.*")
    folder = tmp_path_factory.mktemp("pywb")
    archive, indexes = (folder / "collections" / "test" / name for name in ("archive", "indexes"))
    indexes.mkdir(parents=True)
    run("export", "warc", "-w", crawled[0], "-o", archive, "--max-size", "4K")
    assert len(list(archive.glob("*.warc.gz"))) > 1
    shutil.move(archive / "index.cdxj", indexes)
    with serving(folder, "test") as running:
        yield running


def test_a_page_is_shown_with_its_style_and_links(
    crawled: tuple[Path, str], replay: Pywb, tmp_path: Path
) -> None:
    """Its newest capture is a 304, which brought no bytes of its own."""
    workspace, base = crawled
    newest = [capture for capture in captures_of(workspace) if capture.url == f"{base}/"][-1]
    assert newest.verdict is Verdict.NOT_MODIFIED
    answer, body = replay.get(f"{base}/", "2099")
    assert answer.status == 200
    (link,) = re.findall(rb'href="([^"]*other\.html)"', body)
    assert link.endswith(f"/{base}/other.html".encode()) and b"/test/2099" in link
    dom = dom_of(replay.url(f"{base}/", "2099"), tmp_path)
    assert "<h1>Start</h1>" in dom
    assert 'data-color="rgb(1, 2, 3)"' in dom


@pytest.mark.parametrize("path", ["/other.html", "/copy.html", "/packed.html", "/moved"])
def test_other_pages_are_shown_too(
    crawled: tuple[Path, str], replay: Pywb, tmp_path: Path, path: str
) -> None:
    title = {"/copy.html": "Start", "/packed.html": "Packed"}.get(path, "Other")
    dom = dom_of(replay.url(crawled[1] + path, "2099"), tmp_path)
    assert f"<h1>{title}</h1>" in dom and 'data-color="rgb(1, 2, 3)"' in dom


def test_every_capture_can_be_had_at_its_moment(crawled: tuple[Path, str], replay: Pywb) -> None:
    workspace, base = crawled
    captures = captures_of(workspace)
    assert {capture.status for capture in captures} == {200, 301, 304, 404}
    assert_replayed(workspace, captures, replay)
    missing, _ = replay.get(f"{base}/never-seen", "2099")
    assert missing.status == 404


def assert_replayed(workspace: Path, captures: list[Capture], replay: Pywb) -> None:
    with crawl4r.open(workspace, read_only=True) as opened:
        for capture in captures:
            moment = datetime.fromtimestamp(capture.fetched_at, UTC).strftime("%Y%m%d%H%M%S")
            answer, body = replay.get(capture.url, moment, "id_")
            stored = opened.blobs.read(capture.sha256) if capture.sha256 else b""
            assert answer.status == (200 if capture.status == 304 else capture.status), capture.url
            assert body == (b"" if capture.status == 301 else stored), capture.url
            assert moment in (
                answer.getheader("Content-Location") or answer.getheader("Link") or ""
            )


def test_a_package_is_taken_in_and_shown(crawled: tuple[Path, str], tmp_path: Path) -> None:
    workspace, _ = crawled
    manager = environment("pywb==2.10.*") / "wb-manager"
    run("export", "wacz", "-w", workspace, "-o", tmp_path / "site.wacz")
    for arguments in (["init", "pack"], ["add", "--unpack-wacz", "pack", tmp_path / "site.wacz"]):
        subprocess.run([manager, *arguments], cwd=tmp_path, check=True, capture_output=True)
    index = tmp_path / "collections" / "pack" / "indexes" / "index.cdxj"
    assert len(read_index(index.read_bytes())) == len(captures_of(workspace))
    with serving(tmp_path, "pack") as replay:
        assert_replayed(workspace, captures_of(workspace), replay)
