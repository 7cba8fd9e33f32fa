"""What a run that brought nothing ends with: not 0, and the reason in the last line."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.running import LOOPBACK, Answer, crawl, run
from tests.site.process import SiteProcess

HURRY = {"CRAWL4R_FETCH__RETRIES": "0"}
PRIVATE = ("--allow-private", "127.0.0.1", "--rate", "0")


@pytest.fixture
def closed() -> Iterator[str]:
    """A URL whose port is taken and refuses every connection."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/"


def assert_reason(answer: Answer, *words: str, code: int = 1) -> None:
    assert answer.code == code, answer.err
    last = answer.err.splitlines()[-1]
    for word in ("crawl4r: ", *words):
        assert word in last


@pytest.mark.parametrize("told", [(), ("--quiet",), ("--json",), ("--verbose",)])
def test_a_connection_that_is_refused_is_named(
    closed: str, tmp_path: Path, told: tuple[str, ...]
) -> None:
    answer = run("crawl", closed, "-w", tmp_path, *PRIVATE, *told, env=HURRY)
    assert_reason(answer, closed, "connect")


def test_a_name_that_is_not_found_is_named(tmp_path: Path) -> None:
    answer = run("crawl", "http://nothing.invalid/", "-w", tmp_path, "-q", env=HURRY)
    assert_reason(answer, "nothing.invalid", "dns")


def test_a_handshake_that_fails_is_named(tmp_path: Path) -> None:
    """A server that hangs up on what is no request of its own kind."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_hang_up, args=[server], daemon=True).start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        answer = run("crawl", url, "-w", tmp_path, *PRIVATE, "-q", env=HURRY)
        server.shutdown(socket.SHUT_RDWR)
    assert_reason(answer, url, "tls")


def _hang_up(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            with server.accept()[0] as connection:
                connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")


def test_a_seed_that_the_egress_gate_refuses_is_named(site: SiteProcess, tmp_path: Path) -> None:
    answer = run("crawl", site.url("/site/3/"), "-w", tmp_path, "-q")
    assert_reason(answer, "egress-refused", "--allow-private 127.0.0.1")


def test_a_seed_that_is_not_there_is_named(site: SiteProcess, tmp_path: Path) -> None:
    assert_reason(crawl(site.url("/status/404"), tmp_path), "http-404")


def test_a_limit_of_time_is_no_excuse_for_a_host_that_is_not_there(
    closed: str, tmp_path: Path
) -> None:
    answer = run("crawl", closed, "-w", tmp_path, *PRIVATE, "--max-seconds", "60", "-q", env=HURRY)
    assert_reason(answer, closed)


def test_no_seed_is_a_usage_error_with_its_reason(tmp_path: Path) -> None:
    assert_reason(run("crawl", "-w", tmp_path), "nothing to crawl", "URL", code=2)


def test_a_refresh_that_reaches_nothing_does_not_end_well(
    site: SiteProcess, tmp_path: Path
) -> None:
    workspace = tmp_path / "ws"
    with SiteProcess() as leaving:
        assert crawl(leaving.url("/site/3/"), workspace).code == 0
    # Something answers, so it is not the network that is gone.
    probes = {"CRAWL4R_RESILIENCE__PROBE_HOSTS": f"[{site.url('/')}]"}
    answer = run("crawl", "-w", workspace, "--refresh", *LOOPBACK, "-q", env=HURRY | probes)
    assert_reason(answer, "network-error", "connect")


def test_a_second_seed_that_is_refused_does_not_pass_for_a_success(
    site: SiteProcess, closed: str, tmp_path: Path
) -> None:
    assert crawl(site.url("/site/3/"), tmp_path).code == 0
    answer = run("crawl", closed, "-w", tmp_path, *LOOPBACK, "-q", env=HURRY)
    assert_reason(answer, closed)


def test_a_crawl_that_has_nothing_left_to_do_ends_well(site: SiteProcess, tmp_path: Path) -> None:
    assert crawl(site.url("/site/3/"), tmp_path).code == 0
    again = crawl(site.url("/site/3/"), tmp_path)
    assert (again.code, again.json["problem"]) == (0, None)


def test_the_reason_is_an_event_where_the_log_is_json(closed: str, tmp_path: Path) -> None:
    answer = run("crawl", closed, "-w", tmp_path, *PRIVATE, "-q", "--log-json", env=HURRY)
    assert answer.code == 1
    last = json.loads(answer.err.splitlines()[-1])
    assert last["event"] == "crawl_failed"
    assert closed in last["problem"]


def test_a_page_that_cannot_be_scraped_is_named(closed: str, site: SiteProcess) -> None:
    assert_reason(run("scrape", closed, *PRIVATE[:2], env=HURRY), closed, "connect")
    assert_reason(run("scrape", site.url("/site/3/")), "egress-refused")


def test_check_policy_says_no_by_its_exit_code(tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_text("User-agent: *\nDisallow: /private/\n")
    ask = ("check-policy", "--robots", robots)
    assert run(*ask, "https://e.org/a").code == 0
    denied = run(*ask, "https://e.org/private/a")
    assert (denied.code, denied.err) == (1, "")
    assert denied.text.splitlines()[-1] == "denied: robots-denied (Disallow: /private/ (line 2))"
    urls = ("https://e.org/private/a", "https://e.org/a", "https://e.org/private/b")
    both = run(*ask, *urls)
    assert [line.split()[1] for line in both.text.splitlines()] == [
        "denied:",
        "allowed:",
        "denied:",
    ]
    assert_reason(both, "2 of 3 URLs are denied", urls[0], "Disallow: /private/")
    assert run(*ask, *urls, "--json").code == 1
    assert run("check-policy", "http://127.0.0.1/", "-w", tmp_path).code == 1


def test_check_policy_of_what_is_no_url_is_a_usage_error(tmp_path: Path) -> None:
    answer = run("check-policy", "https://e.org/", "mailto:x", "-w", tmp_path)
    assert_reason(answer, "'mailto:x' is not a URL", code=2)
    assert answer.out == b""
