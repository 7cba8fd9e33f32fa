"""Segments after a crash: whole records are adopted, a torn one is cut, nothing indexed is lost."""

from pathlib import Path

import pytest

from crawl4r.archive.blobs.segments import HEAD_BYTES, SegmentBlobs
from crawl4r.errors import StorageDamaged
from crawl4r.storage.database import Database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def body(number: int) -> bytes:
    return f"<p>page {number}</p>".encode() * 20


def crash_after_sync(folder: Path, database: Database, *numbers: int) -> list[str]:
    """The state after a crash between sync and commit: bytes on disk without their rows."""
    blobs = SegmentBlobs(folder, database)
    names = [blobs.add(body(number), "text/html")[0] for number in numbers]
    blobs.flush()
    database.rollback()
    blobs.close()
    return names


def keep(folder: Path, database: Database, *numbers: int, segment_bytes: int = 2**20) -> list[str]:
    blobs = SegmentBlobs(folder, database, segment_bytes=segment_bytes)
    names = []
    for number in numbers:
        names.append(blobs.add(body(number), "text/html")[0])
        blobs.flush()
    database.commit()
    blobs.close()
    return names


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.c4s"))


def assert_readable(folder: Path, database: Database, names: list[str]) -> None:
    blobs = SegmentBlobs(folder, database, writable=False)
    assert all(blobs.read(name) for name in names)


def test_whole_records_without_a_row_are_adopted(folder: Path, database: Database) -> None:
    names = keep(folder, database, 1) + crash_after_sync(folder, database, 2, 3)
    blobs = SegmentBlobs(folder, database)
    assert (blobs.adopted, blobs.cut) == (2, 0)
    assert [blobs.read(name) for name in names] == [body(1), body(2), body(3)]
    assert blobs.add(body(3), "text/html") == (names[2], False)
    blobs.close()


def test_adoption_is_durable(folder: Path, database: Database) -> None:
    names = crash_after_sync(folder, database, 1, 2)
    SegmentBlobs(folder, database).close()
    database.rollback()
    assert_readable(folder, database, names)


@pytest.mark.parametrize("kept", [1, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 5])
def test_a_torn_record_is_cut_wherever_it_was_torn(
    folder: Path, database: Database, kept: int
) -> None:
    names = keep(folder, database, 1)
    whole = segments(folder)[0].stat().st_size
    crash_after_sync(folder, database, 2)
    data = segments(folder)[0].read_bytes()
    segments(folder)[0].write_bytes(data[: whole + kept])

    blobs = SegmentBlobs(folder, database)
    assert (blobs.adopted, blobs.cut) == (0, kept)
    assert segments(folder)[0].stat().st_size == whole
    blobs.close()
    assert_readable(folder, database, names + keep(folder, database, 2, 3))


def test_a_record_before_the_torn_one_is_adopted(folder: Path, database: Database) -> None:
    names = crash_after_sync(folder, database, 1, 2)
    file = segments(folder)[0]
    file.write_bytes(file.read_bytes()[:-1])
    blobs = SegmentBlobs(folder, database)
    assert blobs.adopted == 1
    assert blobs.read(names[0]) == body(1)
    assert blobs.read(names[1]) is None
    blobs.close()


@pytest.mark.parametrize("tail", [b"\x00" * 5000, b"\xff" * 5000, b"c4r1" * 1000])
def test_a_tail_of_garbage_is_cut(folder: Path, database: Database, tail: bytes) -> None:
    names = keep(folder, database, 1)
    with segments(folder)[0].open("ab") as file:
        file.write(tail)
    blobs = SegmentBlobs(folder, database)
    assert (blobs.adopted, blobs.cut) == (0, len(tail))
    blobs.close()
    assert_readable(folder, database, names)


def test_a_segment_shorter_than_its_index_is_damage(folder: Path, database: Database) -> None:
    keep(folder, database, 1, 2)
    file = segments(folder)[0]
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StorageDamaged, match="it was cut or replaced"):
        SegmentBlobs(folder, database)


def test_a_segment_that_is_gone_is_damage(folder: Path, database: Database) -> None:
    keep(folder, database, 1)
    segments(folder)[0].unlink()
    with pytest.raises(StorageDamaged):
        SegmentBlobs(folder, database)


def test_a_full_segment_is_followed_by_another(folder: Path, database: Database) -> None:
    names = keep(folder, database, *range(20), segment_bytes=500)
    assert len(segments(folder)) > 3
    assert all(file.stat().st_size <= 500 for file in segments(folder))
    assert_readable(folder, database, names)


def test_a_group_may_span_two_segments(folder: Path, database: Database) -> None:
    blobs = SegmentBlobs(folder, database, segment_bytes=300)
    keepsake, _ = blobs.add(body(0), "text/html")
    blobs.flush()
    names = [blobs.add(body(number), "text/html")[0] for number in range(1, 9)]
    blobs.flush()
    database.commit()
    blobs.close()
    assert len(segments(folder)) > 1
    assert_readable(folder, database, [keepsake, *names])


def test_after_a_crash_that_spanned_segments_all_of_them_are_adopted(
    folder: Path, database: Database
) -> None:
    names = keep(folder, database, 1)
    blobs = SegmentBlobs(folder, database, segment_bytes=300)
    names += [blobs.add(body(number), "text/html")[0] for number in range(2, 9)]
    blobs.flush()
    database.rollback()
    blobs.close()
    adopting = SegmentBlobs(folder, database, segment_bytes=300)
    assert (adopting.adopted, adopting.cut) == (7, 0)
    adopting.close()
    assert_readable(folder, database, names)


def test_one_record_may_be_larger_than_a_segment(folder: Path, database: Database) -> None:
    assert_readable(folder, database, keep(folder, database, 1, 2, segment_bytes=10))


def test_a_foreign_file_in_the_store_is_passed_over(folder: Path, database: Database) -> None:
    names = keep(folder, database, 1)
    (folder / "notes.c4s").write_text("left by somebody else")
    SegmentBlobs(folder, database).close()
    assert_readable(folder, database, names)
