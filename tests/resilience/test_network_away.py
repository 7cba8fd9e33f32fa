"""The network goes away and comes back: a crawl waits, burns nothing and loses nothing.

A server that is closed, and later listens on the same port again, is all the network there is here.
"""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import LOOPBACK, Answer, Background, run, wait_until
from tests.resilience.test_watchdog import events_of, health_in
from tests.site.process import SiteProcess

SIZE = 40
QUICK = {"CRAWL4R_RESILIENCE__PROBE_SECONDS": "0.2", "CRAWL4R_LOGS__ENABLED": "false"}
PACE = ("--rate", "20", "--per-host", "4", "--no-extract", "--json", "--log-json")


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def rows(workspace: Path, sql: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(workspace / "state.db")) as database:
        return database.execute(sql).fetchall()


def is_waiting(folder: Path) -> bool:
    return health_in(folder).get("state") == "waiting for the network"


def assert_nothing_was_burnt(folder: Path) -> None:
    assert rows(folder, "SELECT max(attempts) FROM urls WHERE state = 'done'") == [(0,)]
    assert rows(folder, "SELECT count(*) FROM attempts") == [(0,)]
    assert rows(folder, "SELECT max(retries) FROM captures") == [(0,)]
    assert rows(folder, "SELECT max(failures), max(openings) FROM hosts") == [(0, 0)]


def finish(crawl: Background, folder: Path, site: SiteProcess) -> Answer:
    """Take the network away, see the crawl wait, and bring it back."""
    site.close()
    wait_until(lambda: is_waiting(folder))
    with SiteProcess(port=site.port):
        return crawl.end()


def test_a_crawl_waits_and_then_completes_with_nothing_lost_and_no_retry_burnt(
    site: SiteProcess, tmp_path: Path
) -> None:
    options = ("-w", tmp_path, *LOOPBACK, *PACE)
    site.hold(after=8)
    with Background("crawl", site.url(f"/site/{SIZE}/"), *options, env=QUICK) as crawl:
        wait_until(lambda: site.held() > 0)
        answer = finish(crawl, tmp_path, site)
    assert (answer.code, answer.json["pages"], answer.json["retries"]) == (0, SIZE, 0)
    seen = events_of(answer.err)
    assert f"127.0.0.1:{site.port}" in seen["network_lost"]["probes"]
    assert seen["network_back"]["after_s"] > 0
    assert "host_breaker_opened" not in seen and "crawl_stalled" not in seen
    assert_nothing_was_burnt(tmp_path)
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, SIZE))


def test_status_tells_for_what_it_waits(site: SiteProcess, tmp_path: Path) -> None:
    options = ("-w", tmp_path, *LOOPBACK, *PACE)
    site.hold(after=8)
    with Background("crawl", site.url(f"/site/{SIZE}/"), *options, env=QUICK) as crawl:
        wait_until(lambda: site.held() > 0)
        site.close()
        wait_until(lambda: bool(is_waiting(tmp_path) and health_in(tmp_path)["why"]))
        status = run("status", "-w", tmp_path, "--json").json
        assert status["resilience"]["state"] == "waiting for the network"
        assert "there is no network" in status["resilience"]["why"]
        assert "waiting for the network" in run("status", "-w", tmp_path).text
        crawl.send(signal.SIGTERM)
        answer = crawl.end()
    assert (answer.code, answer.json["ended"]) == (3, "stopped"), "a stop does not wait for it"
    assert set(rows(tmp_path, "SELECT DISTINCT state FROM urls")) == {("done",), ("pending",)}
    assert_nothing_was_burnt(tmp_path)


def test_a_crawl_that_starts_without_a_network_waits_for_hosts_that_answered_once(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url(f"/site/{SIZE}/")
    run("crawl", url, "-w", tmp_path, *LOOPBACK, *PACE, "--max-pages", "5", env=QUICK)
    more = ("--forget", "max-pages")
    with Background("crawl", url, "-w", tmp_path, *LOOPBACK, *PACE, *more, env=QUICK) as crawl:
        answer = finish(crawl, tmp_path, site)
    assert (answer.code, answer.json["pages"]) == (0, SIZE)
    assert_nothing_was_burnt(tmp_path)


def test_robots_that_cannot_be_asked_for_refuse_nobody(tmp_path: Path) -> None:
    """The network goes before the second host is asked for its robots.txt."""
    probe = "127.0.0.1"
    with SiteProcess(hosts=(probe,)) as gone:
        port = gone.port
    env = QUICK | {"CRAWL4R_RESILIENCE__PROBE_HOSTS": f"['{probe}:{port}']"}
    url = f"http://{probe}:{port}/site/5/"
    with Background("crawl", url, "-w", tmp_path, *LOOPBACK, *PACE, env=env) as crawl:
        wait_until(lambda: is_waiting(tmp_path))
        with SiteProcess(hosts=(probe,), port=port):
            answer = crawl.end()
    assert (answer.code, answer.json["pages"], answer.json["refused"]) == (0, 5, 0)
    assert_nothing_was_burnt(tmp_path)


def test_where_nobody_answered_ever_failures_are_judged_as_always(tmp_path: Path) -> None:
    with SiteProcess() as site:
        url = site.url("/site/5/")
    env = QUICK | {"CRAWL4R_FETCH__RETRIES": "1", "CRAWL4R_FETCH__BACKOFF_BASE": "0.1"}
    answer = run("crawl", url, "-w", tmp_path, *LOOPBACK, *PACE, env=env)
    assert (answer.code, answer.json["failed"]) == (1, 1)
    assert "network_lost" not in events_of(answer.err)


def test_a_host_that_is_down_is_its_own_affair_while_another_answers(tmp_path: Path) -> None:
    with SiteProcess() as down, SiteProcess() as up:
        down.close()
        env = QUICK | {
            "CRAWL4R_FETCH__RETRIES": "1",
            "CRAWL4R_FETCH__BACKOFF_BASE": "0.1",
            "CRAWL4R_POLITENESS__OBEY_ROBOTS": "false",
        }
        seeds = (up.url("/site/5/"), down.url("/site/5/"))
        answer = run("crawl", *seeds, "-w", tmp_path, *LOOPBACK, *PACE, env=env)
    assert (answer.code, answer.json["pages"], answer.json["failed"]) == (0, 5, 1)
    assert "network_lost" not in events_of(answer.err)


def test_both_sides_of_separated_mode_wait(site: SiteProcess, tmp_path: Path) -> None:
    options = ("-w", tmp_path, *LOOPBACK, *PACE)
    found = tmp_path / "spool" / "discover"
    site.hold(after=16)
    with Background("spool", "run", site.url(f"/site/{SIZE}/"), *options, env=QUICK) as crawl:
        wait_until(lambda: site.held() > 0)
        site.close()
        wait_until(lambda: is_waiting(tmp_path) and is_waiting(found))
        status = run("status", "-w", tmp_path, "--json").json
        assert status["spool"]["resilience"]["role"] == "discover"
        assert status["resilience"]["role"] == "scrape"
        with SiteProcess(port=site.port):
            answer = crawl.end()
    assert (answer.code, answer.json["pages"]) == (0, SIZE)
    assert_nothing_was_burnt(tmp_path)
    assert_nothing_was_burnt(found)
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, SIZE))
