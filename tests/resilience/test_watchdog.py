"""Crawls that get stuck for real: they are noticed, explained, and ended when nothing else helps."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl4r.clock import Clock, with_epoch_times
from crawl4r.crawling.loop import EndedBy
from crawl4r.errors import StorageError
from crawl4r.fetch.port import Request
from crawl4r.model import Failure, Response
from crawl4r.resilience.health_file import NAME, HealthFile, health_text, new_history, read_health
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.resilience.probes import Prober
from crawl4r.resilience.stall import CrawlView, Decision, Facts, WatchRules
from crawl4r.resilience.watchdog import Watchdog
from crawl4r.settings.load import Settings, load_settings
from crawl4r.storage.own_files import replace_or_overwrite
from crawl4r.urls.egress import AddressGate
from crawl4r.workspace.workspace import Workspace
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies, go_on
from tests.interfaces.cli.running import LOOPBACK, Background, environment, run, wait_until
from tests.site.process import REPOSITORY, SiteProcess

ONE_SECOND = {"CRAWL4R_RESILIENCE__STALL_SECONDS": "1"}


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def health_in(workspace: Path) -> dict[str, Any]:
    """As it was written last; empty before."""
    try:
        found: dict[str, Any] = json.loads((workspace / "health.json").read_text())
    except FileNotFoundError:
        return {}
    return found


def run_blocking(url: str, workspace: Path, *words: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.resilience.blocking", url, workspace, *words],
        cwd=REPOSITORY,
        env=environment(ONE_SECOND),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


def events_of(log: str) -> dict[str, dict[str, Any]]:
    """The first event of each name."""
    found: dict[str, dict[str, Any]] = {}
    for line in log.splitlines():
        if line.startswith("{"):
            found.setdefault(json.loads(line)["event"], json.loads(line))
    return found


def test_a_blocked_event_loop_is_noticed_and_its_stack_named(
    site: SiteProcess, tmp_path: Path
) -> None:
    """But the program is not ours to end, though it stays blocked for longer than we would bear."""
    code, out, err = run_blocking(site.url("/site/8/"), tmp_path)
    assert (code, out) == (0, "8 pages\n"), err
    seen = events_of(err)
    blocked = seen["event_loop_blocked"]
    assert "do_something_slow_with_a_page: os.read(" in blocked["where"]
    assert any("async for" in call or "main" in call for call in blocked["stack"])
    assert blocked["seconds"] >= 1
    assert blocked["at"] < seen["crawl_stall_ended"]["at"], "while it was blocked"
    assert seen["crawl_stalled"]["decision"] == "wait for the event loop"
    assert seen["crawl_stalled"]["at"] < seen["crawl_stall_ended"]["at"]
    health = health_in(tmp_path)
    assert (health["state"], health["stalls"]) == ("ended", 1)
    assert "do_something_slow" in health["last_stall"]["findings"][0]


def test_a_loop_that_stays_blocked_ends_the_process_with_code_5_and_loses_nothing(
    site: SiteProcess, tmp_path: Path
) -> None:
    code, _, err = run_blocking(site.url("/site/8/"), tmp_path, "exits")
    assert code == 5
    assert "ending the process with code 5" in err
    assert "do_something_slow_with_a_page" in err.rpartition("code 5")[2]
    assert health_in(tmp_path)["state"] == "ended with code 5"
    status = run("status", "-w", tmp_path, "--json").json["resilience"]
    assert status["last_stall"]["decision"] == "leave"
    assert "do_something_slow" in run("status", "-w", tmp_path).text
    go_on(tmp_path, site.url("/site/8/"))
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, 8))


def test_a_log_that_nobody_reads_blocks_the_crawl_but_not_its_end(
    site: SiteProcess, tmp_path: Path
) -> None:
    """A pipe holds 64 KiB; then writing a line waits for ever, with the log's lock in hand."""
    command = [sys.executable, "-m", "crawl4r", "crawl", site.url("/site/900/"), "-w", tmp_path]
    with subprocess.Popen(
        [*command, *LOOPBACK, "--no-extract", "--verbose"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment(ONE_SECOND),
    ) as crawl:
        assert crawl.wait(60) == 5
    stack = health_in(tmp_path)["last_stall"]["stack"]
    assert any("_log_visit" in call for call in stack)


def test_a_process_that_was_stopped_for_a_while_has_not_stalled(
    site: SiteProcess, tmp_path: Path
) -> None:
    options = ("-w", tmp_path, *LOOPBACK, "--rate", "20", "--no-extract")
    with Background("crawl", site.url("/site/60/"), *options, env=ONE_SECOND) as crawl:
        wait_until(lambda: health_in(tmp_path).get("state") == "running")
        crawl.send(signal.SIGSTOP)
        time.sleep(4)  # nothing happens in a process that is stopped, but that time passes
        crawl.send(signal.SIGCONT)
        answer = crawl.end()
    assert answer.code == 0
    assert "stalled" not in answer.err and "blocked" not in answer.err


def test_what_happened_just_before_the_process_was_stopped_is_not_old(tmp_path: Path) -> None:
    """The clock jumps, as it does for one that was stopped, after a beat that no look has reported."""
    ahead = 0.0
    clock = Clock(lambda: time.monotonic() + ahead)
    heart = Heartbeat(clock.monotonic)
    rules = WatchRules(stall_seconds=5)
    history = new_history()

    async def watch() -> None:
        nonlocal ahead
        looked = asyncio.Event()

        class Watched:
            def rules(self) -> WatchRules:
                return rules

            def look(self) -> CrawlView:
                looked.set()
                return CrawlView(heart.at, 0.0)

            def obey(self, decision: Decision, facts: Facts) -> None:
                print(decision)

        network, prober = NetworkWatch(PauseGate(), heart), Prober(AddressGate().refusal)
        dog = Watchdog(
            HealthFile(tmp_path, replace_or_overwrite),
            network,
            prober,
            Watched(),
            clock=clock,
            history=history,
        )
        dog.start()
        looked.clear()
        await looked.wait()
        heart.beat()
        ahead = 60.0
        for _ in range(3):  # a look is asked for in each round: two whole ones have passed
            looked.clear()
            await looked.wait()
        dog.close("enough")

    asyncio.run(watch())
    assert history["stalls"] == 0


def test_health_is_written_with_moments_as_people_read_them(tmp_path: Path) -> None:
    told = {"state": "ended", "at": 1.5, "last_beat": None, "last_stall": {"at": 0.0, "quiet_s": 3}}
    replace_or_overwrite(tmp_path / NAME, health_text(told))
    assert health_in(tmp_path)["at"] == "1970-01-01T00:00:01.500Z"
    assert read_health(tmp_path) == told


def test_waiting_as_a_server_asked_is_no_stall(site: SiteProcess, tmp_path: Path) -> None:
    flaky = site.url("/flaky/rest?fail=1&status=503&retry_after=6")
    env = {"CRAWL4R_RESILIENCE__STALL_SECONDS": "2"}
    options = ("-w", tmp_path, *LOOPBACK, "--no-extract", "--json")
    with Background("crawl", flaky, *options, env=env) as crawl:
        wait_until(lambda: health_in(tmp_path).get("state") == "resting")
        resting = with_epoch_times(health_in(tmp_path))
        assert resting["until"] - resting["last_beat"] > 3
        answer = crawl.end()
    assert (answer.code, answer.json["pages"]) == (0, 1)
    assert "stalled" not in answer.err
    assert health_in(tmp_path)["stalls"] == 0


def test_a_paused_crawl_is_no_stall(site: SiteProcess, tmp_path: Path) -> None:
    run("pause", "-w", tmp_path)
    options = ("-w", tmp_path, *LOOPBACK, "--no-extract", "--json")
    with Background("crawl", site.url("/site/4/"), *options, env=ONE_SECOND) as crawl:
        wait_until(lambda: health_in(tmp_path).get("state") == "paused")
        assert "paused by" in health_in(tmp_path)["why"]
        # Its next word comes after five seconds, which would have been a stall.
        before = health_in(tmp_path)["at"]
        wait_until(lambda: health_in(tmp_path)["at"] != before)
        assert health_in(tmp_path)["stalls"] == 0
        run("pause", "-w", tmp_path, "--off")
        answer = crawl.end()
    assert (answer.code, answer.json["pages"]) == (0, 4)
    assert "stalled" not in answer.err


class Dumb:
    """A transport that was asked and never answers, whatever its time limit."""

    renders = False

    def __init__(self, on_asked: Callable[[], None]) -> None:
        self._on_asked = on_asked

    async def fetch(self, request: Request) -> Response | Failure:
        self._on_asked()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def close(self) -> None:
        pass


def settings_for(stall: float, **more: Any) -> Settings:
    overrides = {
        "resilience": {"stall_seconds": stall, "store_patience": 0, **more},
        "network": {"allow_private": ["127.0.0.1"]},
        "fetch": {"timeout": 0.1},
        "content": {"extract": False},
    }
    return load_settings(environment={}, overrides=overrides)


def crawl_dumbly(
    workspace: Path, stall: float, on_asked: Callable[[], None] = lambda: None
) -> EndedBy:
    """A crawl whose first request hangs."""

    def make(settings: Settings, gate: AddressGate) -> Dumb:
        return Dumb(on_asked)

    async def crawl() -> EndedBy:
        async with Workspace(workspace, settings_for(stall), make_transport=make) as opened:
            return await opened.crawl("http://hangs.example/").finish()

    return asyncio.run(asyncio.wait_for(crawl(), 60))


def test_a_silence_that_nothing_explains_is_said_once_and_ends_the_crawl_in_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING", "crawl4r"):
        assert crawl_dumbly(tmp_path, 0.3) is EndedBy.STALLED
    stalls = [record.fields for record in caplog.records if record.message == "crawl_stalled"]  # type: ignore[attr-defined]
    assert [stall["decision"] for stall in stalls] == ["go on", "leave"]
    assert stalls[0]["findings"] == [] and stalls[1]["quiet_s"] >= 3
    health = health_in(tmp_path)
    assert (health["state"], health["why"]) == ("ended", "stalled")
    assert health["last_stall"]["open_files_limit"] > health["last_stall"]["open_files"] > 3


def test_a_stall_without_a_network_waits_for_it(tmp_path: Path) -> None:
    """The answer never comes, and neither does a connection to the probe, until a server listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = server.getsockname()

    async def until(state: str) -> None:
        while health_in(tmp_path).get("state") != state:  # noqa: ASYNC110 - a file has no callback
            await asyncio.sleep(0.02)

    async def crawl() -> None:
        probes = {"probe_hosts": [f"127.0.0.1:{place[1]}"], "probe_seconds": 0.2}
        settings = settings_for(0.5, **probes)
        make = lambda settings, gate: Dumb(lambda: None)  # noqa: E731
        async with Workspace(tmp_path, settings, make_transport=make) as opened:
            run = opened.crawl("http://hangs.example/")
            running = asyncio.create_task(run.finish())
            await until("waiting for the network")
            assert run.pause_gate.is_held
            with socket.create_server(place):
                await until("stalled")
            assert not run.pause_gate.is_held
            run.stop_now()
            await running

    asyncio.run(asyncio.wait_for(crawl(), 60))
    assert health_in(tmp_path)["last_stall"]["decision"] in {"go on", "wait for the network"}


def test_a_store_that_cannot_be_written_ends_the_crawl(tmp_path: Path) -> None:
    """A user unmounts the disk, or moves the folder away."""
    place, elsewhere = tmp_path / "ws", tmp_path / "elsewhere"
    with pytest.raises(StorageError, match="cannot write") as raised:
        crawl_dumbly(place, 0.5, lambda: os.rename(place, elsewhere))
    assert raised.value.exit_code == 4


def test_more_memory_than_allowed_ends_the_crawl_with_code_6_and_everything_saved(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url("/site/200/")
    env = ONE_SECOND | {"CRAWL4R_RESILIENCE__MEMORY_MB": "5"}
    options = ("-w", tmp_path, *LOOPBACK, "--rate", "2", "--json", "--log-json")
    answer = run("crawl", url, *options, env=env)
    assert (answer.code, answer.json["ended"]) == (6, "memory")
    assert events_of(answer.err)["memory_high"]["memory_mb"] > 5
    assert answer.json["pending"] > 0
    assert health_in(tmp_path)["last_stall"]["decision"] == "leave to free memory"
    go_on(tmp_path, url)
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, 200))


def test_whoever_takes_the_pages_slowly_does_not_stall_the_crawl(
    site: SiteProcess, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def crawl() -> int:
        count = 0
        overrides = {
            "resilience": {"stall_seconds": 1.0},
            "network": {"allow_private": ["127.0.0.1"]},
            "politeness": {"rate": 0},
            "content": {"extract": False},
            "explore": {"enabled": False},
        }
        settings = load_settings(environment={}, overrides=overrides)
        async with Workspace(tmp_path, settings) as opened:
            run = opened.crawl(site.url("/site/90/"))
            async for _ in run:
                count += 1
                if count == 1:
                    while not run.is_ahead():  # noqa: ASYNC110 - there is no callback
                        await asyncio.sleep(0.01)
                    # Nothing happens but that time passes, much more than would be a stall.
                    await asyncio.sleep(2.5)
        return count

    with caplog.at_level("WARNING", "crawl4r"):
        assert asyncio.run(asyncio.wait_for(crawl(), 60)) == 90
    assert [record for record in caplog.records if "stalled" in record.message] == []
