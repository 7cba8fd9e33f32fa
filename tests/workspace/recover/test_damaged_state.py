"""state.db is damaged: it is kept under another name, and what is left in it is brought back too."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interfaces.cli.running import LOOPBACK, run
from tests.workspace.recover.looking import STATE, hits_of, recover, rows_of, said_by

Copy = Callable[[str], Path]
PAGE = 4096  # bytes of a page of SQLite
ZEROED = 20


def cut_in_half(state: Path) -> None:
    state.write_bytes(state.read_bytes()[: state.stat().st_size // 2])


def overwrite_the_head(state: Path) -> None:
    state.write_bytes(b"\xa5" * 100 + state.read_bytes()[100:])


def empty(state: Path) -> None:
    state.write_bytes(b"")


def zero_pages(state: Path, seed: int) -> None:
    data = bytearray(state.read_bytes())
    chance = random.Random(seed)
    for page in chance.sample(range(len(data) // PAGE), ZEROED):
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    state.write_bytes(data)


def assert_all_is_back(workspace: Path, whole: Path) -> None:
    before, after = said_by(whole), said_by(workspace)
    assert after.captures == before.captures
    assert after.bodies == before.bodies
    assert after.documents == before.documents
    captured = {url: row for url, row in before.rows.items() if row[1] is not None}
    assert {url: after.rows[url] for url in captured} == captured


@pytest.mark.parametrize("damage", [cut_in_half, overwrite_the_head, empty])
def test_a_damaged_state_is_made_again(
    sound: dict[str, Path], copy: Copy, damage: Callable[[Path], None]
) -> None:
    workspace = copy("segments")
    damage(workspace / STATE)
    damaged = (workspace / STATE).read_bytes()
    told = recover(workspace)
    assert ("crawls" in told["salvaged"]) == (damage is cut_in_half)
    assert_all_is_back(workspace, sound["segments"])
    assert hits_of(workspace) == hits_of(sound["segments"])
    (aside,) = [name for name in told["set_aside"] if name.endswith("Z")]
    assert (workspace / aside).read_bytes() == damaged
    assert run("status", "-w", workspace).code == 0


@pytest.mark.parametrize("seed", range(6))
def test_random_pages_are_lost(sound: dict[str, Path], copy: Copy, seed: int) -> None:
    workspace = copy("segments")
    zero_pages(workspace / STATE, seed)
    recover(workspace)
    assert_all_is_back(workspace, sound["segments"])
    for crawl in ("guide", "few"):
        command = ("crawl", "-w", workspace, "--name", crawl, *LOOPBACK, "--json")
        assert run(*command, "--max-pages", "100").code in {0, 1}
    for url in said_by(workspace).rows:
        assert run("why", url, "-w", workspace).code == 0
        break


def test_what_is_left_is_brought_back(sound: dict[str, Path], copy: Copy) -> None:
    """Only documents are damaged here, which are made again: nothing at all is lost."""
    workspace = copy("segments")
    with rows_of(workspace) as rows:
        ((root,),) = rows.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'")
    data = bytearray((workspace / STATE).read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    (workspace / STATE).write_bytes(data)
    told = recover(workspace)
    assert told["lost"] == []
    assert said_by(workspace) == said_by(sound["segments"])
    tables = ("crawls", "crawl_notes", "collections", "collection_documents", "tags", "urls")
    tables += ("document_tags", "hosts", "robots", "errands", "requests", "revisits", "pages")
    with rows_of(workspace) as after, rows_of(sound["segments"]) as before:
        for table in (*tables, "captures", "blobs"):
            sql = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert after.execute(sql).fetchall() == before.execute(sql).fetchall(), table


def test_unvisited_links_that_are_left_are_visited(copy: Copy, sound: dict[str, Path]) -> None:
    workspace = copy("segments")
    data = bytearray((workspace / STATE).read_bytes())
    with rows_of(workspace) as rows:
        ((root,),) = rows.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'")
    data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    (workspace / STATE).write_bytes(data)
    assert recover(workspace)["to_visit"] > 0
    answer = run("crawl", "-w", workspace, "--name", "few", "--max-pages", "100", "--json")
    assert answer.code == 0
    assert answer.json["visits"] > 0


@pytest.mark.parametrize("damage", [cut_in_half, lambda state: zero_pages(state, 3), Path.unlink])
def test_writes_that_only_the_log_has_are_read(
    sound: dict[str, Path], copy: Copy, damage: Callable[[Path], None]
) -> None:
    """A killed process leaves a log, which must not be merged into the new state.db."""
    workspace = copy("segments")
    with rows_of(workspace) as rows:
        rows.execute("PRAGMA wal_autocheckpoint = 0")
        rows.execute("UPDATE collections SET name = 'of the log'")
        rows.execute("INSERT INTO tags VALUES (2, 'of the log', 2.0)")
        rows.commit()
        for name in ("state.db-wal", "state.db-shm"):
            shutil.copyfile(workspace / name, workspace / f"kept-{name}")
    for name in ("state.db-wal", "state.db-shm"):
        (workspace / f"kept-{name}").rename(workspace / name)
    (workspace / "state.sum").unlink(missing_ok=True)
    damage(workspace / STATE)
    log = (workspace / "state.db-wal").read_bytes()
    told = recover(workspace)
    assert_all_is_back(workspace, sound["segments"])
    (aside,) = [name for name in told["set_aside"] if name.endswith("-wal")]
    assert (workspace / aside).read_bytes() == log
    with rows_of(workspace) as rows:
        assert rows.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_log_beside_damage_outside_of_it_is_salvaged(copy: Copy) -> None:
    workspace = copy("segments")
    with rows_of(workspace) as rows:
        ((root,),) = rows.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'")
        rows.execute("PRAGMA wal_autocheckpoint = 0")
        rows.execute("INSERT INTO tags VALUES (2, 'of the log', 2.0)")
        rows.commit()
        shutil.copyfile(workspace / "state.db-wal", workspace / "kept")
    (workspace / "kept").rename(workspace / "state.db-wal")
    data = bytearray((workspace / STATE).read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    (workspace / STATE).write_bytes(data)
    recover(workspace)
    with rows_of(workspace) as rows:
        assert [name for (name,) in rows.execute("SELECT name FROM tags")] == [
            "later",
            "of the log",
        ]
