"""kill -9 at any instant with all logs on, the same command again: every file is exact."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import EXECUTABLE, PATIENCE, environment, run, wait_until
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.logs.tables import EDGES, METRICS, PAGES, about, assert_metrics_agree, rows
from tests.site.process import SiteProcess

KILLS = int(os.environ.get("CRAWL4R_KILLS", "6"))  # for each store; the soak asks for more
SIZE = 150  # pages
LINKS = 10  # on each of them
START_SECONDS = 0.5  # what a crawl needs, about, until its first request
OFTEN = {"CRAWL4R_LOGS__METRICS_SECONDS": "0.02"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.jsonl"


@pytest.fixture
def site(log: Path) -> Iterator[SiteProcess]:
    with SiteProcess(log=log) as running:
        yield running


@pytest.mark.parametrize("store", ["segments", "files"])
def test_logs_of_a_crawl_killed_again_and_again_are_exact(
    site: SiteProcess, log: Path, tmp_path: Path, store: str
) -> None:
    chance = random.Random(f"kill logs {store}")
    bodies = expected_bodies(site, SIZE)
    kills = 0
    for number in range(KILLS):
        workspace = tmp_path / f"{store}-{number}"
        kills += _crawl_with_kills(site, log, workspace, store, chance)
        assert_every_page_is_stored_once(workspace, bodies)
        _assert_logs_are_exact(workspace, set(bodies))
        if kills >= KILLS:
            return
    pytest.fail(f"only {kills} of {KILLS} kills hit a running crawl")


def _assert_logs_are_exact(workspace: Path, urls: set[str]) -> None:
    pages = rows(workspace / PAGES)
    assert Counter(row["url"] for row in pages) == Counter(urls)
    assert [about(row)["capture"] for row in pages] == list(range(1, SIZE + 1))
    edges = rows(workspace / EDGES)
    assert Counter(row["source"] for row in edges) == dict.fromkeys(urls, LINKS)
    assert {row["target"] for row in edges} == urls
    stamps = Counter(row["timestamp"] for row in rows(workspace / METRICS))
    assert len({count % 13 for count in stamps.values()}) == 1, "a group is torn"
    assert_metrics_agree(workspace)
    checked = run("replay", "--workspace", workspace, "--check", "--json")
    assert (checked.code, checked.json["differences"], checked.json["absent"]) == (0, [], [])


def _crawl_with_kills(
    site: SiteProcess, log: Path, workspace: Path, store: str, chance: random.Random
) -> int:
    """Kill the crawl at random moments until it ends by itself; how often that was."""
    kills = 0
    while True:
        crawl = _start(site, workspace, store)
        if chance.random() < 0.3:  # before anything is requested, or while the files are opened
            _wait(crawl, chance.uniform(0, 2 * START_SECONDS))
        else:
            goal = _lines_in(log) + chance.randint(1, 40)
            wait_until(lambda crawl=crawl, goal=goal: _is_due(crawl, log, goal))
            _wait(crawl, chance.uniform(0, 0.1))
        if crawl.poll() is not None:
            assert crawl.returncode == 0
            return kills
        crawl.kill()
        crawl.wait()
        kills += 1


def _start(site: SiteProcess, workspace: Path, store: str) -> subprocess.Popen[bytes]:
    options = [
        "--workspace",
        str(workspace),
        "--rate",
        "0",
        "--per-host",
        "8",
        "--concurrency",
        "8",
    ]
    options += [
        "--allow-private",
        "127.0.0.1",
        "--no-extract",
        "--logs",
        "--store",
        store,
        "--json",
    ]
    return subprocess.Popen(
        [EXECUTABLE, "crawl", site.url(f"/site/{SIZE}/"), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(OFTEN),
    )


def _is_due(crawl: subprocess.Popen[bytes], log: Path, goal: int) -> bool:
    return _lines_in(log) >= goal or crawl.poll() is not None


def _wait(crawl: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        crawl.wait(min(seconds, PATIENCE))
    except subprocess.TimeoutExpired:
        return


def _lines_in(log: Path) -> int:
    return log.read_bytes().count(b"\n")
