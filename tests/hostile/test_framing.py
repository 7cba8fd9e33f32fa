"""Answers whose bytes are few and whose packets, chunks, heads or cookies are many."""

from __future__ import annotations

import asyncio
import itertools
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import crawl4r
from crawl4r.fetch.curl import CurlTransport
from tests.fetch.asking import answer_of, get, open_transport
from tests.hostile.measured import Suffering, suffer
from tests.hostile.raw_site import GOOD, Pieces, RawSite, answer, chunked, page
from tests.interfaces.cli.running import LOOPBACK, PATIENCE, run, wait_until

ENDLESS = 10**9


def robots_in_single_bytes() -> Pieces:
    rules = b"User-agent: *\nDisallow: /private\n"
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b"".join(b"1\r\n%c\r\n" % byte for byte in rules)
    for _ in range(505):
        yield b"1\r\n#\r\n" * 1000
    yield b"0\r\n\r\n"


def verdicts(workspace: Path, site: RawSite) -> dict[str, tuple[str | None, str]]:
    with crawl4r.open(workspace, read_only=True) as opened:
        start = site.url("")
        return {
            row.url.removeprefix(start): (row.verdict, row.reason or "") for row in opened.pages()
        }


def assert_good_pages_are_kept(found: dict[str, tuple[str | None, str]]) -> None:
    assert {path: found[path][0] for path in GOOD} == dict.fromkeys(GOOD, "ok")


def test_robots_txt_in_chunks_of_one_byte_is_obeyed_and_costs_little(tmp_path: Path) -> None:
    answers = {"/robots.txt": robots_in_single_bytes, "/private": lambda: [page("hidden")]}
    with RawSite(answers) as site:
        crawl = suffer("crawl", site.url(), "--workspace", tmp_path, *LOOPBACK, "--json")
        assert crawl.within_limits().answer.code == 0
        found = verdicts(tmp_path, site)
        assert_good_pages_are_kept(found)
        assert found["/private"][0] == "robots-denied"
        again = run("resume", "--workspace", tmp_path)
        assert again.code == 0


def test_a_page_in_chunks_of_two_bytes_takes_no_more_memory_than_its_bytes(tmp_path: Path) -> None:
    with RawSite({"/two": lambda: chunked(b"2\r\nab\r\n", 10_000_000)}) as site:
        options = ("--no-extract", "--workspace", tmp_path)
        crawl = suffer("crawl", site.url(), *options, *LOOPBACK, "--json")
        assert crawl.within_limits().answer.code == 0
        found = verdicts(tmp_path, site)
    assert_good_pages_are_kept(found)
    with crawl4r.open(tmp_path, read_only=True) as opened:
        sizes = {row.url: row.bytes for row in opened.pages()}
    assert sizes[site.url("/two")] == 20_000_000


def test_framing_that_costs_more_than_its_bytes_is_hostile_and_not_asked_for_again(
    tmp_path: Path,
) -> None:
    """Chunk extensions count as no byte of the body, so no limit of bytes is ever met."""
    extended = b"1;" + b"x" * 1000 + b"\r\na\r\n"
    with RawSite({"/extended": lambda: chunked(extended, ENDLESS)}) as site:
        crawl = suffer("crawl", site.url(), "--workspace", tmp_path, *LOOPBACK, "--json")
        assert crawl.within_limits().answer.code == 0
        found = verdicts(tmp_path, site)
        assert_good_pages_are_kept(found)
        assert found["/extended"] == (
            "hostile",
            "its packets and chunks cost more than 5 s of work",
        )
        assert site.paths().count("/extended") == 1


def test_a_signal_is_obeyed_while_hosts_send_chunks_as_small_as_they_can(tmp_path: Path) -> None:
    paths = [f"/single/{n}" for n in range(8)]
    answers = {path: lambda: chunked(b"1\r\nx\r\n", ENDLESS) for path in paths}
    with RawSite(answers) as site:
        seeds = map(site.url, paths)
        options = ("--per-host", "8", "--workspace", tmp_path, "--no-probe")
        with Suffering("crawl", *seeds, *options, *LOOPBACK, "--json") as crawl:
            wait_until(lambda: set(paths) <= set(site.paths()))
            crawl.send(signal.SIGTERM)
            wait_until(lambda: "once more to stop at once" in crawl.err)
            crawl.send(signal.SIGTERM)
            ended = crawl.end().within_limits()
        assert (ended.answer.code, ended.answer.json["ended"]) == (3, "stopped")
    again = run("pages", "--workspace", tmp_path, "--json")
    assert {row["state"] for row in again.lines} <= {"pending", "leased"}


def test_a_signal_is_obeyed_while_robots_txt_comes_in_chunks_of_one_byte(tmp_path: Path) -> None:
    is_sent, may_end = threading.Event(), threading.Event()

    def robots() -> Pieces:
        *most, last = robots_in_single_bytes()
        yield from most
        is_sent.set()
        may_end.wait(PATIENCE)
        yield last

    with RawSite({"/robots.txt": robots}) as site:
        options = ("--workspace", tmp_path, *LOOPBACK, "--json")
        with Suffering("crawl", site.url(), *options) as crawl:
            assert is_sent.wait(PATIENCE)
            crawl.send(signal.SIGTERM)
            wait_until(lambda: "once more to stop at once" in crawl.err)
            crawl.send(signal.SIGTERM)
            ended = crawl.end().within_limits()
        may_end.set()
        assert (ended.answer.code, ended.answer.json["ended"]) == (3, "stopped")


def test_heads_and_trailers_without_end_are_hostile(tmp_path: Path) -> None:
    def interim() -> Pieces:
        while True:
            yield b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000

    def trailers() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
        while True:
            yield b"X-More: 1\r\n" * 1000

    with RawSite({"/interim": interim, "/trailers": trailers}) as site:
        crawl = suffer("crawl", site.url(), "--workspace", tmp_path, *LOOPBACK, "--json")
        assert crawl.within_limits().answer.code == 0
        found = verdicts(tmp_path, site)
    assert_good_pages_are_kept(found)
    for path in ("/interim", "/trailers"):
        assert found[path][0] == "hostile"
        assert found[path][1].startswith("headers-too-large")


def test_cookies_without_end_make_no_request_slower() -> None:
    """libcurl keeps fifty of each answer, and looks through all of them at each request."""
    numbers = itertools.count()

    def cookies() -> Pieces:
        lines = "".join(f"Set-Cookie: c{next(numbers)}=1\r\n" for _ in range(50))
        return [b"HTTP/1.1 200 OK\r\n" + lines.encode() + b"Content-Length: 2\r\n\r\nok"]

    async def cost(transport: CurlTransport, url: str) -> float:
        before = time.thread_time()
        for _ in range(100):
            answer_of(await transport.fetch(get(url)))
        return time.thread_time() - before

    async def costs(url: str) -> list[float]:
        async with open_transport() as transport:
            return [await cost(transport, url) for _ in range(6)]

    with RawSite({"/cookies": cookies}) as site:
        first, *_, last = asyncio.run(costs(site.url("/cookies")))
    assert last < 3 * first


def test_an_answer_that_folds_a_header_over_many_lines_is_read_or_refused(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Folded: a\r\n" + b" a\r\n" * 24_000
    rest = answer(b"<p>A page whose head is folded as often as it may be.</p>").partition(b"\r\n")[
        2
    ]
    with RawSite({"/folded": lambda: [head + rest]}) as site:
        crawl = suffer("crawl", site.url(), "--workspace", tmp_path, *LOOPBACK, "--json")
        assert crawl.within_limits().answer.code == 0
        found = verdicts(tmp_path, site)
    assert_good_pages_are_kept(found)
    assert found["/folded"][0] is not None
