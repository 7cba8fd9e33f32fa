"""An append-only file of lines, without lasting torn lines.

Its owner knows the valid length after a crash, and calls `cut` once before the first `append`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from crawl4r.errors import StorageFull, WorkspaceError
from crawl4r.storage.fsync import sync_folder, write_all
from crawl4r.storage.own_files import open_own

_TAIL_BYTES = 1024 * 1024


class LineFile:
    """`header`: the first line with its line end, or an empty string."""

    def __init__(self, path: Path, header: bytes = b"") -> None:
        self._path = path
        self._header = header
        self.end = 0  # of the valid part
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = open_own(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise WorkspaceError(f"cannot open {path}: {problem.strerror}") from problem

    def last_line(self, is_ours: Callable[[bytes], bool]) -> tuple[bytes, int]:
        """The last complete line of ours and its end; empty and 0 without one."""
        if not self.has_header():
            return b"", 0
        end = os.lseek(self._fd, 0, os.SEEK_END)
        while end > 0:
            start = max(0, end - _TAIL_BYTES)
            tail = os.pread(self._fd, end - start, start)
            position = len(tail)
            while (newline := tail.rfind(b"\n", 0, position)) >= 0:
                line_start = tail.rfind(b"\n", 0, newline) + 1
                if line_start == 0 and start > 0:
                    break
                if is_ours(line := tail[line_start:newline]):
                    return line, start + newline + 1
                position = newline
            if start == 0:
                break
            end = start + max(position, 1) if position < len(tail) else start
        return b"", 0

    def has_header(self) -> bool:
        return os.pread(self._fd, len(self._header), 0) == self._header

    def ends_a_line(self, at: int) -> bool:
        """Whether the file is that long, and a line ends there."""
        return at > 0 and os.pread(self._fd, 1, at - 1) == b"\n"

    def cut(self, end: int) -> None:
        """Drop everything past `end`; 0 begins a new file."""
        self.end = end
        self._truncate()
        if not end and self._header:
            self.append(self._header)

    def sync(self) -> None:
        """Make the file and its name durable."""
        try:
            os.fsync(self._fd)
            sync_folder(self._path.parent)
        except OSError as problem:
            raise self._full(problem) from problem

    def append(self, data: bytes, *, sync: bool = False) -> None:
        """Add complete lines, all or none. Raises StorageFull on a full disk."""
        try:
            os.lseek(self._fd, self.end, os.SEEK_SET)
            write_all(self._fd, data)
            if sync:
                os.fsync(self._fd)
        except OSError as problem:
            with contextlib.suppress(StorageFull):
                self._truncate()  # remove a torn line at once, for other readers
            raise self._full(problem) from problem
        self.end += len(data)

    def close(self) -> None:
        os.close(self._fd)

    def _truncate(self) -> None:
        try:
            os.ftruncate(self._fd, self.end)
        except OSError as problem:
            raise self._full(problem) from problem

    def _full(self, problem: OSError) -> StorageFull:
        return StorageFull(
            f"cannot write {self._path}: {problem.strerror}; "
            "free some space and run the command again"
        )
