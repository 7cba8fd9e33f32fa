"""Hosts that answer 200 for missing pages: one probe gives a sample of their soft 404."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import crawl4r

PAGES = {
    "/": "<title>Shop</title><h1>Shop</h1>"
    + "".join(f'<a href="/item/{n}">Item number {n}</a> ' for n in range(6)),
    **{
        f"/item/{n}": f"<title>Item {n}</title><h1>Item {n}</h1><p>A {word} thing of use in any"
        f" house, made by hand from {word} parts and sold by us alone since then.</p>"
        for n, word in enumerate(["red", "green", "blue", "small"])
    },
}
ELSEWHERE = (
    "<title>Shop</title><h1>Our shop</h1><p>Have a look at our many offers of this week.</p>"
)


@contextmanager
def shop(*, is_honest: bool) -> Iterator[tuple[str, list[str]]]:
    """Items 4 and 5 are gone. An honest shop says 404, the other shows its offers instead."""
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            is_there = self.path in PAGES
            status = 200 if is_there or not (is_honest or self.path == "/robots.txt") else 404
            body = PAGES.get(self.path, ELSEWHERE).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


def verdicts(folder: Path, url: str, **options: object) -> dict[str, str | None]:
    async def crawl() -> dict[str, str | None]:
        pace = {"rate": 50, "allow_private": ["127.0.0.1"], **options}
        async with crawl4r.open(folder, **pace) as workspace, asyncio.timeout(60):
            await workspace.crawl(f"{url}/").finish()
            return {row.url.removeprefix(url): row.verdict for row in workspace.pages()}

    return asyncio.run(crawl())


def probes(asked: list[str]) -> list[str]:
    return [path for path in asked if "missing-page" in path]


def test_a_page_like_the_hosts_missing_ones_is_a_soft_404(tmp_path: Path) -> None:
    with shop(is_honest=False) as (url, asked):
        found = verdicts(tmp_path, url)
    gone = {path for path, verdict in found.items() if verdict == "soft-404"}
    assert gone == {"/item/4", "/item/5"}
    assert {v for path, v in found.items() if path not in gone} == {"ok"}
    assert len(probes(asked)) == 1


def test_an_honest_host_is_asked_once_and_never_again(tmp_path: Path) -> None:
    with shop(is_honest=True) as (url, asked):
        found = verdicts(tmp_path, url)
        assert {found["/item/4"], found["/item/5"]} == {"http-error"}
        assert len(probes(asked)) == 1
        verdicts(tmp_path, url)
    assert len(probes(asked)) == 1


def test_nobody_is_probed_who_was_not_to_be(tmp_path: Path) -> None:
    with shop(is_honest=False) as (url, asked):
        found = verdicts(tmp_path, url, probe=False)
    assert found["/item/4"] == "ok"
    assert not probes(asked)


def test_a_probe_finds_its_turn_when_every_slot_of_the_crawl_is_taken(tmp_path: Path) -> None:
    """The crawl stands in the host's line for its next page, and needs the slot that the probe has."""
    with shop(is_honest=False) as (url, asked):
        found = verdicts(tmp_path, url, concurrency=1, per_host=1)
    assert found["/item/5"] == "soft-404"
    assert len(probes(asked)) == 1
