"""Files of other programs in the folder of a crawl: refused, never altered, never deleted."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.interfaces.cli.running import LOOPBACK, Background, crawl, run, wait_until
from tests.site.process import SiteProcess

COMMANDS = {
    "crawl": ("crawl", "http://127.0.0.1:1/"),
    "pages": ("pages",),
    "status": ("status",),
    "index": ("index",),
    "reset": ("reset", "--yes"),
    "a dry reset": ("reset", "--dry-run"),
}


def of_bookmarks(path: Path) -> None:
    """Another program's, with a log that it has not put into the file yet."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES (1)"
        )


def with_a_log(path: Path) -> None:
    """As it lies there after a crash: all tables are in the log."""
    work = path.with_name("work")
    work.mkdir()
    with closing(sqlite3.connect(work / path.name)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute("CREATE TABLE bookmarks (url TEXT)")
        for file in work.glob(f"{path.name}*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, path.parent)
    shutil.rmtree(work)


def signed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA application_id = 252006675")  # Fossil's
        database.execute("CREATE TABLE urls (url TEXT)")


def no_database(path: Path) -> None:
    path.write_text("state: dirty, beloved\n" * 20)


FOREIGN: dict[str, tuple[Callable[[Path], None], str]] = {
    "another schema": (of_bookmarks, "tables: bookmarks"),
    "another schema in its log": (with_a_log, "tables: bookmarks"),
    "another program's sign": (signed, "tables: urls"),
    "no database": (no_database, "is not an SQLite database"),
}


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_state_of_another_program_is_refused_and_left_alone(
    kind: str, command: str, tmp_path: Path
) -> None:
    make, words = FOREIGN[kind]
    make(tmp_path / "state.db")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "app.log").write_text("theirs")
    before = files_in(tmp_path)
    answer = run(*COMMANDS[command], "-w", tmp_path)
    assert answer.code == 2
    assert words in answer.err
    assert "--workspace" in answer.err
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_state_that_is_no_file_is_refused(kind: str, command: str, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    if kind == "folder":
        state.mkdir()
        (state / "inside").write_text("theirs")
    else:
        os.mkfifo(state)
    answer = run(*COMMANDS[command], "-w", tmp_path)
    assert answer.code == 2
    assert f"{state} is a" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["state.db"]


def test_an_empty_state_is_the_beginning_of_a_crawl(site: SiteProcess, tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    assert crawl(site.url("/site/4/"), tmp_path).json["new_pages"] == 4


def test_a_link_in_place_of_the_state_is_refused_and_its_target_stays(
    site: SiteProcess, tmp_path: Path
) -> None:
    target = tmp_path / "target.db"
    of_bookmarks(target)
    before = target.read_bytes()
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "state.db").symlink_to(target)
    answer = run("crawl", site.url("/site/4/"), "-w", workspace, *LOOPBACK)
    assert answer.code == 2
    assert "symbolic link" in answer.err
    assert run("reset", "--yes", "-w", workspace).code == 0
    assert not (workspace / "state.db").is_symlink()
    assert target.read_bytes() == before


def test_new_workspaces_are_signed_and_older_ones_get_the_sign(
    site: SiteProcess, tmp_path: Path
) -> None:
    def sign(number: int | None = None) -> int:
        with closing(sqlite3.connect(tmp_path / "state.db")) as database:
            if number is not None:
                database.execute(f"PRAGMA application_id = {number}")
            return int(database.execute("PRAGMA application_id").fetchone()[0])

    assert crawl(site.url("/site/4/"), tmp_path).code == 0
    ours = sign()
    assert ours
    assert sign(0) == 0
    (tmp_path / "state.sum").unlink()
    assert run("pages", "-w", tmp_path).text.count("\n") == 4
    assert crawl(site.url("/site/4/"), tmp_path).code == 0
    assert sign() == ours


def test_a_catalogue_of_another_program_is_refused_and_survives_a_reset(
    site: SiteProcess, tmp_path: Path
) -> None:
    workspace = tmp_path / "ws"
    assert crawl(site.url("/site/4/"), workspace).code == 0
    generation = workspace / "index" / "generation-1"
    generation.mkdir(parents=True)
    of_bookmarks(generation / "catalogue.db")
    (workspace / "index" / "current").write_text("generation-1")
    before = (generation / "catalogue.db").read_bytes()
    for command in (("index",), ("search", "page")):
        answer = run(*command, "-w", workspace, env={"CRAWL4R_EMBEDDER__KIND": "none"})
        assert answer.code == 2
        assert "catalogue.db is the database of another program" in answer.err
    answer = run("reset", "--yes", "-w", workspace, "--json")
    assert answer.code == 0
    assert answer.json["kept"] == [str(generation)]
    assert (generation / "catalogue.db").read_bytes() == before
    assert not (workspace / "state.db").exists()


def test_files_of_others_beside_and_below_a_crawl_survive_it_and_its_reset(
    site: SiteProcess, tmp_path: Path
) -> None:
    junk = {
        "notes.txt", "logs/app.log", "store/shop.csv", "store/segments/000001.txt", "index/index.html",
        "metadata/mine/x.json", "spool/mail", "health/h.json",
    }  # fmt: skip
    for name in junk:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"theirs: {name}")
    before = files_in(tmp_path)
    assert crawl(site.url("/site/4/"), tmp_path, "--logs").code == 0
    assert {name: files_in(tmp_path)[name] for name in junk} == before
    told = run("reset", "--dry-run", "-w", tmp_path, "--json").json
    below = {"logs/app.log", "store/shop.csv", "store/segments/000001.txt", "metadata/mine/x.json"}
    assert {str(Path(path).relative_to(tmp_path)) for path in told["kept"]} >= below
    answer = run("reset", "-w", tmp_path, stdin="y\n")
    assert answer.code == 0
    assert "not made by crawl4r, and left there" in answer.text
    left = files_in(tmp_path)
    left.pop("crawl.lock")
    assert left == before


def test_a_new_crawl_writes_over_no_file_that_has_the_name_of_one_of_ours(
    site: SiteProcess, tmp_path: Path
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "pages.csv").write_text("mine\n")
    before = files_in(tmp_path)
    answer = run("crawl", site.url("/site/4/"), "-w", tmp_path, "--logs", *LOOPBACK)
    assert answer.code == 2
    assert "logs/pages.csv" in answer.err
    assert run("reset", "--yes", "-w", tmp_path).code == 0
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(("has", "asked"), [("segments", "files"), ("files", "segments")])
def test_another_kind_of_store_than_the_workspace_has_is_refused(
    site: SiteProcess, tmp_path: Path, has: str, asked: str
) -> None:
    workspace, url = tmp_path / "ws", site.url("/site/4/")
    assert crawl(url, workspace, "--store", has).code == 0
    answer = run("crawl", url, "-w", workspace, "--store", asked, *LOOPBACK)
    assert answer.code == 2
    assert f"as {has}" in answer.err
    assert f"ask for {asked}" in answer.err
    assert "--workspace" in answer.err
    (workspace / "crawl4r.yaml").write_text(f"store: {{kind: {asked}}}\n")
    assert run("crawl", url, "-w", workspace, *LOOPBACK).code == 2
    assert run("get", url, "-w", workspace, "--raw").code == 0
    (workspace / "crawl4r.yaml").unlink()
    assert crawl(url, workspace, "--refresh").code == 0
    assert crawl(url, workspace, "--store", has).code == 0


def test_a_running_crawl_is_told_that_its_store_stays(site: SiteProcess, tmp_path: Path) -> None:
    site.hold()
    url = site.url("/site/4/")
    with Background("crawl", url, "-w", tmp_path, *LOOPBACK, "--json") as running:
        wait_until(lambda: site.held() == 1)
        (tmp_path / "crawl4r.yaml").write_text("store: {kind: files}\n")
        running.send(signal.SIGHUP)
        running.wait_until_it_says("settings_reloaded")
        assert "as segments" in running.err
        site.release()
        assert running.end().json["pages"] == 4
