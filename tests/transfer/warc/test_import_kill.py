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
from tests.faults.killing import killed_workspaces, plan, start_dying
from tests.interfaces.cli.running import run
from tests.transfer.warc.files import gzipped, http, record, response
from tests.transfer.warc.workspaces import captures_of

SITE = "http://site.example"
COUNT = 1_300  # records: some batches of an import
PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
POINTS = {
    "after script state.db": 1,
    "before statement state.db": 5_000,
    "during write store/segments/*": 3,
    "after fsync store/segments/*": 3,
    "during commit state.db": 20,
    "after commit state.db": 20,
}


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
    whole = tmp_path / "whole"
    counts = run("import", file, "-w", whole, "--json").json
    assert (counts["added"], counts["skipped"], counts["broken"]) == (COUNT, {}, 0)

    def start(workspace: Path, at: str) -> subprocess.Popen[bytes]:
        return start_dying("import", file, "-w", workspace, at=at)

    kills = plan(random.Random("kill an import"), POINTS)
    for workspace, _ in killed_workspaces(tmp_path, kills, start):
        kept = rows_in(workspace)
        assert run("import", file, "-w", workspace, "--json").json["added"] == COUNT - kept
        assert told(captures_of(workspace)) == told(captures_of(whole))
        assert documents_of(workspace) == documents_of(whole)
        assert run("import", file, "-w", workspace, "--json").json["added"] == 0


def rows_in(workspace: Path) -> int:
    """Captures; none before there is a table of them."""
    state = contextlib.closing(sqlite3.connect(workspace / "state.db"))
    with state as connection, contextlib.suppress(sqlite3.OperationalError):
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
