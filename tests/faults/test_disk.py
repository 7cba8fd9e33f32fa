"""A disk that is full, or that fails at any one operation, stops a crawl cleanly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import crawl4r
from tests.faults.small_disk import resize
from tests.faults.whole import (
    assert_every_page_is_stored_once,
    assert_nothing_is_torn,
    expected_bodies,
    go_on,
)
from tests.interfaces.cli.running import Answer, crawl, environment, run
from tests.site.process import REPOSITORY, SiteProcess

STORES = ("segments", "files")
EVERY_TIME = "CRAWL4R_EVERY_FAULT" in os.environ  # in the soak, each call fails in its turn
SMALL = 12  # pages
LARGE = 600  # pages: far more than fits in the small disk
FILE_LIMITS = (0, 100, 8192, 60_000, 120_000, 200_000)  # bytes
WIDE = ("--per-host", "8", "--concurrency", "8")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


# Without its sum the state is only not compared at the next start; who runs and how it fares is only
# told; a database that could not be made private is made so by the next command; who takes requests is
# asked again when the store is found to be taken.
HARMLESS = ("write_sum", "processes_in", "HealthFile", "_keep_private", "desk_of")


@pytest.mark.parametrize("store", STORES)
def test_a_full_disk_stops_the_crawl_and_more_room_lets_it_finish(
    site: SiteProcess, disk: Path, store: str
) -> None:
    bodies = expected_bodies(site, LARGE)
    workspace = disk / "ws"
    for size in ("256k", "2m"):
        resize(disk, size)
        stopped = crawl(site.url(f"/site/{LARGE}/"), workspace, *WIDE, "--store", store)
        assert stopped.code == 4
        assert str(workspace) in stopped.err
        assert_nothing_is_torn(workspace, bodies)
    resize(disk, "64m")
    assert crawl(site.url(f"/site/{LARGE}/"), workspace, *WIDE).code == 0
    assert_every_page_is_stored_once(workspace, bodies)


def test_a_workspace_on_a_full_disk_can_still_be_read(site: SiteProcess, disk: Path) -> None:
    workspace = disk / "ws"
    assert crawl(site.url(f"/site/{LARGE}/"), workspace, *WIDE).code == 4
    with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="space"):
        while True:
            filler.write(bytes(4096))
    listed = run("pages", "--workspace", workspace, "--state", "done", "--json")
    assert listed.code == 0
    bodies = expected_bodies(site, LARGE)
    url = listed.lines[-1]["url"]
    assert run("get", url, "--workspace", workspace, "--raw").out == bodies[url]


@pytest.mark.parametrize("store", STORES)
def test_every_file_operation_may_fail_and_nothing_is_lost(
    site: SiteProcess, tmp_path: Path, store: str
) -> None:
    trace = tmp_path / "trace"
    faultless = crawl_faulty(site, tmp_path / "faultless", store, CRAWL4R_FAULT_TRACE=str(trace))
    assert faultless.code == 0
    faults = [fault for fault in trace.read_text().splitlines() if EVERY_TIME or is_worth_it(fault)]
    assert len(faults) > 15

    def suffer(number: int, fault: str) -> None:
        workspace = tmp_path / f"fault-{number}"
        answer = crawl_faulty(site, workspace, store, CRAWL4R_FAULT=fault)
        is_harmless = any(place in fault for place in HARMLESS)
        assert_it_stopped_and_can_go_on(site, workspace, answer, is_harmless=is_harmless)

    report(problems_of(suffer, faults))


def test_a_page_that_is_fetched_again_is_not_called_a_copy_of_itself(
    site: SiteProcess, tmp_path: Path
) -> None:
    """Its bytes reached the store before the failure, its capture did not."""
    fault = "replace in FileBlobs._write < FileBlobs.flush#3"
    assert crawl_faulty(site, tmp_path / "ws", "files", CRAWL4R_FAULT=fault).code == 4
    go_on(tmp_path / "ws", site.url(f"/site/{SMALL}/"))
    with crawl4r.open(tmp_path / "ws", read_only=True) as opened:
        assert {capture.reason for capture in opened.captures.after(0)} == {""}


def test_no_file_may_grow_and_nothing_is_lost(site: SiteProcess, tmp_path: Path) -> None:
    """SQLite's own writes cannot be patched; a limit on the size of files makes them fail."""

    def suffer(number: int, limit: str) -> None:
        workspace = tmp_path / f"limit-{number}"
        answer = crawl_faulty(site, workspace, "segments", CRAWL4R_FILE_LIMIT=limit)
        assert_it_stopped_and_can_go_on(site, workspace, answer)

    report(problems_of(suffer, [str(limit) for limit in FILE_LIMITS]))


def is_worth_it(fault: str) -> bool:
    """Every place once; what makes bytes durable also when some pages are kept already."""
    place, _, time = fault.rpartition("#")
    return int(time) <= (2 if place.startswith(("write", "fsync", "replace")) else 1)


def crawl_faulty(site: SiteProcess, workspace: Path, store: str, **faults: str) -> Answer:
    url = site.url(f"/site/{SMALL}/")
    options = ["--rate", "0", "--allow-private", "127.0.0.1", *WIDE, "--store", store, "--json"]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.faults.inject", "crawl", url, "--workspace", workspace]
        + options,
        cwd=REPOSITORY,
        env=environment(faults),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Answer(ended.returncode, ended.stdout, ended.stderr.decode())


def assert_it_stopped_and_can_go_on(
    site: SiteProcess, workspace: Path, answer: Answer, *, is_harmless: bool = False
) -> None:
    bodies = expected_bodies(site, SMALL)
    assert "Traceback" not in answer.err, answer.err.splitlines()[-1]
    if answer.code != 0 or not is_harmless:
        assert answer.code in {2, 4}, f"exit code {answer.code}"
        assert str(workspace) in answer.err, answer.err
    assert_nothing_is_torn(workspace, bodies)
    go_on(workspace, site.url(f"/site/{SMALL}/"))
    assert_every_page_is_stored_once(workspace, bodies)


def problems_of(suffer: Callable[[int, str], None], faults: list[str]) -> list[str]:
    """What each fault did that it should not have: one list, so that one run shows them all."""

    def attempt(numbered: tuple[int, str]) -> str:
        try:
            suffer(*numbered)
        except Exception as problem:
            message = str(problem).partition("\n")[0]
            return f"{numbered[1]}: {type(problem).__name__}: {message}"
        return ""

    with ThreadPoolExecutor(2) as pool:
        return [problem for problem in pool.map(attempt, enumerate(faults)) if problem]


def report(problems: list[str]) -> None:
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)
