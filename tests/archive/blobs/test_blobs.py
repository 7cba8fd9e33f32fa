"""The contract of stores for page bytes, tested on each store (G5, G10)."""

import hashlib
import os
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crawl4r.archive.blobs.files import FileBlobs
from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.errors import StorageDamaged, StorageFull
from crawl4r.storage.database import Database

NOISE = random.Random(1).randbytes(300_000)  # does not compress
BODIES = [b"<p>one</p>", b"<p>two</p>" * 5000, b"", NOISE, "é\u2028\x00".encode()]


class Store:
    """One of the stores, reopened like in separate runs."""

    def __init__(self, kind: str, folder: Path, database: Database) -> None:
        self.kind = kind
        self.folder = folder
        self.database = database

    @contextmanager
    def run(self, **options: Any) -> Iterator[Blobs]:
        """A run that ends well: what was flushed is committed."""
        blobs: Blobs = (
            FileBlobs(self.folder, **options)
            if self.kind == "files"
            else SegmentBlobs(self.folder, self.database, **options)
        )
        yield blobs
        self.database.commit()
        blobs.close()

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture(params=["segments", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path, database: Database) -> Store:
    return Store(request.param, tmp_path / "store", database)


def keep(store: Store, *bodies: bytes, **options: Any) -> list[str]:
    with store.run(**options) as blobs:
        names = [blobs.add(body, "text/html")[0] for body in bodies]
        blobs.flush()
    return names


def test_the_name_of_bytes_is_their_sha256(store: Store) -> None:
    assert keep(store, *BODIES) == [hashlib.sha256(body).hexdigest() for body in BODIES]


def test_bytes_come_back_as_they_were(store: Store) -> None:
    names = keep(store, *BODIES)
    with store.run() as blobs:
        assert [blobs.read(name) for name in names] == BODIES


def test_equal_bytes_are_kept_once(store: Store) -> None:
    with store.run() as blobs:
        assert blobs.add(b"same", "text/html")[1]
        assert not blobs.add(b"same", "text/html")[1]
        blobs.flush()
        assert not blobs.add(b"same", "application/pdf")[1]
    size = sum(path.stat().st_size for path in store.files())
    with store.run() as blobs:
        assert not blobs.add(b"same", "text/html")[1]
        blobs.flush()
    assert sum(path.stat().st_size for path in store.files()) == size


def test_bytes_never_stored_are_none(store: Store) -> None:
    keep(store, b"something else")
    with store.run() as blobs:
        assert blobs.read("ab" * 32) is None
        assert blobs.locate("ab" * 32) == ""


def test_what_was_not_flushed_is_dropped(store: Store) -> None:
    with store.run() as blobs:
        kept, _ = blobs.add(b"kept", "text/html")
        blobs.flush()
        lost, _ = blobs.add(b"lost", "text/html")
    with store.run() as blobs:
        assert blobs.read(kept) == b"kept"
        assert blobs.read(lost) is None
        assert blobs.add(b"lost", "text/html") == (lost, True)


def test_the_place_of_bytes_is_known_before_and_after_the_flush(store: Store) -> None:
    with store.run() as blobs:
        name, _ = blobs.add(b"page", "text/html")
        place = blobs.locate(name)
        blobs.flush()
        assert place
        assert blobs.locate(name) == place
    assert (store.folder / place.partition("@")[0]).is_file()


def test_a_store_can_be_read_without_being_written(store: Store) -> None:
    (name,) = keep(store, b"page")
    with store.run(writable=False) as blobs:
        assert blobs.read(name) == b"page"


def test_reading_an_absent_store_makes_no_folder(store: Store) -> None:
    with store.run(writable=False) as blobs:
        assert blobs.read("ab" * 32) is None
    assert not store.folder.exists()


def flip_last_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 0xFF
    path.write_bytes(data)


def cut_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("damage", [flip_last_byte, cut_a_byte, zero])
def test_bytes_that_changed_are_reported(store: Store, damage: Any) -> None:
    (name,) = keep(store, NOISE)
    damage(store.files()[0])
    with pytest.raises(StorageDamaged), store.run(writable=False) as blobs:
        blobs.read(name)


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o664])
def test_stored_files_have_the_permissions_that_were_asked_for(
    store: Store, permissions: int
) -> None:
    umask = os.umask(0o027)
    try:
        keep(store, b"page", permissions=permissions)
    finally:
        os.umask(umask)
    assert {path.stat().st_mode & 0o777 for path in store.files()} == {permissions}


def test_a_full_disk_keeps_none_of_the_group_and_the_store_goes_on(store: Store) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with store.run() as blobs:
        first, _ = blobs.add(b"first", "text/html")
        blobs.flush()
        blobs.add(NOISE, "text/html")
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(StorageFull, match="free some space"):
                blobs.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        name, is_new = blobs.add(NOISE, "text/html")
        assert is_new
        assert blobs.read(name) is None
        blobs.flush()
    with store.run() as blobs:
        assert (blobs.read(first), blobs.read(name)) == (b"first", NOISE)


def test_a_folder_that_cannot_be_made_is_a_clear_error(store: Store, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file in the way")
    with pytest.raises(Exception, match="cannot make"), store.run():
        pass
