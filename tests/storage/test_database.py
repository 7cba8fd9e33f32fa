"""state.db: it upgrades itself, refuses what it cannot read, and has one holder (R2)."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from crawl4r.errors import StorageDamaged, StorageError, WorkspaceError
from crawl4r.model import HostMemory
from crawl4r.storage.crawls import STORE, CrawlNotes
from crawl4r.storage.database import Database
from crawl4r.storage.lock import WorkspaceLock, holder_of
from crawl4r.storage.migrations import CURRENT, VERSIONS
from crawl4r.storage.tables import HostMemories, Notes, RobotsRecord, RobotsRecords

ROWS = """
INSERT INTO hosts (id, name) VALUES (1, 'e.org');
INSERT INTO urls (id, url, host_id, state, priority, depth, found_by, found_at, rule, verdict)
    VALUES (1, 'http://e.org/', 1, 'done', 0, 0, 'seed', 0, '', 'ok'),
           (2, 'http://e.org/a', 1, 'done', 1, 1, 'link', 0, '', 'not-modified'),
           (3, 'http://e.org/b', 1, 'done', 1, 1, 'link', 0, '', 'http-error'),
           (4, 'http://e.org/c', 1, 'pending', 1, 1, 'link', 0, '', NULL);
INSERT INTO captures (url_id, fetched_at, status, verdict, reason, bytes, content_type, encoding,
                      headers, page_type, depth, latency_ms, retries, proxy, http_version, address)
    VALUES (1, 0, 200, 'ok', '', 100, '', '', '[]', '', 0, 0, 0, '', '', ''),
           (3, 0, 404, 'http-error', '', 11, '', '', '[]', '', 0, 0, 0, '', '', '');
INSERT INTO notes VALUES ('seeds', 'http://e.org/');
"""


MANY_CRAWLS = 12  # the first format in which URLs belong to a crawl


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def write_format(path: Path, version: int) -> None:
    """A database as the crawl4r of that format left it."""
    with sqlite3.connect(path) as connection:
        for number in range(1, version + 1):
            connection.executescript(VERSIONS[number])
        if version < MANY_CRAWLS:
            connection.executescript(ROWS)
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_format_1_upgrades_itself_and_keeps_its_rows(
    path: Path, read_only: bool
) -> None:
    write_format(path, 1)
    database = Database(path, read_only=read_only)
    assert database.read("PRAGMA user_version") == [(CURRENT,)]
    assert database.read("SELECT count(*) FROM urls") == [(4,)]
    assert Notes(database).get("seeds") == "http://e.org/"
    assert Notes(database).tally("pages") == 2
    assert Notes(database).tally("bytes") == 111
    assert Notes(database).tally("status_2xx") == Notes(database).tally("status_4xx") == 1
    database.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_upgrade_ends_in_the_schema_of_a_new_database(path: Path, version: int) -> None:
    def schema(file: Path) -> set[str]:
        database = Database(file)
        rows = database.read("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        database.close()
        return {sql for (sql,) in rows}

    write_format(path, version)
    assert schema(path) == schema(path.with_name("new.db"))


def test_a_database_of_a_newer_format_is_refused(path: Path) -> None:
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {CURRENT + 1}")
    connection.close()
    for read_only in (False, True):
        with pytest.raises(WorkspaceError, match="newer crawl4r"):
            Database(path, read_only=read_only)


@pytest.mark.parametrize(
    "content", [b"hello", b"hello " * 1000, b"\x00" * 4096, b"SQLite format 3"]
)
def test_a_file_that_is_no_database_is_a_clear_error(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises((StorageDamaged, WorkspaceError), match=str(path)):
        Database(path).read("SELECT count(*) FROM urls")
    assert path.read_bytes() == content


def test_a_folder_in_the_place_of_the_database_is_a_clear_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(WorkspaceError, match=str(path)):
        Database(path)


def test_looking_where_nothing_was_crawled_is_a_clear_error(path: Path) -> None:
    with pytest.raises(WorkspaceError, match="there is no crawl in"):
        Database(path, read_only=True)
    assert not path.exists()


@pytest.mark.parametrize("name", ["what?", "50%41", "a#b", "with blank", "é"])
def test_a_workspace_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    Database(folder / "state.db").close()
    reading = Database(folder / "state.db", read_only=True)
    assert reading.read("SELECT count(*) FROM urls") == [(0,)]
    reading.close()


def test_reading_changes_nothing(path: Path) -> None:
    Database(path).close()
    database = Database(path, read_only=True)
    with pytest.raises((WorkspaceError, StorageError)):
        Notes(database).put("key", "value")
    database.close()


def test_a_group_is_kept_whole_or_not_at_all(path: Path) -> None:
    database = Database(path)
    Notes(database).put("first", "1")
    database.commit()
    Notes(database).put("second", "2")
    CrawlNotes(database, STORE).count("pages", 5)
    database.close()
    database = Database(path)
    assert (Notes(database).get("first"), Notes(database).get("second")) == ("1", None)
    assert Notes(database).tally("pages") == 0
    database.close()


@pytest.mark.parametrize("is_synced", [True, False])
def test_a_transaction_is_kept_whole_or_not_at_all(path: Path, is_synced: bool) -> None:
    database, other = Database(path), Database(path)
    with database.transaction(is_synced=is_synced):
        Notes(database).put("first", "1")
    assert Notes(other).get("first") == "1"
    with pytest.raises(KeyError), database.transaction(is_synced=is_synced):
        Notes(database).put("second", "2")
        raise KeyError
    Notes(other).put("third", "3")  # no lock is left
    other.commit()
    assert [Notes(database).get(key) for key in ("first", "second", "third")] == ["1", None, "3"]
    assert database.read("PRAGMA synchronous") == [(2,)]
    database.close()
    other.close()


def test_a_transaction_within_another_undoes_only_its_own_writes(path: Path) -> None:
    database, other = Database(path), Database(path)
    Notes(database).put("first", "1")
    with pytest.raises(KeyError), database.transaction():
        Notes(database).put("second", "2")
        raise KeyError
    with database.transaction(is_synced=False):
        Notes(database).put("third", "3")
    assert Notes(other).get("first") is None, "the owner of the open transaction commits it"
    database.commit()
    assert [Notes(other).get(key) for key in ("first", "second", "third")] == ["1", None, "3"]
    database.close()
    other.close()


def test_every_commit_is_synced(path: Path) -> None:
    database = Database(path)
    assert database.read("PRAGMA synchronous") == [(2,)]
    assert database.read("PRAGMA journal_mode") == [("wal",)]
    database.close()


def test_small_records_come_back_as_they_were(path: Path) -> None:
    database = Database(path)
    record = RobotsRecord("http://e.org", "rules", 200, b"User-agent: *\xff", 1.0, 2.0)
    RobotsRecords(database).put(record)
    assert RobotsRecords(database).get("http://e.org") == record
    RobotsRecords(database).forget(["rules"])
    assert RobotsRecords(database).get("http://e.org") is None
    resting = HostMemory("a.org", 500.0, 2.0, 0, 0, 0.0)
    failing = HostMemory("b.org", 1.0, 0.0, 3, 1, 9.0)
    HostMemories(database).save([resting, failing, HostMemory("c.org", 1.0, 0.0, 0, 0, 0.0)])
    assert HostMemories(database).load(now=100.0) == [resting, failing]
    database.close()


def test_a_second_holder_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    first = WorkspaceLock(tmp_path)
    with pytest.raises(WorkspaceError, match=rf"process {os.getpid()}\b"):
        WorkspaceLock(tmp_path)
    assert holder_of(tmp_path) == os.getpid()
    first.close()
    assert holder_of(tmp_path) is None
    WorkspaceLock(tmp_path).close()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal, sys; from crawl4r.storage.lock import WorkspaceLock;"
        "lock = WorkspaceLock(pathlib.Path(sys.argv[1])); print(os.getpid(), flush=True);"
        "signal.pause()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        with pytest.raises(WorkspaceError, match=str(pid)):
            WorkspaceLock(tmp_path)
        holder.kill()
    WorkspaceLock(tmp_path).close()
