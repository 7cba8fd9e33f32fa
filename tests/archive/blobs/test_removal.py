"""The contract of removal and compaction, tested on each store."""

from __future__ import annotations

import os
import random
import resource
from contextlib import closing
from pathlib import Path

import pytest

from crawl4r.archive.blobs.port import Compacted
from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.errors import StorageFull
from crawl4r.storage.database import Database
from tests.archive.blobs.test_blobs import Store, store

__all__ = ["store"]

SMALL = {"segment_bytes": 20_000}


def bodies(count: int) -> list[bytes]:
    chance = random.Random("removal")
    return [chance.randbytes(3_000) for _ in range(count)]


def keep(store: Store, *whole: bytes) -> list[str]:
    """Each body in a group of its own, so that segments fill up."""
    with store.run(**options_of(store)) as blobs:
        names = []
        for body in whole:
            names.append(blobs.add(body, "text/html")[0])
            blobs.flush()
    return names


def options_of(store: Store) -> dict[str, int]:
    return SMALL if store.kind == "segments" else {}


def size_of(store: Store) -> int:
    return sum(path.stat().st_size for path in store.files())


def remove(store: Store, names: list[str]) -> tuple[Compacted, Compacted]:
    """What was foreseen, and what was done."""
    with store.run(**options_of(store)) as blobs:
        foreseen = blobs.foresee(sorted(names))
        blobs.remove(names)
        store.database.commit()
        return foreseen, blobs.compact()


def test_every_stored_body_is_listed_with_its_bytes(store: Store) -> None:
    names = keep(store, *bodies(40))
    with store.run(**options_of(store)) as blobs:
        listed = list(blobs.stored())
    assert [name for name, _ in listed] == sorted(names)
    assert sum(size for _, size in listed) == size_of(store)


def test_more_bodies_are_listed_than_are_read_at_once(store: Store) -> None:
    with store.run() as blobs:
        names = [blobs.add(b"%d" % number, "")[0] for number in range(1_500)]
        blobs.flush()
        assert [name for name, _ in blobs.stored()] == sorted(names)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.9, 1])
def test_removed_bytes_are_gone_and_all_others_are_as_they_were(store: Store, share: float) -> None:
    whole = bodies(60)
    names = keep(store, *whole)
    before = size_of(store)
    doomed = random.Random(f"share {share}").sample(names, round(share * len(names)))
    foreseen, done = remove(store, doomed)
    assert foreseen == done
    assert before - size_of(store) == done.freed
    with store.run(writable=False) as blobs:
        for name, body in zip(names, whole, strict=True):
            assert blobs.read(name) == (None if name in doomed else body)
            assert bool(blobs.locate(name)) == (name not in doomed)
        assert [name for name, _ in blobs.stored()] == sorted({*names} - {*doomed})


def test_most_of_what_is_removed_is_given_back_to_the_disk(store: Store) -> None:
    names = keep(store, *bodies(60))
    before = size_of(store)
    remove(store, names[::2])
    assert size_of(store) < before * 0.7
    remove(store, names)
    assert size_of(store) == 0


def test_a_store_without_dead_bytes_stays_as_it_is(store: Store) -> None:
    keep(store, *bodies(20))
    before = {path: path.read_bytes() for path in store.files()}
    foreseen, done = remove(store, [])
    assert foreseen == done
    assert (done.freed, done.rewritten, done.deleted) == (0, 0, 0)
    assert {path: path.read_bytes() for path in store.files()} == before


def test_to_foresee_changes_nothing(store: Store) -> None:
    names = keep(store, *bodies(20))
    before = {path: path.read_bytes() for path in store.files()}
    with store.run(**options_of(store)) as blobs:
        assert blobs.foresee(sorted(names[:10])).freed > 0
        assert all(blobs.read(name) for name in names)
    assert {path: path.read_bytes() for path in store.files()} == before


def test_unknown_bytes_are_passed_over(store: Store) -> None:
    (name,) = keep(store, b"page")
    remove(store, ["ab" * 32])
    with store.run() as blobs:
        assert blobs.read(name) == b"page"


def test_the_store_goes_on_after_a_compaction(store: Store) -> None:
    whole = bodies(30)
    names = keep(store, *whole)
    with store.run(**options_of(store)) as blobs:
        blobs.remove(names[::2])
        store.database.commit()
        blobs.compact()
        again = [blobs.add(body, "text/html") for body in whole[:4]]
        assert again == [(name, name in names[::2]) for name in names[:4]]
        blobs.flush()
    with store.run(writable=False) as reading:
        kept = [name in names[1::2] or name in names[:4] for name in names]
        assert [reading.read(name) is not None for name in names] == kept


def test_a_reader_beside_a_compaction_finds_what_was_moved(store: Store) -> None:
    whole = bodies(30)
    names = keep(store, *whole)
    with store.run(writable=False) as reader:
        assert [reader.read(name) for name in names] == whole  # it knows every place by now
        remove(store, names[::2])
        assert [reader.read(name) for name in names[1::2]] == whole[1::2]
        for name, body in zip(names[::2], whole[::2], strict=True):
            assert reader.read(name) in {None, body}  # from a file that it has open


# The rest is about segments.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "segments"


def fill(folder: Path, database: Database, whole: list[bytes]) -> list[str]:
    with closing(SegmentBlobs(folder, database, **SMALL)) as blobs:
        names = []
        for body in whole:
            names.append(blobs.add(body, "text/html")[0])
            blobs.flush()
        database.commit()
    return names


def compact(folder: Path, database: Database, doomed: list[str]) -> Compacted:
    with closing(SegmentBlobs(folder, database, **SMALL)) as blobs:
        blobs.remove(doomed)
        database.commit()
        return blobs.compact()


def segments(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.c4s"))}


def test_only_segments_with_enough_dead_bytes_are_rewritten(
    folder: Path, database: Database
) -> None:
    names = fill(folder, database, bodies(18))  # six to a segment
    before = segments(folder)
    assert list(before) == ["000001.c4s", "000002.c4s", "000003.c4s"]
    done = compact(folder, database, [names[1], names[7], names[8]])
    assert (done.segments, done.rewritten, done.deleted) == (3, 1, 0)
    after = segments(folder)
    assert list(after) == ["000001.c4s", "000003.c4s", "000004.c4s"]
    assert after["000004.c4s"] == before["000002.c4s"] - done.freed
    assert {name: after[name] for name in ("000001.c4s", "000003.c4s")} == {
        name: before[name] for name in ("000001.c4s", "000003.c4s")
    }


def test_dead_bytes_at_the_end_are_cut_and_not_adopted_again(
    folder: Path, database: Database
) -> None:
    names = fill(folder, database, bodies(6))
    before = segments(folder)["000001.c4s"]
    done = compact(folder, database, [names[5]])
    assert (done.rewritten, done.deleted) == (0, 0)
    assert segments(folder) == {"000001.c4s": before - done.freed}
    with closing(SegmentBlobs(folder, database)) as blobs:
        assert (blobs.adopted, blobs.cut) == (0, 0)
        assert blobs.read(names[5]) is None


def test_what_was_dropped_by_policy_is_not_adopted_after_a_crash(
    folder: Path, database: Database
) -> None:
    names = fill(folder, database, bodies(6))
    with closing(SegmentBlobs(folder, database)) as blobs:
        database.write_many(
            "INSERT INTO dropped_blobs VALUES (?, 0, '')", [(bytes.fromhex(names[4]),)]
        )
        blobs.remove([names[4], names[5]])
        database.commit()
    # Killed here: the last two records are in the segment, without rows.
    with closing(SegmentBlobs(folder, database)) as blobs:
        assert blobs.adopted == 1
        assert [blobs.read(name) is not None for name in names[3:]] == [True, False, True]


def test_a_damaged_record_stays_with_its_segment_and_the_rest_goes_on(
    folder: Path, database: Database
) -> None:
    whole = bodies(18)
    names = fill(folder, database, whole)
    path = folder / "000001.c4s"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    before = segments(folder)
    done = compact(folder, database, [*names[2:5], *names[8:11]])
    assert len(done.damaged) == 1
    assert "000001.c4s" in done.damaged[0]
    assert done.rewritten == 1
    assert segments(folder)["000001.c4s"] == before["000001.c4s"]
    with closing(SegmentBlobs(folder, database)) as blobs:
        kept = [n for n in range(1, 18) if n not in {2, 3, 4, 8, 9, 10}]
        assert [blobs.read(names[n]) for n in kept] == [whole[n] for n in kept]


def test_a_full_disk_moves_nothing_and_the_next_compaction_goes_on(
    folder: Path, database: Database
) -> None:
    whole = bodies(18)
    names = fill(folder, database, whole)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(SegmentBlobs(folder, database, **SMALL)) as blobs:
        blobs.remove(names[7:10])
        database.commit()
        before = segments(folder)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
        try:
            with pytest.raises(StorageFull, match="free some space"):
                blobs.compact()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert segments(folder) == before
        assert [blobs.read(name) for name in names[:7]] == whole[:7]
        assert blobs.compact().rewritten == 1
        assert [blobs.read(name) for name in names[10:]] == whole[10:]


def test_a_segment_that_is_gone_or_cut_is_named(folder: Path, database: Database) -> None:
    names = fill(folder, database, bodies(18))
    (folder / "000001.c4s").unlink()
    os.truncate(folder / "000002.c4s", 5_000)
    done = compact(folder, database, [names[15]])
    assert len(done.damaged) == 2
    assert "000001.c4s is gone" in done.damaged[0]
    assert "000002.c4s has 5000 bytes" in done.damaged[1]
    with closing(SegmentBlobs(folder, database)) as blobs:
        assert blobs.read(names[16])


def test_records_that_no_row_names_go_with_the_next_compaction(
    folder: Path, database: Database
) -> None:
    """A rotated segment of a crawl that was killed before its commit, when a later one went on."""
    names = fill(folder, database, bodies(12))
    database.write("DELETE FROM blobs WHERE segment = 1")
    database.commit()
    done = compact(folder, database, [])
    assert (done.deleted, list(segments(folder))) == (1, ["000002.c4s"])
    with closing(SegmentBlobs(folder, database)) as blobs:
        assert [blobs.read(name) is not None for name in names] == [False] * 6 + [True] * 6
