"""`crawl4r supervise`: crawls that are killed, stall or grow go on; all others end as they end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from crawl4r.storage.lock import holder_of
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import LOOPBACK, Background, run, wait_until
from tests.resilience.test_watchdog import events_of
from tests.site.process import SiteProcess

QUICKLY = (*LOOPBACK, "--no-extract", "--no-probe", "--json")
SOON = ("--backoff", "0.1", "--log-json")


def supervised(*arguments: str | Path, in_own_group: bool = False) -> Background:
    return Background("supervise", *SOON, "--", *arguments, in_own_group=in_own_group)


def kept_in(workspace: Path) -> int:
    """Captures; none while there is nothing to count them in."""
    try:
        database = sqlite3.connect(f"file:{workspace / 'state.db'}?mode=ro", uri=True)
        with contextlib.closing(database):
            (row,) = database.execute("SELECT count(*) FROM captures")
    except sqlite3.Error:
        return 0
    return int(row[0])


def wait_for_pages(workspace: Path, count: int) -> int:
    """The process that crawls there, once it has kept some pages."""
    wait_until(lambda: kept_in(workspace) >= count and holder_of(workspace) is not None)
    pid = holder_of(workspace)
    assert pid is not None
    return pid


def restarts_in(log: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == "crawl_restarted"]


@pytest.mark.parametrize("killer", [signal.SIGKILL, signal.SIGSEGV])
def test_a_crawl_that_was_killed_is_started_again_and_completes(
    site: SiteProcess, tmp_path: Path, killer: signal.Signals
) -> None:
    site.hold(after=5)
    with supervised("crawl", site.url("/site/60/"), "-w", tmp_path, *QUICKLY) as supervisor:
        first = wait_for_pages(tmp_path, 5)
        os.kill(first, killer)
        wait_until(lambda: holder_of(tmp_path) not in {None, first})
        site.hold(after=15)
        second = wait_for_pages(tmp_path, 20)
        os.kill(second, killer)
        site.release()
        answer = supervisor.end()
    assert (answer.code, answer.json["pages"]) == (0, 60)
    reasons = [restart["reason"] for restart in restarts_in(answer.err)]
    assert reasons == [f"it was killed by {killer.name}"] * 2
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, 60))


def test_a_crawl_that_leaves_for_its_memory_is_started_again_until_that_is_enough(
    site: SiteProcess, tmp_path: Path
) -> None:
    env = {"CRAWL4R_RESILIENCE__MEMORY_MB": "5", "CRAWL4R_RESILIENCE__STALL_SECONDS": "1"}
    answer = run(
        *("supervise", "--max-restarts", "2", *SOON, "--"),
        *("crawl", site.url("/site/200/"), "-w", tmp_path, *QUICKLY, "--rate", "2"),
        env=env,
    )
    assert answer.code == 6
    assert [restart["after_s"] for restart in restarts_in(answer.err)] == [0.1, 0.2]
    assert events_of(answer.err)["crawl_not_restarted"]["restarts"] == 2


def test_an_end_that_a_restart_does_not_help_is_passed_on(
    site: SiteProcess, tmp_path: Path
) -> None:
    done = run("supervise", "--", "crawl", site.url("/site/3/"), "-w", tmp_path, *QUICKLY)
    assert (done.code, done.json["pages"]) == (0, 3)
    assert run("supervise", "--", "crawl", "-w", tmp_path / "none").code == 2
    assert run("supervise", "crawl", "--no-such-option").code == 2


@pytest.mark.parametrize("words", [[], ["--"], ["supervise", "crawl", "http://a/"]])
def test_it_says_what_it_needs(words: list[str]) -> None:
    answer = run("supervise", *words)
    assert answer.code == 2
    assert "supervise" in answer.err or "COMMAND" in answer.err


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_passed_on_once_and_ends_it(
    site: SiteProcess, tmp_path: Path, stop: signal.Signals
) -> None:
    """To the whole group, as a terminal does it: the crawl must not hear it twice."""
    site.hold(after=4)
    words = ("crawl", site.url("/site/60/"), "-w", tmp_path, *QUICKLY)
    with supervised(*words, in_own_group=True) as supervisor:
        wait_for_pages(tmp_path, 3)
        os.killpg(supervisor.process.pid, stop)
        supervisor.wait_until_it_says("finishing the pages in flight")
        site.release()
        answer = supervisor.end()
    assert (answer.code, answer.json["ended"]) == (3, "stopped")
    assert answer.err.count("finishing the pages in flight") == 1
    assert "crawl_restarted" not in answer.err


def test_other_signals_reach_the_crawl_and_it_goes_on(site: SiteProcess, tmp_path: Path) -> None:
    words = ("crawl", site.url("/site/60/"), "-w", tmp_path, *QUICKLY)
    site.hold(after=4)
    with supervised(*words) as supervisor:
        wait_for_pages(tmp_path, 3)
        supervisor.send(signal.SIGUSR1)
        supervisor.wait_until_it_says("status_dumped")
        (tmp_path / "crawl4r.yaml").write_text("politeness: {rate: 0}\n")
        supervisor.send(signal.SIGHUP)
        supervisor.wait_until_it_says("settings_reloaded")
        site.release()
        answer = supervisor.end()
    assert (answer.code, answer.json["pages"]) == (0, 60)


def test_a_crawl_does_not_outlive_whoever_looks_after_it(site: SiteProcess, tmp_path: Path) -> None:
    words = ("crawl", site.url("/site/60/"), "-w", tmp_path, *QUICKLY)
    site.hold(after=3)
    with supervised(*words) as supervisor:
        wait_for_pages(tmp_path, 2)
        supervisor.send(signal.SIGKILL)
        supervisor.process.wait(30)
        wait_until(lambda: "finishing the pages in flight" in supervisor.err)
        site.release()
    wait_until(lambda: holder_of(tmp_path) is None)
    status = run("status", "-w", tmp_path, "--json").json
    assert status["resilience"]["why"] == "stopped", "as gently as by SIGTERM"


def test_a_refresh_is_asked_for_once_however_often_it_is_killed(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url("/site/30/")
    run("crawl", url, "-w", tmp_path, *LOOPBACK, "--no-extract")
    before = len(site.requests())
    site.hold(after=10)
    with supervised("crawl", url, "-w", tmp_path, *QUICKLY, "--refresh") as supervisor:
        os.kill(wait_for_pages(tmp_path, 30 + 10), signal.SIGKILL)
        site.release()
        answer = supervisor.end()
    assert answer.code == 0
    pages = [r.path for r in site.requests()[before:] if r.path.startswith("/site/30/")]
    in_flight = 1
    assert 30 <= len(pages) <= 30 + in_flight * 2
