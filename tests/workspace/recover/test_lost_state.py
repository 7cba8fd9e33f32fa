"""state.db is gone: everything comes back that the lines of the metadata and the store have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crawl4r.sample.server import SampleSite
from tests.interfaces.cli.running import LOOPBACK, run
from tests.workspace.recover.conftest import STORES
from tests.workspace.recover.looking import (
    STATE,
    WORDS,
    fingerprints,
    hits_of,
    recover,
    rows_of,
    said_by,
)

Copy = Callable[[str], Path]


@pytest.mark.parametrize("store", STORES)
def test_every_capture_with_a_line_and_bytes_is_back(copy: Copy, store: str) -> None:
    workspace = copy(store)
    before = said_by(workspace)
    (workspace / STATE).unlink()
    told = recover(workspace)
    after = said_by(workspace)
    assert after.captures == before.captures
    assert after.bodies == before.bodies
    assert after.documents == before.documents
    assert (told["captures"], told["documents"]) == (len(before.captures), len(before.documents))
    assert (told["without_bytes"], told["without_line"], told["damaged_records"]) == (0, 0, 0)
    assert {"redirect", "not-modified", "ok"} <= {each.verdict for each in after.captures}


def test_captured_urls_stand_where_they_stood(copy: Copy) -> None:
    workspace = copy("segments")
    before = said_by(workspace).rows
    (workspace / STATE).unlink()
    told = recover(workspace)
    after = said_by(workspace).rows
    assert after == {url: row for url, row in before.items() if row[1] is not None}
    assert 0 < len(after) < len(before), "all known URLs have a capture in this test"
    assert any("links" in loss["what"] for loss in told["lost"])
    assert sorted(told["crawls"]) == ["few", "guide"]


def test_get_gives_the_same_bytes(copy: Copy, sample: SampleSite) -> None:
    workspace = copy("segments")
    urls = list(said_by(workspace).bodies)[:4]
    before = [run("get", url, "-w", workspace, "--raw").out for url in urls]
    (workspace / STATE).unlink()
    recover(workspace)
    assert [run("get", url, "-w", workspace, "--raw").out for url in urls] == before
    assert all(before)


def test_search_answers_as_before(copy: Copy) -> None:
    workspace = copy("segments")
    before = hits_of(workspace)
    (workspace / STATE).unlink()
    recover(workspace)
    assert hits_of(workspace) == before
    assert run("index", "-w", workspace, env=WORDS).code == 0
    assert hits_of(workspace) == before
    assert run("index", "-w", workspace, "--rebuild", env=WORDS).code == 0
    assert hits_of(workspace) == before


def test_a_crawl_goes_on_and_finds_lost_links_again(copy: Copy, sample: SampleSite) -> None:
    workspace = copy("segments")
    before = said_by(workspace)
    (workspace / STATE).unlink()
    recover(workspace)
    for crawl in ("guide", "few"):
        answer = run("crawl", "-w", workspace, "--name", crawl, "--refresh", *LOOPBACK, "--json")
        assert answer.code == 0, answer
    after = said_by(workspace)
    assert after.rows.keys() >= before.rows.keys()
    assert [each.id for each in after.captures[: len(before.captures)]] == [
        each.id for each in before.captures
    ]
    assert run("replay", "--check", "-w", workspace).code == 0


def test_totals_are_counted_again(copy: Copy) -> None:
    workspace = copy("segments")
    names = "name LIKE 'status_%' OR name LIKE 'ended_ok%' OR name IN ('pages', 'bytes')"
    sql = f"SELECT crawl_id, name, value FROM tallies WHERE value AND ({names}) ORDER BY 1, 2"
    with rows_of(workspace) as rows:
        before = rows.execute(sql).fetchall()
    (workspace / STATE).unlink()
    recover(workspace)
    with rows_of(workspace) as rows:
        assert rows.execute(sql).fetchall() == before
    assert before


def test_a_dry_run_tells_the_same_and_writes_nothing(copy: Copy) -> None:
    workspace = copy("segments")
    (workspace / STATE).unlink()
    before = fingerprints(workspace)
    told = recover(workspace, "--dry-run")
    assert fingerprints(workspace) == before
    done = recover(workspace)
    same = ("captures", "pages", "urls", "stored", "stored_bytes", "crawls", "lost", "state")
    assert [told[name] for name in same] == [done[name] for name in same]


def test_the_report_names_commands_that_work(copy: Copy) -> None:
    workspace = copy("segments")
    (workspace / STATE).unlink()
    answer = run("recover", "-w", workspace)
    assert answer.code == 0
    assert "brought back:" in answer.text
    assert "not brought back:" in answer.text
    steps = answer.text.partition("what to do next:\n")[2].splitlines()
    assert len(steps) >= 2
    for step in steps:
        _, *words = step.partition("   ")[0].split() if step.strip() else []
        offline = words[0] != "crawl"
        assert run(*words, *(() if offline else LOOPBACK), env=WORDS).code == 0, step


def test_nothing_comes_back_without_a_line(copy: Copy) -> None:
    workspace = copy("segments")
    (workspace / STATE).unlink()
    (workspace / "metadata" / "crawl_metadata.jsonl").write_bytes(b"garbage\n")
    before = fingerprints(workspace)
    told = recover(workspace, code=1)
    assert (told["captures"], told["is_whole"]) == (0, False)
    after = fingerprints(workspace)
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] == ["crawl.lock"]  # its holder
