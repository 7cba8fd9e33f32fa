"""The spool of separated mode: what a discoverer found, one JSON line each, in rotated segments.

One process appends, another reads on from its bookmark. A line counts once it is whole. Names of
segments grow (`discoveries-<time>-<n>.jsonl`), so their order is the order of the discoveries.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

from crawl4r.errors import StorageFull, WorkspaceError
from crawl4r.storage.fsync import sync_folder, write_all
from crawl4r.storage.own_files import open_own

_NAME = re.compile(r"discoveries-(\d{8}T\d{6})-(\d{6,})\.jsonl")
_BLOCK = 1024 * 1024
_LONGEST_LINE = 64 * 1024  # bytes; a longer one is skipped, in blocks


class Discovery(NamedTuple):
    """A URL that belongs to the crawl, as one line of the spool tells it."""

    url: str
    page_type: str = ""
    depth: int = 0
    referrer: str | None = None
    metadata: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def as_line(self) -> bytes:
        return json.dumps(self._asdict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class Bookmark(NamedTuple):
    """How far a reader is: everything before this place is durable on its side."""

    segment: str = ""  # empty: nothing was read yet
    offset: int = 0

    @staticmethod
    def from_text(text: str | None) -> Bookmark:
        """A bookmark that cannot be read is one at the very beginning: reading again does no harm."""
        try:
            segment, offset = json.loads(text or "")
            if isinstance(segment, str) and isinstance(offset, int) and offset >= 0:
                return Bookmark(segment, offset)
        except (ValueError, TypeError):
            pass
        return Bookmark()

    def as_text(self) -> str:
        return json.dumps(self)


class SpoolBatch(NamedTuple):
    """What one look into the spool gave."""

    discoveries: Sequence[Discovery]
    skipped: int  # lines that say nothing we understand
    bookmark: Bookmark  # where to go on


class SpoolWriter:
    """Appends discoveries; a torn tail of a writer that died is cut off."""

    def __init__(
        self, folder: Path, segment_bytes: int, wall: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._wall = wall
        self._fd = -1
        self._size = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise WorkspaceError(f"cannot make {folder}: {problem.strerror}") from problem
        names = segment_names(folder)
        self._name = names[-1] if names else ""
        self.last_number = 0  # of the last discovery that is in the spool
        if names:
            self._reopen()

    def append(self, discoveries: Sequence[Discovery]) -> None:
        """Durable when it returns; on StorageFull nothing of it is in the spool."""
        if not discoveries:
            return
        if self._fd < 0 or self._size >= self._segment_bytes:
            self._begin_segment()
        data = b"".join(discovery.as_line() for discovery in discoveries)
        try:
            os.lseek(self._fd, self._size, os.SEEK_SET)
            write_all(self._fd, data)
            os.fdatasync(self._fd)
        except OSError as problem:
            os.ftruncate(self._fd, self._size)
            raise self._full(problem) from problem
        self._size += len(data)
        self.last_number = int(discoveries[-1].metadata.get("number", 0))

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _reopen(self) -> None:
        self._open(os.O_RDWR)
        size = os.fstat(self._fd).st_size
        tail = os.pread(self._fd, _BLOCK, max(0, size - _BLOCK))
        end = tail.rfind(b"\n") + 1
        self._size = size - (len(tail) - end)
        os.ftruncate(self._fd, self._size)
        lines = tail[:end].splitlines()
        discovery = parse_line(lines[-1]) if lines else None
        number = discovery.metadata.get("number") if discovery else None
        self.last_number = number if isinstance(number, int) else 0

    def _begin_segment(self) -> None:
        self.close()
        self._name = _next_name(self._name, self._wall())
        self._open(os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self._size = 0
        try:
            sync_folder(self._folder)
        except OSError as problem:
            raise self._full(problem) from problem

    def _open(self, flags: int) -> None:
        try:
            self._fd = open_own(self._folder / self._name, flags, 0o644)
        except OSError as problem:
            raise self._full(problem) from problem

    def _full(self, problem: OSError) -> StorageFull:
        return StorageFull(
            f"cannot write {self._folder / self._name}: {problem.strerror}; "
            "free some space and run the command again"
        )


class SpoolReader:
    """Reads whole lines on from a bookmark. Segments that are gone are passed over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, bookmark: Bookmark, most: int) -> SpoolBatch:
        """Up to about `most` discoveries; an empty batch means that the reader has caught up."""
        found: list[Discovery] = []
        skipped = 0
        for name in self._names_from(bookmark):
            offset = self._sound_offset(name, bookmark) if name == bookmark.segment else 0
            lines, offset = self._whole_lines(name, offset, most - len(found))
            for line in lines:
                if discovery := parse_line(line):
                    found.append(discovery)
                elif line.strip():
                    skipped += 1
            bookmark = Bookmark(name, offset)
            if len(found) >= most:
                break
        return SpoolBatch(found, skipped, bookmark)

    def unread(self, bookmark: Bookmark, stop_at: int = 1_000_000) -> int:
        """Lines past the bookmark; not counted much further than `stop_at`."""
        count = 0
        for name in self._names_from(bookmark):
            offset = bookmark.offset if name == bookmark.segment else 0
            with _opened(self.folder / name) as file:
                file.seek(offset)
                while count < stop_at and (block := file.read(_BLOCK)):
                    count += block.count(b"\n")
        return count

    def drained(self, bookmark: Bookmark) -> list[Path]:
        """Segments that were read to their end and get no more lines: the writer is past them."""
        names = [name for name in segment_names(self.folder) if name < bookmark.segment]
        return [self.folder / name for name in names]

    def _names_from(self, bookmark: Bookmark) -> list[str]:
        return [name for name in segment_names(self.folder) if name >= bookmark.segment]

    def _sound_offset(self, name: str, bookmark: Bookmark) -> int:
        """The bookmark's offset where a line ends there; a segment that was replaced is read anew."""
        if bookmark.offset == 0:
            return 0
        with _opened(self.folder / name) as file:
            file.seek(bookmark.offset - 1)
            return bookmark.offset if file.read(1) == b"\n" else 0

    def _whole_lines(self, name: str, offset: int, most: int) -> tuple[list[bytes], int]:
        lines: list[bytes] = []
        with _opened(self.folder / name) as file:
            file.seek(offset)
            while len(lines) < most and (line := file.readline(_LONGEST_LINE)):
                if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
                    break  # its writer is not done with it
                offset += len(line)
                lines.append(line)
        return lines, offset


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A segment, or an empty one in place of one that was taken away meanwhile."""
    try:
        file: IO[bytes] = path.open("rb")
    except FileNotFoundError:
        file = BytesIO()
    with file:
        yield file


def parse_line(line: bytes) -> Discovery | None:
    """None when the line is no discovery; other producers may leave out all but the URL."""
    try:
        plain = json.loads(line)
        url = plain["url"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    depth, metadata = plain.get("depth") or 0, plain.get("metadata") or {}
    referrer = plain.get("referrer")
    page_type = plain.get("page_type") or ""
    if not isinstance(url, str) or not isinstance(depth, int) or depth < 0:
        return None
    if not isinstance(metadata, dict) or not isinstance(referrer, str | None):
        return None
    return Discovery(url, str(page_type), depth, referrer, metadata)


def segment_names(folder: Path) -> list[str]:
    """Segments in the order they were begun; none when there is no spool."""
    try:
        return sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))
    except FileNotFoundError:
        return []


def _next_name(last: str, now: float) -> str:
    """Past the last one, also when the clock was set back."""
    moment, number = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)), 0
    if match := _NAME.fullmatch(last):
        moment, number = max(moment, match[1]), int(match[2])
    return f"discoveries-{moment}-{number + 1:06d}.jsonl"
