"""kill -9 at any step, the same command again: nothing lost, nothing doubled."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.killing import killed_workspaces, plan, start_dying, was_killed
from tests.faults.whole import (
    assert_every_page_is_stored_once,
    expected_bodies,
    page_requests,
)
from tests.interfaces.cli.running import LOOPBACK, Background, run, wait_until
from tests.site.process import SiteProcess

SIZE = 80  # pages
CONCURRENCY = 8
MARK = "TEST_KILL_SITE"  # in the environment of the crawls and of all they start
COMMITS = {  # of a page: bytes synced, rows committed, lines appended
    "before statement state.db": 60,
    "before commit state.db": 6,
    "during commit state.db": 6,
    "after commit state.db": 6,
    "before write metadata/*": 4,
    "during write metadata/*": 4,
    "before * *": 150,
}
SEGMENTS = {
    "before write store/segments/*": 5,
    "during write store/segments/*": 5,
    "after write store/segments/*": 5,
    "after fsync store/segments/*": 5,
}
FILES = {
    "during write store/html/*": 30,
    "before replace store/html/*": 30,
    "after replace store/html/*": 30,
    "after fsync store/html/*": 60,
}
STORES = {"segments": COMMITS | SEGMENTS, "files": COMMITS | FILES}
OPERATIONS_AT_THE_START = 24


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.mark.parametrize("store", STORES)
def test_a_crawl_killed_again_and_again_loses_and_doubles_nothing(
    site: SiteProcess, tmp_path: Path, store: str
) -> None:
    chance = random.Random(f"kill {store}")
    bodies = expected_bodies(site, SIZE)

    def start(workspace: Path, at: str) -> subprocess.Popen[bytes]:
        return start_dying(*_crawl(site, workspace, store), at=at)

    before = 0
    kills = plan(chance, STORES[store])
    for workspace, killed in killed_workspaces(tmp_path, kills, start):
        assert run(*_crawl(site, workspace, store)).code == 0
        assert_every_page_is_stored_once(workspace, bodies)
        asked = page_requests(site, since=before)
        assert sum(asked.values()) - len(asked) <= CONCURRENCY * killed
        before = len(site.requests())
        _assert_the_command_line_agrees(workspace, bodies, chance)


def test_a_crawl_killed_before_its_first_page_begins_anew(
    site: SiteProcess, tmp_path: Path
) -> None:
    chance = random.Random("kill at the start")
    workspace = tmp_path / "ws"
    for number in chance.sample(range(1, OPERATIONS_AT_THE_START), 5):
        crawl = start_dying(*_crawl(site, workspace, "segments"), at=f"after * *#{number}")
        assert was_killed(crawl)
    assert page_requests(site).total() == 0
    assert run(*_crawl(site, workspace, "segments")).code == 0
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


def test_no_reading_process_outlives_a_killed_crawl(site: SiteProcess, tmp_path: Path) -> None:
    site.hold(after=CONCURRENCY)
    with Background(*_crawl(site, tmp_path, "segments"), env=_mark(site)) as crawl:
        wait_until(lambda: bool(_reading_processes(site)))
        crawl.send(signal.SIGKILL)
        crawl.process.wait()
        wait_until(lambda: not _reading_processes(site))


def test_a_reading_process_that_is_killed_takes_no_links_with_it(
    site: SiteProcess, tmp_path: Path
) -> None:
    """The out-of-memory killer picks whom it likes; the page that was being read is not to blame."""
    site.hold(after=1)
    with Background(*_crawl(site, tmp_path, "segments"), env=_mark(site)) as crawl:
        for more in (20, 30, 40):
            wait_until(lambda: bool(_reading_processes(site)))
            for reader in _reading_processes(site):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(reader), signal.SIGKILL)
            site.hold(after=more)
        site.release()
        assert crawl.end().code == 0
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, SIZE))


def _crawl(site: SiteProcess, workspace: Path, store: str) -> list[str]:
    options = ["--workspace", str(workspace), *LOOPBACK, "--per-host", str(CONCURRENCY)]
    options += ["--concurrency", str(CONCURRENCY), "--store", store, "--json"]
    return ["crawl", site.url(f"/site/{SIZE}/"), *options]


def _mark(site: SiteProcess) -> dict[str, str]:
    return {MARK: str(site.port)}


def _reading_processes(site: SiteProcess) -> list[str]:
    """Readers that crawls of this test started, with any current parent."""
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
