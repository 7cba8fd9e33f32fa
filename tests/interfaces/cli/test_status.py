"""`crawl4r status`: for people, for scripts, and again and again."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl4r.clock import epoch_of
from crawl4r.reports.status import Overview, Run
from crawl4r.storage.database import Database
from crawl4r.urls.policy import CrawlLimits
from tests.interfaces.cli.running import (
    EXECUTABLE,
    LOOPBACK,
    Background,
    environment,
    run,
    wait_until,
)
from tests.site.process import SiteProcess

WORDS = {
    "urls", "known", "done", "pending", "failed", "refused", "pages", "bytes", "captures",
    "documents", "last_capture_at", "hosts", "endings",
    "blobs", "stored_bytes", "index", "running", "counted_at", "frontier", "rates", "eta",
    "processes", "control", "spool", "resilience", "guesses",
}  # fmt: skip
HOST_WORDS = {"host", "pending", "waits_s", "next_at", "delay_s", "failures", "breaker"}
RATE_WORDS = {"captures_a_minute", "pages_a_minute", "bytes_a_minute"}
PACE = 20  # requests a second


def status_of(workspace: Path) -> dict[str, Any]:
    answer = run("status", "-w", workspace, "--json")
    assert answer.code == 0, answer.err
    told: dict[str, Any] = answer.json
    return told


@pytest.fixture
def running(site: SiteProcess, tmp_path: Path) -> Iterator[tuple[Path, Background]]:
    """A crawl that takes longer than any test here, and has kept some pages."""
    slow = ("--rate", str(PACE), "--allow-private", "127.0.0.1", "--no-extract", "--quiet")
    with Background("crawl", site.url("/site/3000/"), "-w", tmp_path, *slow) as crawl:
        wait_until(lambda: has_kept(tmp_path, 5))
        yield tmp_path, crawl


def has_kept(workspace: Path, pages: int) -> bool:
    """False also while the workspace is still being made."""
    answer = run("status", "-w", workspace, "--json")
    return answer.code == 0 and answer.json["pages"] >= pages


def test_a_finished_crawl_is_at_rest(crawled: Path) -> None:
    status = status_of(crawled)
    assert status.keys() == WORDS
    assert (status["running"], status["processes"], status["eta"]) == (None, [], None)
    assert status["rates"]["since_start"] is None
    assert status["rates"]["last_minute"].keys() == RATE_WORDS
    assert status["urls"] == {"done": 12} and status["captures"] == 12
    frontier = {"known": 12, "pending": 0, "leased": 0, "waiting": 0, "finished": 12}
    assert status["frontier"] == frontier
    assert "left: -" in run("status", "-w", crawled).text


def test_a_running_crawl_tells_its_pace_and_what_is_left(
    running: tuple[Path, Background],
) -> None:
    workspace, crawl = running
    status = status_of(workspace)
    (process,) = status["processes"]
    assert (process["work"], process["pid"]) == ("crawl", crawl.process.pid)
    assert status["running"] == crawl.process.pid
    assert (epoch_of(process["since"]) or 0.0) < time.time()
    (host,) = status["hosts"]
    assert host.keys() == HOST_WORDS
    assert (host["host"], host["delay_s"], host["breaker"]) == ("127.0.0.1", 1 / PACE, "closed")
    since_start = status["rates"]["since_start"]
    assert 0 < since_start["pages_a_minute"] <= since_start["captures_a_minute"] <= PACE * 60
    assert since_start["bytes_a_minute"] > 0
    least = host["pending"] * host["delay_s"]
    assert status["eta"]["seconds"] >= round(least)
    assert status["eta"].keys() == {"seconds", "limited_by"}
    assert "an estimate" in run("status", "-w", workspace).text


def test_rates_are_those_of_the_servers_log(
    site: SiteProcess, running: tuple[Path, Background]
) -> None:
    workspace, _ = running
    before = len(site.requests())
    status = status_of(workspace)
    now = time.time()
    after = len(site.requests())
    (process,) = status["processes"]
    since = epoch_of(process["since"]) or 0.0
    minutes = (now - since) / 60
    told = status["rates"]["since_start"]["captures_a_minute"] * minutes
    asked_before = sum(record.arrived_wall < since for record in site.requests())
    # robots.txt is no capture, and what is in flight is not kept yet.
    assert before - asked_before - 20 <= told <= after - asked_before + 1


def test_a_paused_crawl_has_no_end_in_sight(running: tuple[Path, Background]) -> None:
    workspace, _ = running
    assert status_of(workspace)["eta"] is not None
    (workspace / "pause").touch()
    status = status_of(workspace)
    assert (status["control"], status["eta"]) == (["pause"], None)
    assert "held by the file pause" in run("status", "-w", workspace).text


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["no terminal", "json"])
def test_a_watch_prints_a_line_each_time_and_leaves_quietly(
    running: tuple[Path, Background], options: list[str]
) -> None:
    workspace, _ = running
    arguments = ("status", "-w", workspace, "--watch", "--every", "0.2", *options)
    with Background(*arguments) as watch:
        wait_until(lambda: len(lines_of(watch)) >= 3 and has_grown(lines_of(watch)))
        watch.send(signal.SIGINT)
        answer = watch.end()
    assert (answer.code, answer.err) == (0, "")
    told = [json.loads(line) for line in answer.text.splitlines()]
    assert all(status.keys() == WORDS for status in told)


def has_grown(lines: list[bytes]) -> bool:
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    return bool(last["pages"] > first["pages"])


def lines_of(watch: Background) -> list[bytes]:
    return [line for line in watch._out.read_bytes().splitlines(keepends=True) if b"\n" in line]


def test_a_watch_that_nobody_reads_any_more_ends(crawled: Path) -> None:
    command = [str(EXECUTABLE), "status", "-w", str(crawled), "--watch", "--every", "0.1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as watch:
        assert watch.stdout is not None and watch.stderr is not None
        assert json.loads(watch.stdout.readline())["captures"] == 12
        watch.stdout.close()
        assert (watch.wait(30), watch.stderr.read()) == (0, b"")


def test_a_watch_draws_on_a_terminal(running: tuple[Path, Background]) -> None:
    workspace, _ = running
    ours, theirs = pty.openpty()
    command = [str(EXECUTABLE), "status", "-w", str(workspace), "--watch", "--every", "0.2"]
    env = environment({"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"})
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as watch:
        os.close(theirs)
        drawn = read_until(ours, b"an estimate")
        watch.send_signal(signal.SIGINT)
        drawn += read_until(ours, None)
        assert watch.wait(30) == 0
    os.close(ours)
    assert b"pending" in drawn and b"127.0.0.1" in drawn and b"a minute" in drawn
    assert b"Traceback" not in drawn and b"stopped" not in drawn


def read_until(terminal: int, words: bytes | None) -> bytes:
    """What a terminal shows until it has shown these words, or to its end."""
    shown, ends_at = b"", time.monotonic() + 120
    while words is None or words not in shown:
        assert time.monotonic() < ends_at, shown[-4_000:]
        try:
            shown += os.read(terminal, 65_536)
        except OSError:  # the other end is closed
            assert words is None, shown
            break
    return shown


def test_a_watch_follows_a_workspace_that_is_made_anew(site: SiteProcess, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    run("crawl", site.url("/site/3/"), "-w", workspace, *LOOPBACK)
    with Background("status", "-w", workspace, "--watch", "--every", "0.2") as watch:
        wait_until(lambda: len(lines_of(watch)) >= 1)
        other = tmp_path / "other"
        run("crawl", site.url("/site/5/"), "-w", other, *LOOPBACK)
        os.replace(other / "state.db", workspace / "state.db")
        (workspace / "state.sum").unlink()
        wait_until(lambda: json.loads(lines_of(watch)[-1])["captures"] == 5)
        watch.send(signal.SIGINT)
        assert watch.end().code == 0


@pytest.mark.parametrize("every", ["0", "-1", "soon"])
def test_a_watch_takes_a_breath(crawled: Path, every: str) -> None:
    assert run("status", "-w", crawled, "--watch", "--every", every).code == 2


NOW = 1_800_000_000.0
CAPTURES = 9_000
COLUMNS = (
    "page_id, fetched_at, status, verdict, reason, bytes, content_type, encoding, headers, page_type,"
    " depth, latency_ms, retries, proxy, http_version, address"
)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Database]:
    """A capture a tenth of a second up to now, every third of them no page, and as many URLs more."""
    with closing(Database(tmp_path / "state.db")) as database:
        database.write("INSERT INTO hosts (id, name, delay) VALUES (1, 'a', 0), (2, 'b', 7)")
        database.write_many(
            "INSERT INTO urls (id, crawl_id, url, host_id, state, priority, depth, found_by,"
            " found_at, rule) VALUES (?, 1, ?, ?, ?, 0, 0, 'link', 0, '')",
            (
                (
                    n,
                    f"https://x/{n}",
                    2 if n % 1000 == 0 else 1,
                    "done" if n <= CAPTURES else "pending",
                )
                for n in range(1, 2 * CAPTURES + 1)
            ),
        )
        database.write_many(
            f"INSERT INTO captures ({COLUMNS})"
            " VALUES (?, ?, ?, ?, '', ?, '', '', '[]', '', 0, 9, 0, '', '', '::1')",
            (
                (n, NOW - (CAPTURES - n) / 10, 200, "http-error" if n % 3 == 0 else "ok", n % 100)
                for n in range(1, CAPTURES + 1)
            ),
        )
        database.commit()
        yield database


def test_rates_of_few_captures_are_exact_and_of_many_a_fair_sample(filled: Database) -> None:
    started = NOW - (CAPTURES - 1) / 10
    rates = Overview(filled).glance(NOW, Run(started, 0.1, ["crawlr"]))["rates"]
    for rate in rates.values():
        assert rate["captures_a_minute"] == pytest.approx(600, rel=0.01)
        assert rate["pages_a_minute"] == pytest.approx(400, rel=0.05)
        assert rate["bytes_a_minute"] == pytest.approx(600 * 49.5, rel=0.05)


def test_the_end_is_as_far_as_the_slowest_host_makes_it(filled: Database) -> None:
    glance = Overview(filled).glance(NOW, Run(NOW - 100, 0.1, ["crawlr"]))
    hosts = {host["host"]: host for host in glance["hosts"]}
    assert (hosts["a"]["pending"], hosts["b"]["pending"]) == (CAPTURES - 9, 9)
    assert (hosts["a"]["delay_s"], hosts["b"]["delay_s"]) == (0.1, 7)
    # Ten a second were kept lately, and host a may be asked ten times a second.
    assert glance["eta"]["seconds"] == pytest.approx(CAPTURES / 10, rel=0.02)
    slow = Overview(filled).glance(NOW, Run(NOW - 100, 2.0, ["crawlr"]))
    assert slow["eta"] == {"seconds": (CAPTURES - 9) * 2, "limited_by": "a"}
    assert Overview(filled).glance(NOW, Run(None, 0.1, ["crawlr"]))["eta"] is None
    assert Overview(filled).glance(NOW + 9999, Run(NOW + 1, 0.1, ["crawlr"]))["eta"] is None


def test_a_crawl_delay_counts_for_the_end(filled: Database) -> None:
    body = b"User-agent: *\nCrawl-delay: 5\n"
    filled.write("INSERT INTO robots VALUES ('https://a:8443', 'rules', 200, ?, 0, 0)", (body,))
    glance = Overview(filled).glance(NOW, Run(NOW - 100, 0.1, ["crawlr"]))
    assert glance["eta"] == {"seconds": (CAPTURES - 9) * 5, "limited_by": "a"}


def test_the_end_is_no_later_than_a_limit_allows(filled: Database) -> None:
    """Ten captures a second, two thirds of them pages, of 49.5 bytes."""

    def eta(limits: CrawlLimits) -> dict[str, Any]:
        run = Run(NOW - 100, 0.1, ["crawlr"], limits=limits)
        found: dict[str, Any] = Overview(filled).glance(NOW, run)["eta"]
        return found

    pages, size = eta(CrawlLimits(max_pages=800)), eta(CrawlLimits(max_bytes=9_900))
    assert pages["limited_by"] == "--max-pages"
    assert pages["seconds"] == pytest.approx(800 / (10 * 2 / 3), rel=0.05)
    assert size["limited_by"] == "--max-bytes"
    assert size["seconds"] == pytest.approx(9_900 / 495, rel=0.1)
    assert eta(CrawlLimits(max_seconds=130)) == {"seconds": 30, "limited_by": "--max-seconds"}
    assert eta(CrawlLimits(max_pages=10**9)) == eta(CrawlLimits())


def test_a_glance_never_looks_at_every_row(filled: Database) -> None:
    """By SQLite's own plan: with a million rows each redraw must stay quick."""
    asked: set[str] = set()
    filled._connection.set_trace_callback(asked.add)
    Overview(filled).glance(NOW, Run(NOW - 100, 0.1, ["crawlr"]))
    filled._connection.set_trace_callback(None)
    steps = [row[3] for sql in asked for row in filled.read(f"EXPLAIN QUERY PLAN {sql}")]
    large = [step for step in steps if step.startswith(("SCAN urls", "SCAN c", "SCAN u"))]
    assert [step for step in large if "INDEX" not in step] == []
    assert any("urls_ready" in step for step in steps)
