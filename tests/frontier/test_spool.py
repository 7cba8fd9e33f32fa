"""The spool: whole lines in order, whatever becomes of the files (G7)."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawl4r.errors import StorageFull
from crawl4r.frontier.spool import (
    Bookmark,
    Discovery,
    SpoolReader,
    SpoolWriter,
    parse_line,
    segment_names,
)
from crawl4r.frontier.spool_progress import SpoolProgress, backlog_of, read_progress, write_progress


def discovery(number: int) -> Discovery:
    url = f"http://e.org/{number}"
    return Discovery(url, "page", number % 5, "http://e.org/", {"number": number})


def numbers(reader: SpoolReader, bookmark: Bookmark = Bookmark()) -> list[int]:  # noqa: B008
    """Everything past a bookmark, in small bites."""
    found: list[int] = []
    while True:
        batch = reader.read(bookmark, 3)
        if batch.bookmark == bookmark:
            return found
        found += [item.metadata["number"] for item in batch.discoveries]
        bookmark = batch.bookmark


def write(folder: Path, first: int, last: int, segment_bytes: int = 200) -> SpoolWriter:
    writer = SpoolWriter(folder, segment_bytes)
    for number in range(first, last + 1):
        writer.append([discovery(number)])
    writer.close()
    return writer


def test_a_line_has_the_five_keys_that_other_programs_read(tmp_path: Path) -> None:
    write(tmp_path, 1, 1)
    (segment,) = tmp_path.iterdir()
    assert json.loads(segment.read_text()) == {
        "url": "http://e.org/1",
        "page_type": "page",
        "depth": 1,
        "referrer": "http://e.org/",
        "metadata": {"number": 1},
    }


def test_segments_rotate_by_size_and_keep_their_order(tmp_path: Path) -> None:
    write(tmp_path, 1, 20)
    names = segment_names(tmp_path)
    assert len(names) > 3
    assert names == sorted(names)
    assert numbers(SpoolReader(tmp_path)) == list(range(1, 21))


def test_a_clock_that_is_set_back_does_not_change_the_order(tmp_path: Path) -> None:
    times = iter([2_000_000_000.0, 1_000_000_000.0, 1_500_000_000.0])
    writer = SpoolWriter(tmp_path, 1, wall=lambda: next(times))
    for number in (1, 2, 3):
        writer.append([discovery(number)])
    assert numbers(SpoolReader(tmp_path)) == [1, 2, 3]


def test_a_reader_goes_on_in_the_middle_of_a_segment(tmp_path: Path) -> None:
    write(tmp_path, 1, 10, segment_bytes=100_000)
    reader = SpoolReader(tmp_path)
    batch = reader.read(Bookmark(), 4)
    assert [item.metadata["number"] for item in batch.discoveries] == [1, 2, 3, 4]
    assert numbers(reader, Bookmark.from_text(batch.bookmark.as_text())) == list(range(5, 11))
    assert reader.unread(batch.bookmark) == 6


def test_a_torn_last_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    write(tmp_path, 1, 2, segment_bytes=100_000)
    (segment,) = tmp_path.iterdir()
    line = discovery(3).as_line()
    with segment.open("ab") as file:
        file.write(line[:20])
    reader = SpoolReader(tmp_path)
    batch = reader.read(Bookmark(), 100)
    assert len(batch.discoveries) == 2
    assert reader.read(batch.bookmark, 100).bookmark == batch.bookmark
    with segment.open("ab") as file:
        file.write(line[20:])
    assert numbers(reader, batch.bookmark) == [3]


def test_a_writer_cuts_what_its_predecessor_left_torn(tmp_path: Path) -> None:
    write(tmp_path, 1, 2, segment_bytes=100_000)
    (segment,) = tmp_path.iterdir()
    with segment.open("ab") as file:
        file.write(discovery(3).as_line()[:-5])
    assert SpoolWriter(tmp_path, 100_000).last_number == 2
    write(tmp_path, 3, 4, segment_bytes=100_000)
    assert numbers(SpoolReader(tmp_path)) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "text", [None, "", "nonsense", "{}", "[]", '["a"]', "[1, 2]", '["a", -1]', '["a", "b"]', "null"]
)
def test_a_bookmark_that_cannot_be_read_is_the_beginning(text: str | None) -> None:
    assert Bookmark.from_text(text) == Bookmark("", 0)


def test_a_bookmark_in_a_segment_that_is_gone_goes_on_with_the_next(tmp_path: Path) -> None:
    write(tmp_path, 1, 20)
    reader = SpoolReader(tmp_path)
    batch = reader.read(Bookmark(), 4)
    os.unlink(tmp_path / batch.bookmark.segment)
    left = numbers(reader, batch.bookmark)
    assert left == sorted(left)
    assert left[-1] == 20
    for name in segment_names(tmp_path):
        os.unlink(tmp_path / name)
    assert numbers(reader, batch.bookmark) == []
    assert numbers(SpoolReader(tmp_path / "never made")) == []


def test_a_bookmark_inside_a_line_reads_its_segment_anew(tmp_path: Path) -> None:
    """After a power cut the segment may hold other bytes than those that were read."""
    write(tmp_path, 1, 5, segment_bytes=100_000)
    (segment,) = tmp_path.iterdir()
    assert numbers(SpoolReader(tmp_path), Bookmark(segment.name, 17)) == [1, 2, 3, 4, 5]
    assert numbers(SpoolReader(tmp_path), Bookmark(segment.name, 10**9)) == [1, 2, 3, 4, 5]


def test_lines_that_are_no_discoveries_are_counted_and_passed_over(tmp_path: Path) -> None:
    write(tmp_path, 1, 1, segment_bytes=100_000)
    (segment,) = tmp_path.iterdir()
    bad = [
        b"not json",
        b"[]",
        b'{"depth": 1}',
        b'{"url": 7}',
        b'{"url": "http://e.org/", "depth": "x"}',
        b'{"url": "http://e.org/", "metadata": [1]}',
        b"\xff\xfe",
        b'{"url": "http://e.org/' + b"x" * 200_000 + b'"}',
        b"[" * 100_000,
    ]
    with segment.open("ab") as file:
        file.write(b"\n".join(bad) + b"\n\n" + discovery(2).as_line())
    batch = SpoolReader(tmp_path).read(Bookmark(), 100)
    assert [item.metadata["number"] for item in batch.discoveries] == [1, 2]
    assert batch.skipped >= len(bad)


def test_a_line_of_another_program_may_hold_the_url_alone() -> None:
    assert parse_line(b'{"url": "http://e.org/"}') == Discovery("http://e.org/")
    assert parse_line(b'{"url": "http://e.org/", "referrer": null, "metadata": null}') is not None


@contextmanager
def no_file_grows_past(size: int) -> Iterator[None]:
    """The kernel writes up to there, and refuses the rest, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path, 100_000)
    writer.append([discovery(1)])
    (segment,) = tmp_path.iterdir()
    room = segment.stat().st_size + 40  # not for a whole line
    with no_file_grows_past(room), pytest.raises(StorageFull, match="free some space"):
        writer.append([discovery(2), discovery(3)])
    assert writer.last_number == 1
    assert numbers(SpoolReader(tmp_path)) == [1]
    writer.append([discovery(2)])
    assert numbers(SpoolReader(tmp_path)) == [1, 2]


def test_only_segments_that_get_no_more_lines_are_drained(tmp_path: Path) -> None:
    write(tmp_path, 1, 20)
    reader = SpoolReader(tmp_path)
    names = segment_names(tmp_path)
    bookmark = reader.read(Bookmark(), 1000).bookmark
    assert [path.name for path in reader.drained(bookmark)] == names[:-1]
    assert reader.drained(Bookmark()) == []


def test_the_backlog_is_what_was_not_read_and_what_was_not_visited(tmp_path: Path) -> None:
    write(tmp_path / "discoveries", 1, 20)
    reader = SpoolReader(tmp_path / "discoveries")
    assert backlog_of(tmp_path, reader) == 20
    write_progress(tmp_path, SpoolProgress(reader.read(Bookmark(), 5).bookmark, 3))
    assert backlog_of(tmp_path, reader) == 18
    (tmp_path / "progress.json").write_text("{torn")
    assert read_progress(tmp_path) == SpoolProgress(Bookmark(), 0)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 4)),
        st.tuples(st.just("tear"), st.integers(1, 60)),
        st.tuples(st.just("read"), st.integers(1, 5)),
        st.tuples(st.just("crash"), st.just(0)),
        st.tuples(st.just("put away"), st.just(0)),
    ),
    max_size=30,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_every_discovery_is_read_once_in_any_order_of_events(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """A writer that dies torn goes on from its outbox; a reader that dies from its last bookmark."""
    folder = tmp_path_factory.mktemp("spool")
    writer, reader = SpoolWriter(folder, 300), SpoolReader(folder)
    announced, read = 0, []
    bookmark = Bookmark()
    for step, amount in steps:
        if step == "write":
            announced += amount
            writer.append([discovery(n) for n in range(writer.last_number + 1, announced + 1)])
        elif step == "tear" and segment_names(folder):
            announced += 1
            with (folder / segment_names(folder)[-1]).open("ab") as file:
                file.write(discovery(announced).as_line()[:amount].rstrip(b"\n"))
            writer.close()
            writer = SpoolWriter(folder, 300)
            writer.append([discovery(n) for n in range(writer.last_number + 1, announced + 1)])
        elif step == "read":
            batch = reader.read(bookmark, amount)
            read += [item.metadata["number"] for item in batch.discoveries]
            bookmark = Bookmark.from_text(batch.bookmark.as_text())
        elif step == "crash":
            reader.read(bookmark, 2)  # what was not committed is read again
        elif step == "put away":
            for segment in reader.drained(bookmark):
                segment.unlink()
    writer.close()
    read += numbers(reader, bookmark)
    assert read == list(range(1, announced + 1))
