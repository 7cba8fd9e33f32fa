"""kill -9 at any operation of a gc: what should have bytes has them, and the next gc goes on."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawl4r.archive.captures import Captures
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.storage.database import Database
from tests.archive.visits import (
    HOST,
    NOW,
    PAGES,
    VERSIONS,
    capture_of,
    files_of,
    make_store,
    newest,
    open_blobs,
    stored_versions,
)
from tests.faults.dying_often import DyingOften
from tests.faults.killing import KILLED

KEPT = 2
RANDOM_KILLS = max(40, int(os.environ.get("CRAWL4R_KILLS", "0")))
IN_THE_MIDDLE = ("during write store/*", "during commit state.db")


@pytest.fixture(scope="module")
def dying() -> Iterator[DyingOften]:
    with closing(DyingOften()) as process:
        yield process


class Gc:
    """A store to collect in, as often as a test likes, and what is to come of it."""

    def __init__(self, kind: str, folder: Path, dying: DyingOften) -> None:
        self.kind = kind
        self._folder = folder
        self._dying = dying
        self._copies = 0
        make_store(folder / "before", kind)
        self._trace = folder / "trace"
        whole = self.copy()
        assert self.run(whole, trace=self._trace) == 0
        self.stored = self.names(whole)
        self.size = size_of(whole)
        assert stored_versions(kind, whole) == newest(KEPT)

    def copy(self) -> Path:
        self._copies += 1
        place = self._folder / f"ws-{self._copies}"
        return Path(shutil.copytree(self._folder / "before", place))

    def run(self, workspace: Path, at: str = "", trace: Path | None = None) -> int:
        words = ("gc", "-w", workspace, "--keep-captures", str(KEPT), "--json")
        return self._dying.run(*words, at=at, trace=trace)

    def operations(self) -> list[str]:
        """Of a gc that is not disturbed, in order: name and path."""
        return self._trace.read_text().splitlines()

    def names(self, workspace: Path) -> list[str]:
        with (
            closing(Database(workspace / "state.db", read_only=True)) as database,
            closing(open_blobs(self.kind, workspace, database, writable=False)) as blobs,
        ):
            return [name for name, _ in blobs.stored()]

    def assert_nothing_is_lost(self, workspace: Path) -> None:
        """Every capture that should have bytes has them, and of all others it is known why not."""
        found = stored_versions(self.kind, workspace)  # which compares all bytes
        for page, versions in newest(KEPT).items():
            assert {*versions} <= {*found[page]}
        with (
            closing(Database(workspace / "state.db", read_only=True)) as database,
            closing(open_blobs(self.kind, workspace, database, writable=False)) as blobs,
        ):
            dropped = DroppedBytes(database, blobs.locate)
            for page in range(PAGES):
                captures = Captures(database).of_url(f"{HOST}/{page}")
                gone = [captures[n] for n in range(VERSIONS) if n not in found[page]]
                assert all(dropped.of(capture.sha256) for capture in gone)


def size_of(workspace: Path) -> int:
    return sum(map(len, files_of(workspace / "store").values()))


@pytest.fixture(params=["segments", "files"])
def gc(request: pytest.FixtureRequest, tmp_path: Path, dying: DyingOften) -> Gc:
    return Gc(str(request.param), tmp_path, dying)


def test_a_gc_killed_at_any_operation_loses_nothing_and_the_next_one_frees_the_same(
    gc: Gc,
) -> None:
    operations = gc.operations()
    deaths = [f"before * *#{number}" for number in range(1, len(operations) + 1)]
    writes = sum(line.startswith("write store/") for line in operations)
    commits = operations.count("commit state.db")
    for point, count in zip(IN_THE_MIDDLE, (writes, commits), strict=True):
        deaths += [f"{point}#{number}" for number in range(1, count + 1)]
    if gc.kind == "segments":
        assert writes > 0
        assert any(line.startswith("unlink store/") for line in operations)
    for death in deaths:
        workspace = gc.copy()
        assert gc.run(workspace, at=death) in KILLED, death
        gc.assert_nothing_is_lost(workspace)
        assert gc.run(workspace) == 0, death
        assert gc.names(workspace) == gc.stored, death
        assert size_of(workspace) == gc.size, death
        assert stored_versions(gc.kind, workspace) == newest(KEPT)
        shutil.rmtree(workspace)


def test_gcs_and_crawls_killed_again_and_again_lose_nothing(gc: Gc) -> None:
    """After each kill a writer goes on, as a crawl does at its start, and keeps a page."""
    chance = random.Random(f"gc {gc.kind}")
    most, kills = len(gc.operations()), 0
    while kills < RANDOM_KILLS:
        workspace, pages = gc.copy(), dict[str, bytes]()
        for number in range(5):
            code = gc.run(workspace, at=f"before * *#{chance.randint(1, most)}")
            if code == 0:
                break
            assert code in KILLED
            kills += 1
            keep_a_page(gc.kind, workspace, number, pages)
            gc.assert_nothing_is_lost(workspace)
        assert gc.run(workspace) == 0
        assert {*gc.names(workspace)} - {*pages} == {*gc.stored}
        assert stored_versions(gc.kind, workspace) == newest(KEPT)
        with (
            closing(Database(workspace / "state.db", read_only=True)) as database,
            closing(open_blobs(gc.kind, workspace, database, writable=False)) as blobs,
        ):
            assert {name: blobs.read(name) for name in pages} == pages
        shutil.rmtree(workspace)


def keep_a_page(kind: str, workspace: Path, number: int, pages: dict[str, bytes]) -> None:
    body = f"<p>Found after kill {number}</p>".encode() * 20
    with (
        closing(Database(workspace / "state.db")) as database,
        closing(open_blobs(kind, workspace, database)) as blobs,
    ):
        name, _ = blobs.add(body, "text/html")
        blobs.flush()
        Captures(database).add(capture_of(f"{HOST}/after/{number}", NOW, name))
        database.commit()
    pages[name] = body
