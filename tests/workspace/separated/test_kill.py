"""kill -9 of either side of separated mode: every discovery is fetched once, none is lost."""

from __future__ import annotations

import contextlib
import csv
import json
import random
import sqlite3
import subprocess
from collections import Counter, deque
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from crawl4r.frontier.spool import Bookmark, SpoolReader
from crawl4r.storage.lock import holder_of
from tests.faults.killing import plan, start_dying, was_killed
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies, page_requests
from tests.interfaces.cli.running import LOOPBACK, run, wait_until
from tests.site.process import SiteProcess

SIZE = 80  # pages
CONCURRENCY = 4
SMALL = {
    "CRAWL4R_SPOOL__DRAINED": "keep",
    "CRAWL4R_SPOOL__MAX_BACKLOG": "30",  # so that the discoverer is held now and then
    "CRAWL4R_POLITENESS__PER_HOST": str(CONCURRENCY),
}


POINTS = {
    "discover": {
        "during write spool/discoveries/*": 3,
        "before fdatasync spool/discoveries/*": 3,
        "after fdatasync spool/discoveries/*": 3,
        "during commit spool/discover/state.db": 3,
        "after commit spool/discover/state.db": 3,
        "before statement spool/discover/state.db": 60,
    },
    # A scraper may be done, and leave, whenever its discoverer is down: nothing is sure to come often.
    "scrape": {
        "during commit state.db": 1,
        "after commit state.db": 2,
        "before statement state.db": 30,
        "during write store/segments/*": 1,
        "after fsync store/segments/*": 1,
        "during write logs/pages.csv": 2,
    },
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
    kills = {side: deque(plan(chance, points, 0.5)) for side, points in POINTS.items()}
    for number in count():
        workspace = tmp_path / f"ws-{number}"
        before = len(site.requests())
        killed = _run_with_kills(site, workspace, kills)
        assert killed, f"one of these does not come: {kills}"
        _assert_every_discovery_was_announced_once(workspace, set(bodies))
        assert_every_page_is_stored_once(workspace, bodies)
        _assert_the_csv_has_a_row_a_page(workspace, set(bodies))
        asked = page_requests(site, since=before)
        assert sum(asked.values()) - 2 * SIZE <= CONCURRENCY * killed
        if not any(kills.values()):
            return


def _run_with_kills(site: SiteProcess, workspace: Path, kills: dict[str, deque[str]]) -> int:
    """Both sides at once, each begun again whenever it is no more, until the discoverer is done."""
    hits = 0
    running: dict[str, subprocess.Popen[bytes]] = {}

    def is_over(side: str) -> bool:
        """Whether it ended by itself; otherwise it is killed, and another one runs."""
        nonlocal hits
        if not was_killed(running.pop(side)):
            return True
        kills[side].popleft()
        hits += 1
        _assert_the_bookmark_is_not_ahead(workspace)
        return False

    try:
        while True:
            for side in POINTS:
                if side not in running:
                    running[side] = _start(site, workspace, side, kills[side])
                    wait_until(lambda: _has_discoverer(workspace, running))
            wait_until(lambda: any(process.poll() is not None for process in running.values()))
            ended = [side for side, process in running.items() if process.poll() is not None]
            if "discover" in [side for side in ended if is_over(side)]:
                break
        if "scrape" in running:
            is_over("scrape")
    finally:
        for process in running.values():
            process.kill()
    # It may have been killed last, or have left while its discoverer was down.
    assert run(*_command(site, workspace, "scrape"), env=SMALL).code == 0
    return hits


def _has_discoverer(workspace: Path, running: dict[str, subprocess.Popen[bytes]]) -> bool:
    """Or had: without one a scraper has nothing to wait for."""
    is_locked = holder_of(workspace / "spool" / "discover") is not None
    return is_locked or running["discover"].poll() is not None


def _start(
    site: SiteProcess, workspace: Path, side: str, kills: deque[str]
) -> subprocess.Popen[bytes]:
    (workspace / "spool").mkdir(parents=True, exist_ok=True)
    at = kills[0] if kills else ""
    return start_dying(*_command(site, workspace, side), at=at, env=SMALL)


def _command(site: SiteProcess, workspace: Path, side: str) -> list[str]:
    seeds = [site.url(f"/site/{SIZE}/")] if side == "discover" else []
    options = [*LOOPBACK, "--concurrency", str(CONCURRENCY), "--quiet", "--no-probe"]
    return ["spool", side, *seeds, "--workspace", str(workspace), *options]


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
    numbers = [json.loads(row["metadata"])["capture_id"] for row in rows]
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
