"""A good state.db is never overwritten; nor is one that crawl4r must not touch."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crawl4r.storage.lock import WorkspaceLock
from crawl4r.storage.migrations import CURRENT
from tests.interfaces.cli.running import run
from tests.workspace.recover.conftest import STORES
from tests.workspace.recover.looking import STATE, fingerprints, refusal, rows_of

Copy = Callable[[str], Path]


@pytest.mark.parametrize("store", STORES)
def test_a_good_state_is_refused_and_unchanged(copy: Copy, store: str) -> None:
    workspace = copy(store)
    before = fingerprints(workspace)
    assert "is whole" in refusal(workspace).err
    assert run("recover", "-w", workspace, "--dry-run").code == 2
    assert fingerprints(workspace) == before


def test_a_good_state_with_the_log_of_a_killed_process_is_refused(copy: Copy) -> None:
    workspace = copy("segments")
    with rows_of(workspace) as rows:
        rows.execute("PRAGMA wal_autocheckpoint = 0")
        rows.execute("INSERT INTO tags VALUES (2, 'of the log', 2.0)")
        rows.commit()
        shutil.copyfile(workspace / "state.db-wal", workspace / "kept")
        shutil.copyfile(workspace / STATE, workspace / "kept-state")
    (workspace / "kept").rename(workspace / "state.db-wal")
    (workspace / "kept-state").rename(workspace / STATE)
    (workspace / "state.sum").unlink(missing_ok=True)
    before = fingerprints(workspace)
    assert "is whole" in refusal(workspace).err
    assert fingerprints(workspace) == before


@pytest.mark.parametrize("work", ["crawl", "index"])
def test_a_workspace_in_use_is_refused_by_name(copy: Copy, work: str) -> None:
    workspace = copy("segments")
    (workspace / STATE).unlink()
    with closing(WorkspaceLock(workspace, work)):
        before = fingerprints(workspace)
        assert f"another {work} (process " in refusal(workspace).err
        assert fingerprints(workspace) == before


def test_a_state_of_a_newer_version_is_refused(copy: Copy) -> None:
    workspace = copy("segments")
    with rows_of(workspace) as rows:
        rows.execute(f"PRAGMA user_version = {CURRENT + 1}")
    before = fingerprints(workspace)
    assert "newer crawl4r" in refusal(workspace).err
    assert fingerprints(workspace) == before


def test_a_state_of_another_program_is_refused(copy: Copy) -> None:
    workspace = copy("segments")
    for name in (STATE, "state.sum"):
        (workspace / name).unlink()
    with closing(sqlite3.connect(workspace / STATE)) as connection:
        connection.execute("CREATE TABLE recipes (title TEXT)")
        connection.commit()
    before = fingerprints(workspace)
    assert "another program" in refusal(workspace).err
    assert fingerprints(workspace) == before


def test_a_link_in_its_place_is_refused(copy: Copy, tmp_path: Path) -> None:
    workspace = copy("segments")
    (workspace / STATE).rename(tmp_path / "elsewhere.db")
    (workspace / STATE).symlink_to(tmp_path / "elsewhere.db")
    before = (tmp_path / "elsewhere.db").read_bytes()
    assert "symbolic link" in refusal(workspace).err
    assert (tmp_path / "elsewhere.db").read_bytes() == before
    assert (workspace / STATE).is_symlink()


def test_a_link_in_the_place_of_the_new_file_is_not_followed(copy: Copy, tmp_path: Path) -> None:
    workspace = copy("segments")
    (workspace / STATE).unlink()
    target = tmp_path / "precious"
    target.write_text("mine")
    (workspace / "state.db.recovering").symlink_to(target)
    assert "symbolic link" in refusal(workspace).err
    assert target.read_text() == "mine"


def test_a_folder_without_a_crawl_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "there is no crawl in" in refusal(tmp_path).err
    assert fingerprints(tmp_path).keys() == {"notes.txt"}


def test_a_reset_takes_what_a_recovery_left(copy: Copy) -> None:
    workspace = copy("segments")
    (workspace / STATE).write_bytes((workspace / STATE).read_bytes()[:5000])
    assert run("recover", "-w", workspace).code == 0
    assert list(workspace.glob("state.db.damaged-*"))
    assert run("reset", "-w", workspace, "--yes").code == 0
    assert list(workspace.glob("state.db*")) == []
