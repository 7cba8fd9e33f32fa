"""`crawl4r crawl HOST:PORT`: https is tried, then http, and what was taken is told."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.github.certificates import make_authority
from tests.interfaces.cli.running import LOOPBACK, Answer
from tests.interfaces.cli.running import run as run_patiently
from tests.site.process import SiteProcess

PAGE = b"<html><body><h1>Tea</h1><p>Water is boiled, and leaves are added to it.</p></body></html>"


def run(*arguments: str | Path) -> Answer:
    """The site waits for a request's first line, and never answers a handshake."""
    return run_patiently(*arguments, env={"CRAWL4R_FETCH__CONNECT_TIMEOUT": "1"})


class _Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        is_page = self.path != "/robots.txt"
        self.send_response(200 if is_page else 404)
        body = PAGE if is_page else b""
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    """A server of https alone; crawl4r.yaml in `tmp_path` trusts its certificate."""
    authority = make_authority(tmp_path, ["localhost"])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    server.daemon_threads = True
    context: ssl.SSLContext = authority.server_context()
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "crawl4r.yaml").write_text(f"network: {{ca_file: {authority.ca_file}}}\n")
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which nothing listens, as long as the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def place_of(site: SiteProcess) -> str:
    return site.url("/").removeprefix("http://").rstrip("/")


def test_a_host_without_a_scheme_is_crawled_by_http_when_https_does_not_answer(
    site: SiteProcess, tmp_path: Path
) -> None:
    typed = f"{place_of(site)}/site/3/"
    answer = run("crawl", typed, "-w", tmp_path, *LOOPBACK, "--json")
    assert answer.code == 0
    assert f"{site.url('/site/3/')} is taken for {typed}: https does not answer" in answer.err
    urls = [row["url"] for row in run("pages", "-w", tmp_path, "--json").lines]
    assert site.url("/site/3/") in urls
    assert not [url for url in urls if url.startswith("https:")]
    assert answer.json["failed"] == 0


def test_the_same_words_again_go_on_with_what_was_kept(site: SiteProcess, tmp_path: Path) -> None:
    typed = f"{place_of(site)}/site/3/"
    first = run("crawl", typed, "-w", tmp_path, *LOOPBACK, "--max-pages", "1", "--json")
    again = run("crawl", typed, "-w", tmp_path, *LOOPBACK, "--max-pages", "9", "--json")
    assert (first.code, again.code) == (0, 0)
    assert again.json["pages"] > first.json["pages"]
    assert "does not answer" not in again.err


def test_https_is_taken_where_it_answers(tls_port: int, tmp_path: Path) -> None:
    typed = f"localhost:{tls_port}"
    private = ("--allow-private", "localhost", "--rate", "0")
    answer = run("crawl", typed, "-w", tmp_path, *private, "--json")
    assert (answer.code, answer.json["pages"]) == (0, 1), answer.err
    assert f"https://{typed}/ is taken for {typed}\n" in answer.err
    assert run("get", f"https://{typed}/", "-w", tmp_path).text == PAGE.decode()


def test_a_certificate_that_cannot_be_trusted_is_named(tls_port: int, tmp_path: Path) -> None:
    answer = run("scrape", f"https://localhost:{tls_port}/", "--allow-private", "localhost")
    assert (answer.code, answer.out) == (1, b"")
    assert "certificate" in answer.err.splitlines()[-1]


@pytest.mark.parametrize("command", ["crawl", "scrape"])
def test_a_host_that_answers_neither_way_is_told_and_leaves_nothing(
    closed_port: int, tmp_path: Path, command: str
) -> None:
    workspace = ("-w", str(tmp_path / "ws")) if command == "crawl" else ()
    private = ("--allow-private", "127.0.0.1")
    answer = run(command, f"127.0.0.1:{closed_port}", *workspace, *private)
    assert (answer.code, answer.out) == (1, b"")
    last = answer.err.splitlines()[-1]
    assert f"127.0.0.1:{closed_port} answers neither by https nor by http: connect" in last
    assert not (tmp_path / "ws").exists()


def test_the_egress_gate_is_not_passed_to_find_a_scheme(site: SiteProcess, tmp_path: Path) -> None:
    answer = run("crawl", place_of(site), "-w", tmp_path / "ws")
    assert answer.code == 1
    assert "egress gate" in answer.err
    assert "--allow-private 127.0.0.1" in answer.err
    assert not (tmp_path / "ws").exists()


def test_one_seed_that_does_not_answer_does_not_keep_the_others(
    site: SiteProcess, closed_port: int, tmp_path: Path
) -> None:
    seeds = (f"127.0.0.1:{closed_port}", f"{place_of(site)}/site/3/")
    answer = run("crawl", *seeds, "-w", tmp_path, *LOOPBACK, "--json")
    assert answer.code == 0
    assert f"127.0.0.1:{closed_port} answers neither" in answer.err
    assert answer.json["failed"] == 0


def test_the_log_of_json_lines_stays_one(site: SiteProcess, tmp_path: Path) -> None:
    typed = f"{place_of(site)}/site/3/"
    answer = run("crawl", typed, "-w", tmp_path, *LOOPBACK, "--log-json", "--json")
    (found,) = [
        line for line in map(json.loads, answer.err.splitlines()) if line["event"] == "scheme_found"
    ]
    assert (found["typed"], found["url"]) == (typed, site.url("/site/3/"))


def test_a_page_is_scraped_without_a_scheme(site: SiteProcess) -> None:
    answer = run("scrape", f"{place_of(site)}/site/3/", "--allow-private", "127.0.0.1")
    assert answer.code == 0
    assert answer.text.strip()
    assert "is taken for" in answer.err
