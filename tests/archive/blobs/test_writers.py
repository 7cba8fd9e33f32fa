"""Two writers on one folder, in two processes: no segment has bytes of both."""

from __future__ import annotations

import fcntl
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from crawl4r.archive.blobs.segment_files import SegmentFiles
from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.storage.database import Database
from tests.interfaces.cli.running import wait_until
from tests.site.process import REPOSITORY


class Writer:
    """See `tests.archive.blobs.writer`."""

    def __init__(self, state: Path, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.archive.blobs.writer", str(state), str(folder)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, order: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def say(self, order: str) -> str:
        self.tell(order)
        return self.answer()

    def keep(self, *texts: str) -> list[str]:
        names = [self.say(f"add {text}") for text in texts]
        assert self.say("commit") == "committed"
        return names

    def segments(self) -> set[str]:
        return set(self.say("where").split())

    def end(self, by: signal.Signals | None = None) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if by:
            self.process.send_signal(by)
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class Place:
    """A folder of segments with its database, and writers that end with the test."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder / "segments"
        self._state = folder / "state.db"
        self._stack = stack

    def writer(self) -> Writer:
        writer = Writer(self._state, self.folder)
        self._stack.callback(lambda: writer.process.poll() is None and writer.end(signal.SIGKILL))
        return writer

    def database(self) -> Database:
        return self._stack.enter_context(closing(Database(self._state)))

    def assert_stored(self, texts: dict[str, str]) -> None:
        blobs = SegmentBlobs(self.folder, self.database(), writable=False)
        assert {name: blobs.read(name) for name in texts} == {
            name: text.encode() for name, text in texts.items()
        }
        blobs.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as stack:
        yield Place(tmp_path, stack)


def texts(who: str, count: int) -> list[str]:
    chance = random.Random(who)
    return [f"{who} {chance.randbytes(200).hex()}" for _ in range(count)]


def test_two_writers_never_touch_one_segment(place: Place) -> None:
    one = place.writer()
    kept = dict(zip(one.keep("first"), ["first"], strict=True))
    other = place.writer()
    for a, b in zip(texts("one", 30), texts("other", 30), strict=True):
        for writer, text in ((one, a), (other, b)):
            kept |= dict(zip(writer.keep(text), [text], strict=True))
    assert len(one.segments()) > 2
    assert one.segments() & other.segments() == set()
    place.assert_stored(kept)


def test_a_writer_leaves_the_unfinished_group_of_another_alone(place: Place) -> None:
    """Its synced records have no rows yet: they look like the tail of a killed writer."""
    one = place.writer()
    kept = dict(zip(one.keep("first"), ["first"], strict=True))
    waiting = one.say("add second")
    file = place.folder / "000001.c4s"
    before = file.read_bytes()
    other = place.writer()
    assert file.read_bytes() == before
    assert one.say("commit") == "committed"
    kept |= {waiting: "second"}
    kept |= dict(zip(other.keep("third"), ["third"], strict=True))
    kept |= dict(zip(one.keep("fourth"), ["fourth"], strict=True))
    assert other.segments() == {"000002.c4s"}
    place.assert_stored(kept)


def test_a_torn_tail_of_a_living_writer_is_not_cut(place: Place) -> None:
    one = place.writer()
    one.keep("first")
    file = place.folder / "000001.c4s"
    with file.open("ab") as torn:
        torn.write(b"half of a record")
    before = file.read_bytes()
    place.writer().keep("second")
    assert file.read_bytes() == before


def test_a_segment_of_a_killed_writer_is_taken_over(place: Place) -> None:
    one = place.writer()
    (first,) = one.keep("first")
    second = one.say("add second")
    one.end(signal.SIGKILL)
    other = place.writer()
    (third,) = other.keep("third")
    assert other.segments() == {"000001.c4s"}
    place.assert_stored({first: "first", second: "second", third: "third"})


def test_equal_bytes_that_two_writers_add_at_once_are_no_error(place: Place) -> None:
    one, other = place.writer(), place.writer()
    name = one.say("add same")
    other.tell("add same")  # it writes its own copy, and waits for the rows of the other
    second = place.folder / "000002.c4s"
    wait_until(lambda: second.exists() and second.stat().st_size > 0)
    assert one.say("commit") == "committed"
    assert other.answer() == name
    assert other.say("commit") == "committed"
    place.assert_stored({name: "same"})


def test_a_compaction_leaves_segments_of_a_living_writer_alone(place: Place) -> None:
    one = place.writer()
    names = one.keep(*texts("one", 4))
    held = one.segments()
    database = place.database()
    with closing(SegmentBlobs(place.folder, database)) as blobs:
        blobs.remove(names[:3])
        database.commit()
        done = blobs.compact()
        assert (done.rewritten, done.deleted, done.freed) == (0, 0, 0)
    assert held <= {path.name for path in place.folder.iterdir()}
    (more,) = one.keep("more")
    one.end()
    place.assert_stored({more: "more"})
    with closing(SegmentBlobs(place.folder, database)) as blobs:
        assert blobs.compact().freed > 0
    place.assert_stored({more: "more"})


def test_a_segment_that_is_deleted_before_it_is_locked_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer has just created it, and a compaction deletes empty ones."""
    lock = fcntl.flock

    def late_lock(fd: int, how: int) -> None:
        (tmp_path / "000001.c4s").unlink(missing_ok=True)
        lock(fd, how)

    monkeypatch.setattr(fcntl, "flock", late_lock)
    with closing(SegmentFiles(tmp_path, 0o644).create(1)) as segment:
        assert segment.path.exists()
        assert segment.number == 2
