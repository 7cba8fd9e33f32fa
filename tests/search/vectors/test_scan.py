"""The embedded index of vectors: crashes, other processes, full disks and damage."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.search.port import Facets, Filters
from crawl4r.search.vectors.rows import ROW
from crawl4r.search.vectors.scan import ScanVectors
from tests.search.vectors.vector_model import DIMENSION, POOL, unit
from tests.search.vectors.vector_writer import BATCH, passage, vector_of

KILLS = 12
ANY = Filters()


def open_index(folder: Path, *, writable: bool = True) -> ScanVectors:
    return ScanVectors(folder, DIMENSION, writable=writable)


def fill(index: ScanVectors, numbers: range) -> None:
    index.put([passage(n) for n in numbers], np.stack([vector_of(n) for n in numbers]))


def found_in(index: ScanVectors, where: Filters = ANY) -> set[int]:
    return {found.number for found in index.nearest(vector_of(1), 10**6, where)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


def test_what_was_confirmed_survives_kill_9_at_any_moment(folder: Path) -> None:
    chance = random.Random(11)
    there: set[int] = set()  # as far as was confirmed, or seen
    gone: set[int] = set()
    retired: set[int] = set()
    for _ in range(KILLS):
        for name, *numbers in _calls_until_killed(folder, chance.randint(1, 12)):
            if name == "put":
                there.update(range(int(numbers[0]), int(numbers[1]) + 1))
            else:
                (retired if name == "retire" else gone).add(int(numbers[0]))
        last = max(there)
        index = open_index(folder, writable=False)
        found = found_in(index, Filters(as_of=1.5))
        # The call under way may have had its effect, and then the whole of it.
        assert there - gone - found <= {last - BATCH + 3}
        assert found - there in (set(), set(range(last + 1, last + BATCH + 1)))
        assert not found & gone
        assert not found_in(index) & retired
        for number, vector in index.vectors(list(found)).items():
            assert float(vector @ vector_of(number)) > 0.999
        for number in sorted(found)[-BATCH:]:
            assert found_in(index, Filters(as_of=1.5, collections=(str(number),))) == {number}
        index.close()
        there = found | gone
    assert len(there) > KILLS


def _calls_until_killed(folder: Path, calls: int) -> list[list[str]]:
    """What a writer confirmed that was killed after so many calls, in the middle of another."""
    command = [sys.executable, "-m", "tests.search.vectors.vector_writer", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        lines = [writer.stdout.readline() for _ in range(calls)]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
    return [line.split() for line in lines if line.endswith("\n")]


def test_a_reader_sees_what_another_process_writes(folder: Path) -> None:
    reader = open_index(folder, writable=False)
    assert found_in(reader) == set()
    command = [sys.executable, "-m", "tests.search.vectors.vector_writer", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        for _ in range(60):
            name, *numbers = writer.stdout.readline().split()
            last = int(numbers[-1])
            assert (last in found_in(reader)) == (name == "put")
        writer.kill()
    reader.close()


def test_a_reader_goes_on_with_the_index_that_replaced_its_own(folder: Path) -> None:
    old = open_index(folder)
    fill(old, range(1, 10))
    reader = open_index(folder, writable=False)
    assert len(found_in(reader)) == 9
    new = open_index(folder.with_name("new"))
    fill(new, range(20, 25))
    shutil.rmtree(folder)
    assert len(found_in(reader)) == 9
    folder.with_name("new").rename(folder)
    assert found_in(reader) == {20, 21, 22, 23, 24}
    for index in (old, new, reader):
        index.close()


def test_growing_by_many_steps_loses_nothing(folder: Path) -> None:
    index, reader = open_index(folder), open_index(folder, writable=False)
    chance = np.random.default_rng(3)
    vectors = unit(chance.standard_normal((20_000, DIMENSION)))
    for start in range(0, len(vectors), 1_700):
        some = vectors[start : start + 1_700]
        index.put([(start + n, Facets()) for n in range(len(some))], some)
        assert reader.count() == start + len(some)
    for number in (0, 4_095, 4_096, 19_999):
        assert reader.nearest(vectors[number], 1, ANY)[0].number == number
    index.close()
    reader.close()


def test_of_many_vectors_the_nearest_are_found(folder: Path) -> None:
    chance = np.random.default_rng(5)
    centres = chance.standard_normal((100, 384))
    vectors = unit(np.repeat(centres, 60, axis=0) + chance.standard_normal((6_000, 384)))
    index = ScanVectors(folder, 384, writable=True)
    index.put([(n, Facets(language="ab"[n % 2])) for n in range(6_000)], vectors)
    right = 0
    for number in range(0, 6_000, 60):
        cosines = vectors @ vectors[number]
        cosines[1::2] = -1
        expected = np.argsort(-cosines)[:10].tolist()
        found = index.nearest(vectors[number], 10, Filters(languages=("a",)))
        right += len({scored.number for scored in found} & set(expected))
    index.close()
    assert right / 1_000 >= 0.97


def test_a_second_writer_is_refused(folder: Path) -> None:
    first = open_index(folder)
    with pytest.raises(WorkspaceError, match="another process is writing"):
        open_index(folder)
    first.close()
    open_index(folder).close()


def test_a_torn_tail_is_passed_over_and_overwritten(folder: Path) -> None:
    index = open_index(folder)
    fill(index, range(1, 6))
    index.close()
    names = (folder / "names.jsonl").stat().st_size
    widths = {"vectors.bin": DIMENSION, "signs.bin": DIMENSION // 8, "rows.bin": ROW.itemsize}
    for name, valid in {"names.jsonl": names, **{n: 5 * w for n, w in widths.items()}}.items():
        with (folder / name).open("r+b") as file:
            file.seek(valid)
            file.write(b'\xff\xfe"torn' * 50)
    index = open_index(folder)
    assert found_in(index) == {1, 2, 3, 4, 5}
    fill(index, range(6, 9))
    index.close()
    index = open_index(folder, writable=False)
    assert found_in(index) == set(range(1, 9))
    assert found_in(index, Filters(collections=("7",))) == {7}
    index.close()


def test_a_head_torn_while_it_was_written_leaves_the_one_before(folder: Path) -> None:
    index = open_index(folder)
    fill(index, range(1, 4))
    fill(index, range(4, 7))
    index.close()
    with (folder / "head").open("r+b") as file:  # the third turn is in the first slot
        file.seek(20)
        file.write(b"\x99")
    index = open_index(folder)
    assert found_in(index) == {1, 2, 3}
    fill(index, range(7, 9))
    assert found_in(index) == {1, 2, 3, 7, 8}
    index.close()


@pytest.mark.parametrize("name", ["vectors.bin", "signs.bin", "rows.bin", "names.jsonl", "head"])
@pytest.mark.parametrize("size", [None, 0, 9])
@pytest.mark.parametrize("writable", [True, False])
def test_files_that_cannot_be_are_damage(
    folder: Path, name: str, size: int | None, writable: bool
) -> None:
    index = open_index(folder)
    fill(index, range(1, 6))
    index.close()
    if size is None:
        (folder / name).unlink()
    else:
        os.truncate(folder / name, size)
    if (name, size, writable) == ("head", None, False):
        return  # as before the first writer
    with pytest.raises(StorageDamaged, match="crawl4r index --rebuild"):
        open_index(folder, writable=writable)


def test_names_that_are_not_what_was_written_are_damage(folder: Path) -> None:
    index = open_index(folder)
    fill(index, range(1, 6))
    index.close()
    names = (folder / "names.jsonl").read_bytes()
    for wrong in (b"\x00" * len(names), b"1" * (len(names) - 1) + b"\n", b" " * len(names)):
        (folder / "names.jsonl").write_bytes(wrong)
        with pytest.raises(StorageDamaged, match="crawl4r index --rebuild"):
            open_index(folder)


def test_a_folder_that_cannot_be_made_is_an_error_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot write"):
        open_index(tmp_path / "file" / "vectors")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if os.getuid() or not shutil.which("mount") or subprocess.run(command, check=False).returncode:
        pytest.skip("cannot mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_leaves_the_index_usable(small_disk: Path) -> None:
    index = open_index(small_disk / "vectors")
    fill(index, range(1, 100))
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="space"), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    first = 100
    with pytest.raises(StorageFull, match="free some space"):
        while True:
            fill(index, range(first, first + 100))
            first += 100
    assert found_in(index) == set(range(1, first))
    index.retire([1], 2.0)
    index.delete([2])
    with pytest.raises(StorageFull):
        fill(index, range(first, first + 100))
    reader = open_index(small_disk / "vectors", writable=False)
    assert found_in(reader) == set(range(3, first))
    reader.close()
    ballast.unlink()
    fill(index, range(first, first + 100))
    assert found_in(index) == set(range(3, first + 100))
    index.close()


def test_a_limit_on_files_is_a_full_disk(folder: Path) -> None:
    index = open_index(folder)
    fill(index, range(1, 50))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StorageFull):
            fill(index, range(50, 5_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert found_in(index) == set(range(1, 50))
    fill(index, range(50, 60))
    assert found_in(index) == set(range(1, 60))
    index.close()


def test_a_question_of_no_direction_and_a_vector_of_none_do_no_harm(folder: Path) -> None:
    index = open_index(folder)
    index.put([(1, Facets()), (2, Facets())], np.stack([POOL[0] * 0, POOL[0]]))
    assert index.nearest(POOL[0] * 0, 5, ANY) == [(1, 0.0), (2, 0.0)]
    assert index.nearest(POOL[0], 1, ANY)[0].number == 2
    index.close()
