"""The spool of separated mode: the discoveries, one JSON line each, in rotated segments.

One process appends, another reads from its bookmark on. Only complete lines count. The names of
segments increase (`discoveries-<time>-<n>.jsonl`), so their order is the order of the discoveries.
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
    """A URL of the crawl, as one line of the spool."""

    url: str
    page_type: str = ""
    depth: int = 0
    referrer: str | None = None
    metadata: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def as_line(self) -> bytes:
        return json.dumps(self._asdict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class Bookmark(NamedTuple):
    """The position of a reader, which has stored everything before it."""

    segment: str = ""  # empty before the first read
    offset: int = 0

    @staticmethod
    def from_text(text: str | None) -> Bookmark:
        """Parse a bookmark. An unreadable one means the beginning: reading lines twice is harmless."""
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
    """The result of one read from the spool."""

    discoveries: Sequence[Discovery]
    skipped: int  # lines that cannot be read
    bookmark: Bookmark  # the position for the next read


class SpoolWriter:
    """Appends discoveries. On opening it cuts off the torn line of a writer that died."""

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
        self.last_number = 0  # of the last discovery in the spool
        if names:
            self._reopen()

    def append(self, discoveries: Sequence[Discovery]) -> None:
        """Append discoveries; durable on return. On StorageFull the spool holds none of them."""
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
    """Reads whole lines from a bookmark on, and skips missing segments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, bookmark: Bookmark, most: int) -> SpoolBatch:
        """Up to about `most` discoveries; an empty batch means the end of the spool."""
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
        """The number of lines past the bookmark; the count ends soon after `stop_at`."""
        count = 0
        for name in self._names_from(bookmark):
            offset = bookmark.offset if name == bookmark.segment else 0
            with _opened(self.folder / name) as file:
                file.seek(offset)
                while count < stop_at and (block := file.read(_BLOCK)):
                    count += block.count(b"\n")
        return count

    def drained(self, bookmark: Bookmark) -> list[Path]:
        """Segments that were read to their end, and that the writer has left."""
        names = [name for name in segment_names(self.folder) if name < bookmark.segment]
        return [self.folder / name for name in names]

    def _names_from(self, bookmark: Bookmark) -> list[str]:
        return [name for name in segment_names(self.folder) if name >= bookmark.segment]

    def _sound_offset(self, name: str, bookmark: Bookmark) -> int:
        """The bookmark's offset if a line ends there, else 0, because the segment was replaced."""
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
                    break  # the writer still appends to it
                offset += len(line)
                lines.append(line)
        return lines, offset


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a segment; a missing one reads as empty."""
    try:
        file: IO[bytes] = path.open("rb")
    except FileNotFoundError:
        file = BytesIO()
    with file:
        yield file


def parse_line(line: bytes) -> Discovery | None:
    """Parse a line; None when it is no discovery. Other producers may give only the URL."""
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
    """The segments in order; none without a spool."""
    try:
        return sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))
    except FileNotFoundError:
        return []


def _next_name(last: str, now: float) -> str:
    """A name after the last one, even if the clock was set back."""
    moment, number = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)), 0
    if match := _NAME.fullmatch(last):
        moment, number = max(moment, match[1]), int(match[2])
    return f"discoveries-{moment}-{number + 1:06d}.jsonl"
