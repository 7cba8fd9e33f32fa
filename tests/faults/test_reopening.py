"""A store that cannot be written for a while: the same process waits, opens it again and finishes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from crawl4r.errors import StorageDamaged, StorageFull
from crawl4r.politeness.host_budget import HostRules
from crawl4r.workspace.run import CrawlRun
from tests.faults.small_disk import resize
from tests.faults.whole import (
    assert_every_page_is_stored_once,
    assert_nothing_is_torn,
    expected_bodies,
    go_on,
    page_requests,
)
from tests.interfaces.cli.running import LOOPBACK, Answer, Background, environment, run, wait_until
from tests.site.process import REPOSITORY, SiteProcess

SIZE = 600  # pages: far more than fits in the small disk
CONCURRENCY = 8
WIDE = ("--per-host", "8", "--concurrency", "8", "--json", "--log-json")
PATIENT = {"CRAWL4R_RESILIENCE__STORE_PATIENCE": "120"}


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def events_of(log: str, name: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == name]


def health_in(workspace: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((workspace / "health.json").read_text())
    return found


def begin(
    site: SiteProcess, workspace: Path, *options: str, env: dict[str, str] = PATIENT
) -> Background:
    url = site.url(f"/site/{SIZE}/")
    return Background("crawl", url, "-w", workspace, *LOOPBACK, *WIDE, *options, env=env)


def assert_only_what_was_in_flight_was_asked_again(site: SiteProcess, answer: Answer) -> None:
    asked = page_requests(site)
    losses = len(events_of(answer.err, "store_lost"))
    assert losses > 0
    assert sum(asked.values()) - len(asked) <= CONCURRENCY * losses


@pytest.mark.parametrize("store", ["segments", "files"])
def test_a_disk_that_fills_and_is_freed_lets_the_same_process_finish(
    site: SiteProcess, disk: Path, store: str
) -> None:
    workspace = disk / "ws"
    with begin(site, workspace, "--store", store, "--logs") as crawl:
        crawl.wait_until_it_says("store_lost")
        wait_until(lambda: health_in(workspace)["state"] == "waiting for the store")
        waiting = run("status", "-w", workspace, "--json").json
        assert waiting["running"] == crawl.process.pid
        assert waiting["resilience"]["until"] > waiting["resilience"]["at"]
        assert "waiting for the store (" in run("status", "-w", workspace).text
        resize(disk, "64m")
        answer = crawl.end()
    assert (answer.code, answer.json["ended"]) == (0, "nothing left")
    assert (answer.json["pages"], answer.json["visits"]) == (SIZE, SIZE), "counted over both parts"
    assert answer.json["documents"] == SIZE
    assert events_of(answer.err, "store_reopened")[0]["after_s"] > 0
    assert_only_what_was_in_flight_was_asked_again(site, answer)
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))
    assert "and is reopened (cannot write" in run("status", "-w", workspace).text
    assert health_in(workspace)["store_losses"] == len(events_of(answer.err, "store_lost"))


def test_room_that_somebody_makes_is_noticed_though_the_disk_stays_small(
    site: SiteProcess, disk: Path
) -> None:
    """Something else fills it, and is deleted: the disk itself never changes."""
    resize(disk, "64m")
    workspace = disk / "ws"
    site.hold(after=30)
    with begin(site, workspace) as crawl:
        wait_until(lambda: site.held() > 0)
        fill(disk / "filler")
        site.release()
        crawl.wait_until_it_says("store_lost")
        (disk / "filler").unlink()
        answer = crawl.end()
    assert answer.code == 0
    assert_only_what_was_in_flight_was_asked_again(site, answer)
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as filler, pytest.raises(OSError, match="space"):
        while True:
            filler.write(bytes(4096))


def begin_faulty(site: SiteProcess, workspace: Path, **faults: str) -> subprocess.Popen[str]:
    arguments = ["crawl", site.url("/site/60/"), "--workspace", str(workspace)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.inject", *arguments, *LOOPBACK, *WIDE],
        cwd=REPOSITORY,
        env=environment({**PATIENT, **faults}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_disk_that_fails_to_sync_for_a_while_costs_nothing(
    site: SiteProcess, tmp_path: Path
) -> None:
    sick, workspace = tmp_path / "sick", tmp_path / "ws"
    site.hold(after=10)
    with begin_faulty(site, workspace, CRAWL4R_FAULT_WHILE=str(sick)) as crawl:
        wait_until(lambda: site.held() > 0)
        sick.touch()
        site.release()
        wait_until(lambda: state_of(workspace) == "waiting for the store")
        assert "Input/output error" in health_in(workspace)["why"]
        sick.unlink()
        out, err = crawl.communicate(timeout=60)
    assert (crawl.returncode, "Traceback" in err) == (0, False), err
    assert_only_what_was_in_flight_was_asked_again(site, Answer(0, out.encode(), err))
    assert_every_page_is_stored_once(workspace, expected_bodies(site, 60))


def test_what_was_committed_counts_though_its_log_could_not_be_written(
    site: SiteProcess, tmp_path: Path
) -> None:
    room, workspace = tmp_path / "room", tmp_path / "ws"
    place = "write in write_all < LineFile.append#3"
    faults = {"CRAWL4R_FAULT": place, "CRAWL4R_FAULT_UNTIL": str(room)}
    with begin_faulty(site, workspace, **faults) as crawl:
        wait_until(lambda: state_of(workspace) == "waiting for the store")
        room.touch()
        out, err = crawl.communicate(timeout=60)
    assert "metadata.jsonl" in events_of(err, "store_lost")[0]["problem"]
    assert (crawl.returncode, json.loads(out)["visits"]) == (0, 60)
    assert_only_what_was_in_flight_was_asked_again(site, Answer(0, out.encode(), err))
    assert_every_page_is_stored_once(workspace, expected_bodies(site, 60))


def state_of(workspace: Path) -> str:
    try:
        return str(health_in(workspace)["state"])
    except FileNotFoundError:
        return ""


def test_when_the_patience_is_over_it_ends_with_code_4_and_loses_nothing(
    site: SiteProcess, disk: Path
) -> None:
    workspace = disk / "ws"
    with begin(site, workspace, env={"CRAWL4R_RESILIENCE__STORE_PATIENCE": "2"}) as crawl:
        answer = crawl.end()
    assert answer.code == 4
    assert str(workspace) in answer.err and "could not be written for 2 s" in answer.err
    assert_nothing_is_torn(workspace, expected_bodies(site, SIZE))
    resize(disk, "64m")
    go_on(workspace, site.url(f"/site/{SIZE}/"))
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def by_signal(crawl: Background, workspace: Path) -> None:
    crawl.send(signal.SIGINT)


def by_file(crawl: Background, workspace: Path) -> None:
    assert run("stop", "-w", workspace).code == 0


@pytest.mark.parametrize("stop", [by_signal, by_file])
def test_a_stop_does_not_wait_for_the_store(
    site: SiteProcess, disk: Path, stop: Callable[[Background, Path], None]
) -> None:
    workspace = disk / "ws"
    with begin(site, workspace) as crawl:
        crawl.wait_until_it_says("store_lost")
        stop(crawl, workspace)
        answer = crawl.end()
    assert (answer.code, answer.json["ended"]) == (3, "stopped")
    assert answer.json["pending"] > 0
    assert "store_reopened" not in answer.err
    assert_nothing_is_torn(workspace, expected_bodies(site, SIZE))
    resize(disk, "64m")
    go_on(workspace, site.url(f"/site/{SIZE}/"))
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def test_a_pause_that_came_meanwhile_holds_the_crawl_afterwards(
    site: SiteProcess, disk: Path
) -> None:
    workspace = disk / "ws"
    with begin(site, workspace) as crawl:
        crawl.wait_until_it_says("store_lost")
        run("pause", "-w", workspace)
        crawl.wait_until_it_says("crawl_paused")
        resize(disk, "64m")
        crawl.wait_until_it_says("store_reopened")
        wait_until(lambda: state_of(workspace) == "paused")
        run("pause", "-w", workspace, "--off")
        answer = crawl.end()
    assert answer.code == 0
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def test_damage_that_shows_when_it_is_opened_again_ends_the_crawl(
    site: SiteProcess, disk: Path
) -> None:
    workspace = disk / "ws"
    with begin(site, workspace) as crawl:
        crawl.wait_until_it_says("store_lost")
        segment = workspace / "store" / "segments" / "000001.c4s"
        os.truncate(segment, segment.stat().st_size // 2)
        resize(disk, "64m")
        answer = crawl.end()
    assert answer.code == 4
    assert "it was cut or replaced" in answer.err
    assert "store_reopened" not in answer.err


def test_a_refresh_is_not_begun_anew(site: SiteProcess, disk: Path) -> None:
    """What it put into the queue is still there; what was visited again is not visited once more."""
    resize(disk, "16m")
    workspace = disk / "ws"
    go_on(workspace, site.url("/site/200/"))
    before = len(site.requests())
    arguments = ("crawl", "-w", workspace, *LOOPBACK, *WIDE, "--refresh")
    site.hold(after=60)
    with Background(*arguments, env=PATIENT) as crawl:
        wait_until(lambda: site.held() > 0)
        fill(disk / "filler")
        site.release()
        crawl.wait_until_it_says("store_lost")
        (disk / "filler").unlink()
        answer = crawl.end()
    assert (answer.code, answer.json["visits"]) == (0, 200)
    asked = page_requests(site, since=before)
    losses = len(events_of(answer.err, "store_lost"))
    assert len(asked) == 200
    assert sum(asked.values()) <= 200 + CONCURRENCY * losses


def test_both_sides_of_separated_mode_wait_and_finish(site: SiteProcess, disk: Path) -> None:
    workspace = disk / "ws"
    arguments = ("spool", "run", site.url(f"/site/{SIZE}/"), "-w", workspace)
    with Background(*arguments, *LOOPBACK, *WIDE, env=PATIENT) as crawl:
        crawl.wait_until_it_says("store_lost")
        resize(disk, "64m")
        answer = crawl.end()
    assert answer.code == 0, answer.err
    assert answer.json["pages"] == SIZE
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def options_for(**more: Any) -> dict[str, Any]:
    loopback = {"allow_private": ["127.0.0.1"], "rate": 0, "concurrency": 8, "per_host": 8}
    return loopback | {"explore": False, "extract": False, "store_patience": 120} | more


def test_whoever_iterates_gets_every_page_once_and_can_read_the_earlier_ones(
    site: SiteProcess, disk: Path
) -> None:
    async def make_room(run: CrawlRun) -> None:
        while not run.reopening.problem:  # noqa: ASYNC110 - there is no callback
            await asyncio.sleep(0.01)
        (disk / "filler").unlink()
        resize(disk, "64m")

    async def crawl() -> list[crawl4r.Page]:
        pages: list[crawl4r.Page] = []
        async with crawl4r.open(disk / "ws", **options_for()) as opened:
            run = opened.crawl(site.url(f"/site/{SIZE}/"))
            helped = asyncio.create_task(make_room(run))
            async for page in run:
                pages.append(page)
                if len(pages) == 1:
                    while not run.is_ahead():  # noqa: ASYNC110 - so that some pages are not taken
                        await asyncio.sleep(0.01)
                    fill(disk / "filler")
            await helped
            bodies = expected_bodies(site, SIZE)
            assert all(page.body == bodies[page.url] for page in pages)
            assert run.history["store_losses"] > 0
        return pages

    pages = asyncio.run(asyncio.wait_for(crawl(), 100))
    assert sorted(page.url for page in pages) == sorted(expected_bodies(site, SIZE))


def test_who_waits_for_a_store_holds_no_place_at_a_host(
    site: SiteProcess, disk: Path, tmp_path: Path
) -> None:
    """Two crawls share the budget of one host, one request at a time; the disk of one is full."""
    budgets = crawl4r.HostBudgets(HostRules(delay=0.0, per_host=1))
    options = options_for(per_host=1)

    async def crawl() -> tuple[int, int]:
        async with (
            crawl4r.open(disk / "ws", budgets=budgets, **options) as small,
            crawl4r.open(tmp_path / "large", budgets=budgets, **options) as large,
        ):
            waiting = small.crawl(site.url(f"/site/{SIZE}/"))
            task = asyncio.create_task(waiting.finish())
            while not waiting.reopening.problem:  # noqa: ASYNC110 - there is no callback
                await asyncio.sleep(0.01)
            assert [budget.in_flight for budget in budgets] == [0]
            other = large.crawl(site.url("/site/50/"))
            await other.finish()
            assert waiting.reopening.problem, "it waited all the while"
            resize(disk, "64m")
            await task
            return other.visits(), waiting.visits()

    assert asyncio.run(asyncio.wait_for(crawl(), 100)) == (50, SIZE)


@pytest.mark.parametrize(("patience", "error"), [(0.0, StorageFull), (120.0, StorageDamaged)])
def test_a_program_is_told_by_an_error(
    site: SiteProcess, disk: Path, patience: float, error: type[Exception]
) -> None:
    async def crawl() -> None:
        async with crawl4r.open(disk / "ws", **options_for(store_patience=patience)) as opened:
            run = opened.crawl(site.url(f"/site/{SIZE}/"))
            task = asyncio.create_task(run.finish())
            while not run.reopening.problem and not task.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            for segment in (disk / "ws").glob("store/segments/*"):
                os.truncate(segment, 10)
            resize(disk, "64m")
            await task

    with pytest.raises(error):
        asyncio.run(asyncio.wait_for(crawl(), 100))
