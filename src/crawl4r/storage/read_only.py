"""Read a database in a place without write permission: another user's, or a read-only disk.

SQLite's write-ahead log needs a file beside the database that readers also write to. Without write
permission there are three ways: together with a writer that has the log open; the file alone, while
there is no log; a copy of both in a temporary folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from crawl4r.errors import StorageFull, WorkspaceError

_ATTEMPTS = 5  # tries to copy beside an active writer

Stamp = tuple[int, int, int]  # of a file; changes with its bytes


def may_write(path: Path) -> bool:
    """Whether SQLite can use the database normally."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def refuse_unreadable(path: Path) -> None:
    """Raise WorkspaceError when this user may not read an existing database."""
    if os.path.lexists(path) and not os.access(path, os.R_OK):
        raise WorkspaceError(
            f"{path} may not be read by this user: ask its owner for `chmod a+r`, or run as its owner"
        )


class Looking:
    """A connection that does not change the database. Close the connection first."""

    def __init__(self, path: Path, oldest: int) -> None:
        """Reads a format before `oldest` from a copy, which can be upgraded."""
        self._path = path
        self._log = path.with_name(path.name + "-wal")
        self._stamp: Stamp | None = None  # of the file, when reading without locks
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        connection = self._beside_a_writer() or self._alone()
        if connection is None or _version(connection) < oldest:
            if connection:
                connection.close()
            self._stamp = None
            connection = self._copy()
        self.connection = connection

    def check(self) -> None:
        """Raise WorkspaceError when the data read since the opening may be torn."""
        if self._stamp is not None and _stamp(self._path) != self._stamp:
            raise WorkspaceError(
                f"{self._path} was changed by another process while it was read; run it again"
            )

    def close(self) -> None:
        if self._folder:
            self._folder.cleanup()

    def _beside_a_writer(self) -> sqlite3.Connection | None:
        index = self._path.with_name(self._path.name + "-shm")
        if not (self._log.exists() and index.exists()):
            return None
        return _connected(self._path, "mode=ro")

    def _alone(self) -> sqlite3.Connection | None:
        if self._log.exists() and self._log.stat().st_size:
            return None
        self._stamp = _stamp(self._path)
        connection = _connected(self._path, "mode=ro&immutable=1")
        if self._log.exists() and self._log.stat().st_size:  # a writer has just begun
            if connection:
                connection.close()
            return None
        return connection

    def _copy(self) -> sqlite3.Connection:
        self._folder = tempfile.TemporaryDirectory(prefix="crawl4r-")
        place = Path(self._folder.name, self._path.name)
        try:
            self._copy_to(place)
            return sqlite3.connect(place, isolation_level=None)
        except BaseException as problem:
            self._folder.cleanup()
            if isinstance(problem, OSError):
                raise StorageFull(
                    f"cannot copy {self._path} to {place.parent} to read it: {problem.strerror}"
                ) from problem
            raise

    def _copy_to(self, place: Path) -> None:
        log = place.with_name(self._log.name)
        for _ in range(_ATTEMPTS):
            before = _stamp(self._path), _stamp(self._log)
            shutil.copyfile(self._path, place)
            log.unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(self._log, log)
            if before == (_stamp(self._path), _stamp(self._log)):
                return
        raise WorkspaceError(f"{self._path} is being written to all the time; run it again later")


def _connected(path: Path, how: str) -> sqlite3.Connection | None:
    """Open the file; None when SQLite cannot read it in this way. The caller detects damage."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None
    )
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        connection.close()
        return None
    except (sqlite3.Error, UnicodeDecodeError):
        pass
    return connection


def _version(connection: sqlite3.Connection) -> int:
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return 1 << 31  # damaged: a copy would not help


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
