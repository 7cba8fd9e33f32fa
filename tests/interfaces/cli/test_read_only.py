"""A workspace that may only be read, and files of other programs: looked at, and left as they are."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tests.interfaces.cli.running import EXECUTABLE, Answer, crawl, environment, run
from tests.older_workspaces import set_back_to_8
from tests.site.process import SiteProcess

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="takes rights away, which only root can")
TEXT = "The harbour keeper paints the lighthouse before sunrise."
URL = "https://imported.invalid/a"
# Root without these rights is a user like any other to files that are not root's.
AS_ANOTHER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown")
READS = {
    "pages": ("pages",),
    "status": ("status", "--json"),
    "search": ("search", "lighthouse", "--json"),
    "similar": ("similar", URL),
    "why": ("why", URL),
    "get": ("get", URL, "--markdown"),
    "history": ("history", URL),
    "report": ("report", "imported.invalid"),
}
WRITES = {
    "crawl": ("crawl", "http://127.0.0.1:1/"),
    "index": ("index",),
    "reprocess": ("reprocess",),
    "replay": ("replay",),
    "reset": ("reset", "--yes"),
    "pause": ("pause",),
}


def contents(folder: Path) -> dict[str, str]:
    """Every file, with what is in it."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def wrapped(before: tuple[str, ...], *command: str | Path) -> Answer:
    ended = subprocess.run(
        [*before, str(EXECUTABLE), *map(str, command)],
        capture_output=True,
        env=environment(),
        check=False,
    )
    return Answer(ended.returncode, ended.stdout, ended.stderr.decode()).without_traceback()


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read-only")
    records = folder / "records.jsonl"
    records.write_text(json.dumps({"id": "a", "title": "Harbour", "text": TEXT}))
    assert run("import", records, "-w", folder / "ws").code == 0
    assert wrapped((), "index", "-w", folder / "ws").code == 0
    return folder / "ws"


@pytest.fixture
def of_another(indexed: Path, tmp_path: Path) -> Path:
    """Readable by all, and owned by another user."""
    place = tmp_path / "theirs"
    shutil.copytree(indexed, place)
    give_away(place)
    return place


def give_away(place: Path) -> None:
    for path in (place, *place.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o755 if path.is_dir() else 0o644)


@ROOT
@pytest.mark.parametrize("name", READS)
def test_a_workspace_of_another_user_can_be_read(name: str, of_another: Path) -> None:
    before = contents(of_another)
    answer = wrapped(AS_ANOTHER, *READS[name], "-w", of_another)
    assert answer.code == 0, answer.err
    if name == "search":
        assert [hit["text"] for hit in answer.json["results"]] == [TEXT]
    elif name != "status":  # which looks at the clock
        assert answer.text == run(*READS[name], "-w", of_another).text
    assert contents(of_another) == before


@ROOT
@pytest.mark.parametrize("name", WRITES)
def test_what_would_write_there_says_that_it_may_not(name: str, of_another: Path) -> None:
    before = contents(of_another)
    answer = wrapped(AS_ANOTHER, *WRITES[name], "-w", of_another)
    assert answer.code in {2, 4}
    assert str(of_another) in answer.err
    assert "ermission denied" in answer.err
    assert contents(of_another) == before


@ROOT
def test_a_workspace_on_a_read_only_disk_can_be_read_and_exported(
    indexed: Path, tmp_path: Path
) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    mount = f'mount --bind "{indexed}" "{place}" && mount -o remount,ro,bind "{place}" && exec "$@"'
    on_disk = ("unshare", "-m", "sh", "-c", mount, "sh")
    for command in READS.values():
        assert wrapped(on_disk, *command, "-w", place).code == 0
    found = wrapped(on_disk, "search", "lighthouse", "--json", "-w", place).json["results"]
    assert [hit["text"] for hit in found] == [TEXT]
    out = tmp_path / "texts.jsonl"
    assert wrapped(on_disk, "export", "jsonl", "--out", out, "-w", place).code == 0
    assert TEXT in out.read_text()
    answer = wrapped(on_disk, "crawl", "http://127.0.0.1:1/", "-w", place)
    assert answer.code in {2, 4}
    assert "Read-only file system" in answer.err


@ROOT
def test_it_can_be_read_while_its_owner_writes_and_after_a_crash(
    site: SiteProcess, tmp_path: Path
) -> None:
    place = tmp_path / "ws"
    assert crawl(site.url("/site/4/"), place).code == 0
    with closing(sqlite3.connect(place / "state.db")) as writer:  # its log stays open
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO notes VALUES ('one more', 'row')")
        writer.commit()
        give_away(place)
        before = contents(place)
        answer = wrapped(AS_ANOTHER, "pages", "--json", "-w", place)
        assert answer.code == 0, answer.err
        assert len([page for page in answer.lines if page["state"] == "done"]) == 4
        assert contents(place).keys() == before.keys()
        copy = tmp_path / "crashed"  # a log, and no index of it
        copy.mkdir()
        for name in ("state.db", "state.db-wal"):
            shutil.copy(place / name, copy)
        shutil.copytree(place / "store", copy / "store")
    give_away(copy)
    before = contents(copy)
    answer = wrapped(AS_ANOTHER, "pages", "--json", "-w", copy)
    assert answer.code == 0, answer.err
    assert len([page for page in answer.lines if page["state"] == "done"]) == 4
    assert contents(copy) == before


@ROOT
def test_one_that_an_older_version_wrote_is_read_from_a_copy(indexed: Path, tmp_path: Path) -> None:
    place = tmp_path / "old"
    shutil.copytree(indexed, place)
    set_back_to_8(place)
    give_away(place)
    before = contents(place)
    answer = wrapped(AS_ANOTHER, "pages", "-w", place)
    assert answer.code == 0, answer.err
    assert contents(place) == before


@ROOT
def test_a_state_that_may_not_be_read_says_so(of_another: Path) -> None:
    (of_another / "state.db").chmod(0o600)
    answer = wrapped(AS_ANOTHER, "pages", "-w", of_another)
    assert answer.code == 2
    assert "may not be read by this user" in answer.err
