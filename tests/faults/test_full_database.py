"""What SQLite takes back by itself when the disk is full is not mistaken for something else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.errors import StorageFull
from crawl4r.state.database import Database
from crawl4r.state.records import Notes
from tests.faults.small_disk import resize, small_disk


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with small_disk(tmp_path / "disk") as disk:
        opened = Database(disk / "state.db")
        try:
            yield opened
        finally:
            opened.close()


def write_until_it_is_full(notes: Notes) -> None:
    for number in range(20_000):
        notes.put(f"note {number}", "x" * 4096)


def test_half_a_group_is_never_committed(database: Database) -> None:
    notes = Notes(database)
    notes.put("before", "kept")
    database.commit()
    notes.put("first half", "lost")
    with pytest.raises(StorageFull):
        write_until_it_is_full(notes)
        database.commit()
    resize(database.path.parent, "64m")
    with pytest.raises(StorageFull):
        notes.put("second half", "must not be kept alone")
    with pytest.raises(StorageFull):
        database.commit()
    database.rollback()
    notes.put("after", "kept")
    database.commit()
    found = [notes.get(key) for key in ("before", "first half", "second half", "after")]
    assert found == ["kept", None, None, "kept"]
