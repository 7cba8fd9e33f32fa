"""kill -9 of either side of separated mode: every discovery is fetched once, none is lost."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.archive.spool import Bookmark, SpoolReader
from tests.cli.running import EXECUTABLE, LOOPBACK, PATIENCE, environment
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies, page_requests
from tests.site.process import SiteProcess

KILLS = int(os.environ.get("CRAWL4R_KILLS", "10"))
SIZE = 150  # pages
CONCURRENCY = 4
SMALL = {
    "CRAWL4R_SPOOL__DRAINED": "keep",
    "CRAWL4R_SPOOL__MAX_BACKLOG": "60",  # so that the discoverer is held now and then
    "CRAWL4R_POLITENESS__PER_HOST": str(CONCURRENCY),
}


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def test_either_side_killed_again_and_again_loses_and_doubles_nothing(
    site: SiteProcess, tmp_path: Path
) -> None:
    chance = random.Random("kill spool")
    bodies = expected_bodies(site, SIZE)
    kills = rounds = 0
    while kills < KILLS and rounds < KILLS:
        workspace = tmp_path / f"ws-{rounds}"
        before = len(site.requests())
        killed = _run_with_kills(site, workspace, chance)
        _assert_every_discovery_was_announced_once(workspace, set(bodies))
        assert_every_page_is_stored_once(workspace, bodies)
        _assert_the_csv_has_a_row_a_page(workspace, set(bodies))
        asked = page_requests(site, since=before)
        assert sum(asked.values()) - 2 * SIZE <= CONCURRENCY * killed
        kills, rounds = kills + killed, rounds + 1
    assert kills >= KILLS


def _run_with_kills(site: SiteProcess, workspace: Path, chance: random.Random) -> int:
    """Kill one of both at a random moment, start it again, until both end by themselves."""
    kills = 0
    running = {side: _start(site, workspace, side) for side in ("discover", "scrape")}
    while True:
        time.sleep(chance.uniform(0.05, 1.2))
        if all(process.poll() is not None for process in running.values()):
            assert [process.returncode for process in running.values()] == [0, 0]
            # It may have left while the discoverer was down.
            assert _start(site, workspace, "scrape").wait(PATIENCE) == 0
            return kills
        side = chance.choice(["discover", "scrape"])
        victim = running[side]
        if victim.poll() is None:
            victim.kill()
            victim.wait(PATIENCE)
            kills += 1
        else:
            assert victim.returncode == 0
        _assert_the_bookmark_is_not_ahead(workspace)
        running[side] = _start(site, workspace, side)


def _start(site: SiteProcess, workspace: Path, side: str) -> subprocess.Popen[bytes]:
    seeds = [site.url(f"/site/{SIZE}/")] if side == "discover" else []
    arguments = ["spool", side, *seeds, "--workspace", str(workspace)]
    options = [*LOOPBACK, "--concurrency", str(CONCURRENCY), "--quiet", "--no-probe"]
    (workspace / "spool").mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [str(EXECUTABLE), *arguments, *options],
        env=environment(SMALL),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _assert_every_discovery_was_announced_once(workspace: Path, urls: set[str]) -> None:
    found = []
    for segment in sorted((workspace / "spool" / "discoveries").glob("*.jsonl")):
        found += [json.loads(line) for line in segment.read_text().splitlines()]
    assert Counter(line["url"] for line in found) == Counter(urls)
    assert [line["metadata"]["number"] for line in found] == list(range(1, len(urls) + 1))


def _assert_the_csv_has_a_row_a_page(workspace: Path, urls: set[str]) -> None:
    with (workspace / "logs" / "pages.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["url"] for row in rows) == Counter(urls)
    numbers = [json.loads(row["metadata"])["capture"] for row in rows]
    assert numbers == sorted(set(numbers))


def _assert_the_bookmark_is_not_ahead(workspace: Path) -> None:
    """All that the scraper will not read again is in its frontier."""
    if not (workspace / "state.db").exists():
        return
    with contextlib.closing(sqlite3.connect(workspace / "state.db")) as state:
        try:
            notes = dict(state.execute("SELECT key, value FROM notes"))
            known = {url for (url,) in state.execute("SELECT url FROM urls")}
        except sqlite3.OperationalError:  # killed before it had tables
            return
    bookmark = Bookmark.from_text(notes.get("spool_bookmark"))
    if not bookmark.segment:
        return
    reader, place = SpoolReader(workspace / "spool" / "discoveries"), Bookmark()
    while place < bookmark:
        batch = reader.read(place, 1)
        assert {discovery.url for discovery in batch.discoveries} <= known
        place = batch.bookmark
    assert place == bookmark
