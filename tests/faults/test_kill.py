"""kill -9 at any instant, the same command again: nothing lost, nothing doubled."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import EXECUTABLE, PATIENCE, environment, run, wait_until
from tests.faults.whole import (
    assert_every_page_is_stored_once,
    expected_bodies,
    page_requests,
)
from tests.site.process import SiteProcess

KILLS = int(os.environ.get("CRAWL4R_KILLS", "8"))  # for each store; the soak asks for more
SIZE = 150  # pages
CONCURRENCY = 8
PAGES_BETWEEN_KILLS = 30  # at most
MARK = "TEST_KILL_SITE"  # in the environment of the crawls and of all they start
START_SECONDS = 0.5  # what a crawl needs, about, until its first request


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.jsonl"


@pytest.fixture
def site(log: Path) -> Iterator[SiteProcess]:
    with SiteProcess(log=log) as running:
        yield running


@pytest.mark.parametrize("store", ["segments", "files"])
def test_a_crawl_killed_again_and_again_loses_and_doubles_nothing(
    site: SiteProcess, log: Path, tmp_path: Path, store: str
) -> None:
    chance = random.Random(f"kill {store}")
    bodies = expected_bodies(site, SIZE)
    kills = 0
    for number in range(KILLS):
        workspace = tmp_path / f"{store}-{number}"
        before = len(site.requests())
        killed = _crawl_with_kills(site, log, workspace, store, chance)
        assert_every_page_is_stored_once(workspace, bodies)
        asked = page_requests(site, since=before)
        assert sum(asked.values()) - len(asked) <= CONCURRENCY * killed
        _assert_the_command_line_agrees(workspace, bodies, chance)
        kills += killed
        if kills >= KILLS:
            return
    pytest.fail(f"only {kills} of {KILLS} kills hit a running crawl")


def test_a_crawl_killed_before_its_first_page_begins_anew(
    site: SiteProcess, tmp_path: Path
) -> None:
    chance = random.Random("kill at the start")
    workspace = tmp_path / "ws"
    for _ in range(max(4, KILLS // 3)):
        crawl = _start(site, workspace, "segments")
        time.sleep(chance.uniform(0, START_SECONDS))
        _kill(crawl)
    assert _start(site, workspace, "segments").wait(PATIENCE) == 0
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def test_no_reading_process_outlives_a_killed_crawl(
    site: SiteProcess, log: Path, tmp_path: Path
) -> None:
    crawl = _start(site, tmp_path / "ws", "segments")
    wait_until(lambda: bool(_reading_processes(site)) or crawl.poll() is not None)
    was_there = _reading_processes(site)
    _kill(crawl)
    assert was_there
    wait_until(lambda: not _reading_processes(site))


def test_a_reading_process_that_is_killed_takes_no_links_with_it(
    site: SiteProcess, log: Path, tmp_path: Path
) -> None:
    """The out-of-memory killer picks whom it likes; the page that was being read is not to blame."""
    crawl = _start(site, tmp_path / "ws", "segments")
    for goal in (1, 20, 50, 90):
        wait_until(lambda goal=goal: _is_due(crawl, log, goal))
        for reader in _reading_processes(site):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(reader), signal.SIGKILL)
    assert crawl.wait(PATIENCE) == 0
    assert_every_page_is_stored_once(tmp_path / "ws", expected_bodies(site, SIZE))


def _crawl_with_kills(
    site: SiteProcess, log: Path, workspace: Path, store: str, chance: random.Random
) -> int:
    """Kill the crawl at random moments until it ends by itself; how often that was."""
    kills = 0
    while True:
        crawl = _start(site, workspace, store)
        # Every few kills one may come before anything is requested, the others among the pages.
        if chance.random() < 0.2:
            _wait(crawl, chance.uniform(0, START_SECONDS))
        else:
            goal = _lines_in(log) + chance.randint(1, PAGES_BETWEEN_KILLS)
            wait_until(lambda crawl=crawl, goal=goal: _is_due(crawl, log, goal))
            _wait(crawl, chance.uniform(0, 0.02))
        if crawl.poll() is not None:
            assert crawl.returncode == 0
            return kills
        _kill(crawl)
        kills += 1
        wait_until(lambda: not _reading_processes(site))


def _start(site: SiteProcess, workspace: Path, store: str) -> subprocess.Popen[bytes]:
    options = ["--workspace", str(workspace), "--rate", "0", "--per-host", str(CONCURRENCY)]
    options += ["--concurrency", str(CONCURRENCY), "--allow-private", "127.0.0.1"]
    options += ["--store", store, "--json"]
    return subprocess.Popen(
        [EXECUTABLE, "crawl", site.url(f"/site/{SIZE}/"), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment({MARK: str(site.port)}),
    )


def _is_due(crawl: subprocess.Popen[bytes], log: Path, goal: int) -> bool:
    return _lines_in(log) >= goal or crawl.poll() is not None


def _wait(crawl: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        crawl.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _kill(crawl: subprocess.Popen[bytes]) -> None:
    crawl.kill()
    crawl.wait()


def _lines_in(log: Path) -> int:
    return log.read_bytes().count(b"\n")


def _reading_processes(site: SiteProcess) -> list[str]:
    """Readers that crawls of this test started, whoever their parent is now."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            is_reader = (entry / "comm").read_text() == "crawl4r-sandbox\n"
            marks = (entry / "environ").read_bytes().split(b"\0") if is_reader else []
        except OSError:
            continue
        if f"{MARK}={site.port}".encode() in marks:
            found.append(entry.name)
    return found


def _assert_the_command_line_agrees(
    workspace: Path, bodies: dict[str, bytes], chance: random.Random
) -> None:
    listing = run("pages", "--workspace", workspace, "--json").lines
    assert sorted(row["url"] for row in listing) == sorted(bodies)
    url = chance.choice(sorted(bodies))
    assert run("get", url, "--workspace", workspace, "--raw").out == bodies[url]
