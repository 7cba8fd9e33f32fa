"""Collections over both stores: what goes, what stays, and what is noted of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from crawl4r.archive.dropped import DroppedBytes
from crawl4r.archive.garbage import GarbageCollector, GcReport
from crawl4r.archive.retention import Retention
from crawl4r.storage.database import Database
from tests.archive.visits import (
    NOW,
    ORPHANS,
    PAGES,
    VERSIONS,
    body_of,
    files_of,
    make_store,
    newest,
    open_blobs,
    stored_versions,
)

KEEP_ALL = Retention()
DROPPED = (PAGES - 1) * (VERSIONS - 2)  # of all pages but the one that never changes


@pytest.fixture(params=["segments", "files"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, kind: str) -> Path:
    make_store(tmp_path / "ws", kind)
    return tmp_path / "ws"


@contextmanager
def collector(folder: Path, kind: str, retention: Retention) -> Iterator[GarbageCollector]:
    with (
        closing(Database(folder / "state.db")) as database,
        closing(open_blobs(kind, folder, database)) as blobs,
    ):
        yield GarbageCollector(database, blobs, retention, NOW)


def collect(folder: Path, kind: str, retention: Retention = KEEP_ALL) -> GcReport:
    with collector(folder, kind, retention) as gc:
        foreseen = gc.foresee()
        done = gc.run()
    foreseen.dry_run = False
    assert foreseen == done
    return done


def notes(folder: Path, kind: str) -> dict[str, str]:
    """What is told of the bytes that are not there."""
    with (
        closing(Database(folder / "state.db")) as database,
        closing(open_blobs(kind, folder, database)) as blobs,
    ):
        dropped = DroppedBytes(database, blobs.locate)
        hashes = [row[0].hex() for row in database.read("SELECT sha256 FROM dropped_blobs")]
        return {sha256: found.words() for sha256 in hashes if (found := dropped.of(sha256))}


def size_of(folder: Path) -> int:
    return sum(map(len, files_of(folder / "store").values()))


def test_by_default_only_bytes_of_no_capture_go(folder: Path, kind: str) -> None:
    before = size_of(folder)
    done = collect(folder, kind)
    assert (done.orphans, done.dropped, done.policy) == (ORPHANS, 0, "")
    assert done.freed == before - size_of(folder)
    assert stored_versions(kind, folder) == newest(VERSIONS)
    assert notes(folder, kind) == {}


def test_a_policy_drops_bytes_and_notes_each_of_them(folder: Path, kind: str) -> None:
    before = size_of(folder)
    done = collect(folder, kind, Retention(captures=2))
    assert (done.orphans, done.dropped) == (ORPHANS, DROPPED)
    assert done.bytes - done.orphan_bytes - done.dropped_bytes > 0
    assert done.freed == before - size_of(folder)
    assert stored_versions(kind, folder) == newest(2)
    told = notes(folder, kind)
    gone = {body_of(page, version) for page in range(PAGES - 1) for version in range(VERSIONS - 2)}
    assert told.keys() == {hashlib.sha256(body).hexdigest() for body in gone}
    assert {*told.values()} == {"dropped by gc on 2027-01-15: --keep-captures 2"}


def test_a_second_collection_finds_nothing(folder: Path, kind: str) -> None:
    collect(folder, kind, Retention(captures=2))
    before = files_of(folder / "store")
    done = collect(folder, kind, Retention(captures=2))
    assert (done.orphans, done.dropped, done.freed, done.rewritten) == (0, 0, 0, 0)
    assert files_of(folder / "store") == before


def test_the_words_of_a_policy_name_its_options() -> None:
    assert Retention(2, 30).words() == "--keep-captures 2 --keep-days 30"
    assert Retention(days=1.5).words() == "--keep-days 1.5"
    assert Retention().words() == ""


def test_bytes_that_come_back_are_not_told_as_dropped(folder: Path, kind: str) -> None:
    collect(folder, kind, Retention(captures=2))
    back = hashlib.sha256(body_of(0, 0)).hexdigest()
    assert back in notes(folder, kind)
    with (
        closing(Database(folder / "state.db")) as database,
        closing(open_blobs(kind, folder, database)) as blobs,
    ):
        assert blobs.add(body_of(0, 0), "text/html") == (back, True)
        blobs.flush()
        database.commit()
    assert back not in notes(folder, kind)
    collect(folder, kind)  # the captures need them, so they stay, and their note goes
    assert stored_versions(kind, folder)[0] == [0, 3, 4]
    with closing(Database(folder / "state.db")) as database:
        sql = "SELECT count(*) FROM dropped_blobs WHERE sha256 = ?"
        assert database.read(sql, (bytes.fromhex(back),)) == [(0,)]
    assert len(notes(folder, kind)) == DROPPED - 1


def test_steps_are_told_with_their_totals(folder: Path, kind: str) -> None:
    told: list[tuple[str, int, int]] = []
    with collector(folder, kind, Retention(captures=1)) as gc:
        done = gc.run(lambda *step: told.append(step))
    removed = done.orphans + done.dropped
    assert ("removing", removed, removed) in told
    if kind == "segments":
        assert told[-1] == ("compacting", done.segments, done.segments)
