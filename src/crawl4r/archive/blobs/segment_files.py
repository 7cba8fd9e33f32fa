"""The files of a segment store, and which of them a living writer holds.

A writer holds the segment that it appends to by a lock of the kernel (flock), which ends with the
process. Another writer leaves a held segment alone, and takes a number that no file has.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.blobs.segment_record import SUFFIX
from crawl4r.errors import StorageFull, WorkspaceError
from crawl4r.storage.fsync import sync_folder
from crawl4r.storage.own_files import open_own


class HeldSegment(NamedTuple):
    """A segment that only this writer changes, until `close`."""

    number: int
    fd: int
    path: Path

    @property
    def size(self) -> int:
        return os.fstat(self.fd).st_size

    def close(self) -> None:
        os.close(self.fd)


class SegmentFiles:
    """The segments in a folder, by their numbers."""

    def __init__(self, folder: Path, permissions: int) -> None:
        self.folder = folder
        self._permissions = permissions

    def make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise WorkspaceError(f"cannot make {self.folder}: {problem.strerror}") from problem

    def path(self, number: int) -> Path:
        return self.folder / f"{number:06d}{SUFFIX}"

    def numbers(self) -> list[int]:
        """The segments on disk, in their order."""
        stems = (path.stem for path in self.folder.glob(f"*{SUFFIX}"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def hold(self, number: int) -> HeldSegment | None:
        """Hold an existing segment for writing; None when another writer holds it, it may not be
        written, or it is gone."""
        path = self.path(number)
        try:
            fd = open_own(path, os.O_RDWR | os.O_APPEND)
        except (FileNotFoundError, PermissionError):
            return None
        except OSError as problem:
            raise StorageFull(f"cannot open {path}: {problem.strerror}") from problem
        return _held(number, fd, path)

    def create(self, at_least: int) -> HeldSegment:
        """Hold a new, empty segment, with the first free number from this one on."""
        number = at_least
        while True:
            path = self.path(number)
            try:
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
                fd = open_own(path, flags, self._permissions)
                os.fchmod(fd, self._permissions)  # regardless of the umask
                sync_folder(self.folder)
            except FileExistsError:
                number += 1
                continue
            except OSError as problem:
                raise StorageFull(f"cannot open {path}: {problem.strerror}") from problem
            if segment := _held(number, fd, path):
                return segment
            number += 1  # another writer took it for a segment that was left


def _held(number: int, fd: int, path: Path) -> HeldSegment | None:
    """The file with its lock; None, and closed, when another writer holds it or it was deleted."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between the opening and the lock a compaction may have deleted the file.
        if os.path.samestat(os.fstat(fd), path.stat()):
            return HeldSegment(number, fd, path)
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError as problem:
        os.close(fd)
        raise StorageFull(f"cannot lock {path}: {problem.strerror}") from problem
    os.close(fd)
    return None
