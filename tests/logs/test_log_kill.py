"""kill -9 at any step with all logs on, the same command again: every file is exact."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.killing import killed_workspaces, plan, start_dying
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import LOOPBACK, run
from tests.logs.tables import EDGES, PAGES, about, assert_metrics_agree, rows
from tests.site.process import SiteProcess

SIZE = 80  # pages
LINKS = 10  # on each of them
OFTEN = {"CRAWL4R_LOGS__METRICS_SECONDS": "0.02"}
POINTS = {
    "after open logs/*": 2,
    "after ftruncate logs/*": 2,
    "during write logs/pages.csv": 5,
    "after write logs/pages.csv": 5,
    "during write logs/edges.csv": 2,
    "before fsync logs/edges.csv": 2,
    "during write logs/crawl_metrics.csv": 2,
    "after write logs/crawl_metrics.csv": 2,
    "after commit state.db": 6,
    "before * *": 150,
}


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.mark.parametrize("store", ["segments", "files"])
def test_logs_of_a_crawl_killed_again_and_again_are_exact(
    site: SiteProcess, tmp_path: Path, store: str
) -> None:
    bodies = expected_bodies(site, SIZE)

    def start(workspace: Path, at: str) -> subprocess.Popen[bytes]:
        return start_dying(*_crawl(site, workspace, store), at=at, env=OFTEN)

    kills = plan(random.Random(f"kill logs {store}"), POINTS)
    for workspace, _ in killed_workspaces(tmp_path, kills, start):
        assert run(*_crawl(site, workspace, store), env=OFTEN).code == 0
        assert_every_page_is_stored_once(workspace, bodies)
        _assert_logs_are_exact(workspace, set(bodies))


def _assert_logs_are_exact(workspace: Path, urls: set[str]) -> None:
    pages = rows(workspace / PAGES)
    assert Counter(row["url"] for row in pages) == Counter(urls)
    assert [about(row)["capture_id"] for row in pages] == list(range(1, SIZE + 1))
    edges = rows(workspace / EDGES)
    assert Counter(row["source"] for row in edges) == dict.fromkeys(urls, LINKS)
    assert {row["target"] for row in edges} == urls
    assert_metrics_agree(workspace)
    checked = run("replay", "--workspace", workspace, "--check", "--json")
    assert (checked.code, checked.json["differences"], checked.json["absent"]) == (0, [], [])


def _crawl(site: SiteProcess, workspace: Path, store: str) -> list[str]:
    options = [*LOOPBACK, "--per-host", "8", "--concurrency", "8", "--no-extract", "--logs"]
    url = site.url(f"/site/{SIZE}/")
    return ["crawl", url, "--workspace", str(workspace), *options, "--store", store, "--json"]
