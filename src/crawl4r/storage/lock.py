"""The lock of a workspace for its one writer. The kernel releases it when the process dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from crawl4r.errors import StorageFull, WorkspaceBusy, WorkspaceError
from crawl4r.storage.own_files import open_own


class WorkspaceLock:
    """Holds the lock from construction to `close`. The file names the holder for error messages."""

    def __init__(self, workspace: Path, work: str = "crawl") -> None:
        """`work` names the exclusive task, for messages."""
        self._path = workspace / f"{work}.lock"
        try:
            self._fd = open_own(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            if self._path.is_symlink():
                raise WorkspaceError(
                    f"{self._path} is a symbolic link, and a lock must not be one: delete it"
                ) from problem
            raise WorkspaceError(f"{workspace} is not writable: {problem.strerror}") from problem
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise WorkspaceBusy(
                f"another {work} (process {holder}) is using {workspace}; "
                "wait for it, stop it, or give another --workspace"
            ) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        except OSError as problem:
            os.close(self._fd)
            raise StorageFull(f"cannot write {self._path}: {problem.strerror}") from problem

    def close(self) -> None:
        os.close(self._fd)


def holder_of(workspace: Path, work: str = "crawl") -> int | None:
    """The id of the process that holds this lock in this workspace, or None."""
    path = workspace / f"{work}.lock"
    try:
        fd = open_own(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        text = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else None
    finally:
        os.close(fd)
    return None
