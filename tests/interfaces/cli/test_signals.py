"""A running crawl listens: stop, stop now, status, reload."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import crawl4r
from tests.faults.killing import start_dying
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import LOOPBACK, PATIENCE, Background, run, wait_until
from tests.site.process import SiteProcess

TWO_AT_ONCE = ("--per-host", "2", "--concurrency", "2")
STOPS = [signal.SIGINT, signal.SIGTERM]


def in_background(workspace: Path, *words: str) -> Background:
    return Background("crawl", *words, "--workspace", workspace, *LOOPBACK, "--json")


def states_of(workspace: Path) -> dict[str, str]:
    with crawl4r.open(workspace, read_only=True) as opened:
        return {row.url: row.state for row in opened.pages()}


@pytest.mark.parametrize("stop", STOPS)
def test_one_signal_finishes_what_is_in_flight(
    site: SiteProcess, tmp_path: Path, stop: signal.Signals
) -> None:
    seeds = [site.url(f"/links/leaf.html?{stop}={number}") for number in range(6)]
    site.hold()
    with in_background(tmp_path, *seeds, *TWO_AT_ONCE) as crawl:
        wait_until(lambda: site.held() == 2)
        crawl.send(stop)
        crawl.wait_until_it_says("finishing")
        site.release()
        answer = crawl.end()
    assert (answer.code, answer.json["ended"]) == (3, "stopped")
    asked = [record for record in site.requests() if f"{stop.value}=" in record.path]
    assert [record.is_complete for record in asked] == [True, True]
    assert sorted(states_of(tmp_path).values()) == ["done"] * 2 + ["pending"] * 4
    assert answer.json["pages"] == 2


@pytest.mark.parametrize("stop", STOPS)
def test_a_second_signal_stops_at_once_and_loses_nothing(
    site: SiteProcess, tmp_path: Path, stop: signal.Signals
) -> None:
    hanging = site.url(f"/hang?{stop}")
    with in_background(tmp_path, hanging, site.url("/site/5/"), *TWO_AT_ONCE) as crawl:
        wait_until(lambda: site.in_flight() == 1 and kept_in(tmp_path) == 5)
        crawl.send(stop)
        crawl.wait_until_it_says("once more to stop at once")
        crawl.send(stop)
        answer = crawl.end()
    assert (answer.code, answer.json["ended"], answer.json["pages"]) == (3, "stopped", 5)
    wait_until(lambda: site.in_flight() == 0)
    assert states_of(tmp_path)[hanging] in {"pending", "leased"}


def kept_in(workspace: Path) -> int:
    return list(states_of(workspace).values()).count("done")


def test_a_stopped_crawl_goes_on_with_the_same_command(site: SiteProcess, tmp_path: Path) -> None:
    url, before = site.url("/site/60/"), len(site.requests())
    site.hold(after=5)
    with Background("crawl", url, "-w", tmp_path, *LOOPBACK) as crawl:
        wait_until(lambda: site.held() == 1)
        crawl.send(signal.SIGINT)
        crawl.wait_until_it_says("finishing")
        site.release()
        assert crawl.end().code == 3
    again = run("crawl", url, "-w", tmp_path, *LOOPBACK, "--json")
    assert (again.code, again.json["pages"]) == (0, 60)
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, 60))
    pages = [r.path.partition("?")[0] for r in site.requests()[before:]]
    pages = [path for path in pages if path.startswith("/site/60/")]
    assert len(pages) == len(set(pages)) == 60


def test_sigusr1_prints_the_status_and_the_crawl_goes_on(site: SiteProcess, tmp_path: Path) -> None:
    site.hold()
    with in_background(tmp_path, site.url("/site/5/"), "--log-json") as crawl:
        wait_until(lambda: site.held() == 1)
        crawl.send(signal.SIGUSR1)
        crawl.wait_until_it_says("status_dumped")
        site.release()
        answer = crawl.end()
    assert (answer.code, answer.json["pages"]) == (0, 5)
    assert '"urls"' in answer.err and '"in_flight"' in answer.err


def test_sighup_takes_over_a_faster_pace(site: SiteProcess, tmp_path: Path) -> None:
    settings = tmp_path / "crawl4r.yaml"
    settings.write_text("politeness: {rate: 0.1}\n")
    options = ("--workspace", tmp_path, "--allow-private", "127.0.0.1", "--json")
    before = len(site.requests())
    with Background("crawl", site.url("/site/8/"), *options) as crawl:
        wait_until(lambda: len(site.requests()) > before)
        settings.write_text("politeness: {rate: 0}\n")
        crawl.send(signal.SIGHUP)
        crawl.wait_until_it_says("settings_reloaded")
        # At the old pace this takes more than a minute; `end` waits half of one.
        answer = crawl.end()
    assert (answer.code, answer.json["pages"]) == (0, 8)


def test_sighup_with_a_bad_file_is_reported_and_the_crawl_goes_on(
    site: SiteProcess, tmp_path: Path
) -> None:
    site.hold()
    with in_background(tmp_path, site.url("/site/5/")) as crawl:
        wait_until(lambda: site.held() == 1)
        (tmp_path / "crawl4r.yaml").write_text("politeness: {speed: 1}\n")
        crawl.send(signal.SIGHUP)
        crawl.wait_until_it_says("politeness.speed")
        site.release()
        assert crawl.end().json["pages"] == 5


@pytest.mark.parametrize(
    "at", ["after pwrite crawl.lock#1", "before script state.db#1", "after commit state.db#1"]
)
def test_a_signal_before_the_first_request_is_heard(
    site: SiteProcess, tmp_path: Path, at: str
) -> None:
    """From the moment the crawl holds the lock, one Ctrl-C ends it in order."""
    before = len(site.requests())
    site.hold()
    command = ("crawl", site.url("/site/900/"), "--workspace", tmp_path, *LOOPBACK)
    with start_dying(*command, at=at, by=signal.SIGINT) as crawl:
        _, said = crawl.communicate(timeout=PATIENCE)
    site.release()
    assert (crawl.returncode, b"Traceback" in said) == (3, False), said
    assert {record.path for record in site.requests()[before:]} <= {"/robots.txt"}


def test_readers_work_while_a_crawl_runs(site: SiteProcess, tmp_path: Path) -> None:
    hanging = site.url("/hang?readers")
    with in_background(tmp_path, hanging, site.url("/site/5/"), *TWO_AT_ONCE) as crawl:
        wait_until(lambda: site.in_flight() == 1)
        running = run("status", "--workspace", tmp_path, "--json").json["running"]
        assert running == crawl.process.pid
        assert run("pages", "--workspace", tmp_path, "--json").code == 0
        assert run("why", hanging, "--workspace", tmp_path).code == 0
    assert run("status", "--workspace", tmp_path, "--json").json["running"] is None
