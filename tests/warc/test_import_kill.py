"""kill -9 in the middle of an import, the same command again: nothing lost, nothing doubled."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.model import Capture
from tests.cli.running import EXECUTABLE, environment, run, wait_until
from tests.warc.files import gzipped, http, record, response
from tests.warc.workspaces import captures_of

SITE = "http://site.example"
COUNT = 1_300  # records: some batches of an import
PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
KILLS = 4


def records() -> list[bytes]:
    """Texts, every tenth seen before, some of them before what they refer to."""
    found = []
    for n in range(COUNT):
        minute, second = divmod(n, 60)
        date = f"2026-01-01T00:{minute:02}:{second:02}Z"
        if n % 10 == 3:
            target = n + 7 if n % 100 == 3 else n - 3
            minute, second = divmod(target, 60)
            found.append(
                record(
                    "revisit", f"{SITE}/{n}", http(b"", "Content-Type: text/plain"), date=date,
                    WARC_Profile=PROFILE, WARC_Refers_To_Target_URI=f"{SITE}/{target}",
                    WARC_Refers_To_Date=f"2026-01-01T00:{minute:02}:{second:02}Z",
                )
            )  # fmt: skip
            continue
        body = f"Page {n} says what only page {n} says. ".encode() * 5
        found.append(response(f"{SITE}/{n}", body, "Content-Type: text/plain", date=date))
    return found


def test_an_import_killed_again_and_again_is_like_one_that_was_not(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(gzipped(records()))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    counts = run("import", file, "-w", whole, "--json").json
    assert (counts["added"], counts["skipped"], counts["broken"]) == (COUNT, {}, 0)
    hits = sum(kill_once(file, killed, random.Random(n)) for n in range(KILLS))
    assert hits >= 2, "the import was over before it could be killed"
    assert run("import", file, "-w", killed, "--json").json["added"] < COUNT
    assert told(captures_of(killed)) == told(captures_of(whole))
    assert documents_of(killed) == documents_of(whole)
    assert run("import", file, "-w", killed, "--json").json["added"] == 0


def kill_once(file: Path, workspace: Path, chance: random.Random) -> bool:
    """Begin to import, and end it when a few more captures are there; whether it was still at it."""
    goal = rows_in(workspace) + chance.choice([1, 200, 600])
    process = subprocess.Popen(
        [EXECUTABLE, "import", str(file), "-w", str(workspace)],
        stdout=subprocess.DEVNULL,
        env=environment(),
    )
    wait_until(lambda: rows_in(workspace) >= goal or process.poll() is not None)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(chance.uniform(0, 0.05))
    was_running = process.poll() is None
    process.kill()
    process.wait()
    return was_running


def rows_in(workspace: Path) -> int:
    with contextlib.suppress(sqlite3.Error):
        state = f"file:{workspace / 'state.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(state, uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM captures").fetchone()[0])
    return 0


def told(captures: list[Capture]) -> Counter[tuple[Any, ...]]:
    return Counter((c.url, c.fetched_at, c.status, c.sha256, c.verdict, c.bytes) for c in captures)


def documents_of(workspace: Path) -> dict[str, tuple[str, float]]:
    with crawl4r.open(workspace, read_only=True) as opened:
        return {
            stored.document.url: (stored.content_hash, stored.crawled_at)
            for stored in opened.documents(with_gone=True)
        }
