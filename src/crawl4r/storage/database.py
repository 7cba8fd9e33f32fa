"""An SQLite file in the workspace, with a write-ahead log and synced commits.

All statements run in the caller's thread. Writes share one open transaction until `commit`, so that a
group of pages costs one sync; a crash rolls back the whole group.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crawl4r.errors import (
    Crawl4rError,
    StorageDamaged,
    StorageError,
    StorageFull,
    WorkspaceError,
)
from crawl4r.storage.checksum import check_sum, forget_sum, write_sum
from crawl4r.storage.migrations import VERSIONS
from crawl4r.storage.open_here import is_open_here, note_closed, note_open, opening
from crawl4r.storage.own_files import PRIVATE, open_own
from crawl4r.storage.ownership import APPLICATION_ID, refuse_foreign, tables_of
from crawl4r.storage.read_only import Looking, may_write, refuse_unreadable

_CACHE_KIB = 24 * 1024
_BUSY_MS = 5_000
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SIGNED = f"PRAGMA application_id = {APPLICATION_ID}"
_NONSENSE_VERSION = 1_000_000  # above any format: the header is damaged


class Database:
    """A connection with crawl4r's pragmas, transactions and errors."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        schema: Mapping[int, str] = VERSIONS,
        is_derived: bool = False,
    ) -> None:
        """`is_derived`: the content can be made again, so commits need no sync and the file no sum."""
        self.path = path
        self._read_only = read_only
        self._schema = schema
        self._is_derived = is_derived
        self._looking: Looking | None = None  # for a read-only place
        with opening:
            self._check_file()
            if not is_derived:
                _keep_private(path, create=not read_only)
            self._connection = self._connect()
            self._file = note_open(path)
        self._in_transaction = False
        self._lost: Exception | None = None  # why a transaction of several writers was dropped
        if not read_only and not is_derived:
            forget_sum(path)  # the file will change
        try:
            self._prepare(read_only)
        except BaseException:
            self._close_connection()
            raise

    def _check_file(self) -> None:
        """Raise for a file that is not ours, newer than us, or damaged."""
        if is_open_here(self.path):
            return
        refuse_foreign(self.path, tables_of(self._schema))
        refuse_unreadable(self.path)
        # Before the sum, which a writer may remove.
        self._refuse_newer(_version_in_header(self.path))
        if not self._is_derived:
            check_sum(self.path)

    def _connect(self) -> sqlite3.Connection:
        path = self.path
        try:
            if not self._read_only:
                return sqlite3.connect(path, isolation_level=None)
            if not path.exists():
                raise WorkspaceError(f"there is no crawl in {path.parent} (no {path.name})")
            if not may_write(path):
                self._looking = Looking(path, max(self._schema))
                return self._looking.connection
            uri = f"{path.absolute().as_uri()}?mode=rw"
            return sqlite3.connect(uri, uri=True, isolation_level=None)
        except sqlite3.Error as problem:
            raise WorkspaceError(f"cannot open {path}: {problem}") from problem

    def _prepare(self, read_only: bool) -> None:
        with self._translated():
            run = self._connection.execute
            run(f"PRAGMA busy_timeout = {_BUSY_MS}")
            run(f"PRAGMA cache_size = -{_CACHE_KIB}")
            run("PRAGMA cell_size_check = ON")
            version = run("PRAGMA user_version").fetchone()[0]
            self._refuse_newer(version)
            self.was_empty = version == 0
            if read_only:
                if version:  # opened for reading before the next crawl: upgrade here
                    self._migrate(version)
                run("PRAGMA query_only = ON")
                return
            if not version:  # before the log exists, so that the file alone shows its owner
                run(_SIGNED)
            run("PRAGMA journal_mode = WAL")
            run(f"PRAGMA synchronous = {'NORMAL' if self._is_derived else 'FULL'}")
            # Pages of 4 KiB. New links touch random pages of a large index; with rare checkpoints many
            # commits share one write of a page (docs/decisions/0004).
            run("PRAGMA wal_autocheckpoint = 16000")
            run("PRAGMA journal_size_limit = 67108864")
            self._migrate(version)
            if run("PRAGMA application_id").fetchone()[0] == 0:
                run(_SIGNED)

    def _migrate(self, version: int) -> None:
        """Run all steps in one transaction, so that a full disk leaves no half-made database."""
        newest = max(self._schema)
        if version >= newest:
            return
        steps = ";".join(self._schema[step] for step in range(version + 1, newest + 1))
        try:
            self._connection.executescript(
                f"BEGIN IMMEDIATE;{steps};PRAGMA user_version = {newest};{_SIGNED};COMMIT;"
            )
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        try:  # not `_translated`: here and in `write` a context manager costs as much as the query
            rows = self._connection.execute(sql, parameters).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            if self._looking:
                self._looking.check()
            raise _translate(problem, self.path) from problem
        if self._looking:
            self._looking.check()
        return rows

    def stream(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Any]:
        """Iterate over rows, for listings that do not fit in memory."""
        with self._translated():
            for row in self._connection.execute(sql, parameters):
                if self._looking:
                    self._looking.check()
                yield row

    def write(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            if not self._in_transaction:
                self._begin()
            return self._connection.execute(sql, parameters)
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            raise self._failure(problem) from problem

    def write_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._translated():
            self._begin()
            self._connection.executemany(sql, rows)

    @contextlib.contextmanager
    def savepoint(self) -> Iterator[None]:
        """On an error, undo the writes of this block, but no earlier ones."""
        with self._translated():
            self._begin()
            self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                with self._translated():
                    self._connection.execute("ROLLBACK TO part")
                    self._connection.execute("RELEASE part")
            raise
        with self._translated():
            self._connection.execute("RELEASE part")

    @contextlib.contextmanager
    def transaction(self, *, is_synced: bool = True) -> Iterator[None]:
        """Let a block read and write as the only writer, then commit; an error undoes its writes.

        It commits what was written before as well. Without a sync, other connections see the writes,
        and a power failure may undo them until the next synced commit; such a block joins a transaction
        that is open and leaves the commit to it.
        """
        is_own = not self._in_transaction
        is_quick = is_own and not is_synced
        if is_quick:
            self._set_synchronous("NORMAL")
        try:
            with self.savepoint():
                yield
            if is_own or is_synced:
                self.commit()
        except BaseException:
            if is_own and not self._lost:
                self.rollback()
            raise
        finally:
            if is_quick:
                self._set_synchronous("FULL")

    def _set_synchronous(self, level: str) -> None:
        with self._translated():
            self._connection.execute(f"PRAGMA synchronous = {level}")

    def define(self, name: str, arguments: int, function: Callable[..., Any]) -> None:
        """Register a deterministic function for the statements of this connection."""
        with self._translated():
            self._connection.create_function(name, arguments, function, deterministic=True)

    def commit(self) -> None:
        """Make all writes since the last commit durable, all or none."""
        if self._lost:
            raise self._lost
        if self._in_transaction:
            with self._translated():
                self._connection.execute("COMMIT")
            self._in_transaction = False

    def rollback(self) -> None:
        """Drop all writes since the last commit; required after a failure before further writes."""
        self._in_transaction = False
        self._lost = None
        if self._connection.in_transaction:
            with self._translated():
                self._connection.execute("ROLLBACK")

    def abandon(self, problem: Exception) -> None:
        """Drop all writes since the last commit, and make every later write raise `problem`.

        For one of several writers: the writes of the others are lost too, so none may continue.
        """
        with contextlib.suppress(Crawl4rError):  # keep the first error
            self.rollback()
        self._lost = problem

    def close(self) -> None:
        """Close, and roll back uncommitted writes."""
        with contextlib.suppress(sqlite3.Error, Crawl4rError):
            self.rollback()
            if not self._read_only:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._close_connection()
        if not self._read_only and not self._is_derived:
            write_sum(self.path)

    def _close_connection(self) -> None:
        self._connection.close()
        note_closed(self._file)
        if self._looking:
            self._looking.close()

    def _refuse_newer(self, version: int) -> None:
        newest = max(self._schema)
        if version > newest:
            raise WorkspaceError(
                f"{self.path} was written by a newer crawl4r (format {version}, this one reads "
                f"up to {newest}); update crawl4r or use another --workspace"
            )

    def _begin(self) -> None:
        if self._lost:  # the first half of the transaction is lost
            raise self._lost
        if not self._in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
            self._in_transaction = True

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            raise self._failure(problem) from problem

    def _failure(self, problem: sqlite3.Error | UnicodeDecodeError) -> Exception:
        """Note a rollback by SQLite itself, as on a full disk: later writes must fail."""
        failure = _translate(problem, self.path)
        if self._in_transaction and not self._connection.in_transaction:
            self._in_transaction = False
            self._lost = failure
        return failure


def _version_in_header(path: Path) -> int:
    """Read `user_version` at its fixed place in the file; 0 for a missing file."""
    try:
        with path.open("rb") as file:
            header = file.read(64)
    except OSError:
        return 0
    is_ours = header.startswith(b"SQLite format 3\0") and len(header) == 64
    version = int.from_bytes(header[60:64]) if is_ours else 0
    return version if version < _NONSENSE_VERSION else 0


def _keep_private(path: Path, *, create: bool) -> None:
    """Make a database readable by its owner alone; SQLite gives its log the same permissions.

    By name, because closing a descriptor would drop the locks of other connections of this process.
    """
    if create:
        # It exists already, or it is not writable, for which SQLite has the better message.
        with contextlib.suppress(OSError):
            os.close(open_own(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
    for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with contextlib.suppress(OSError):
            found = file.lstat()
            is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
            if is_ours and found.st_mode & _OTHERS:
                file.chmod(PRIVATE)


def _translate(problem: sqlite3.Error | UnicodeDecodeError, path: Path) -> Exception:
    if isinstance(problem, UnicodeDecodeError):  # a damaged name in SQLite's message
        return StorageDamaged(f"{path} is damaged")
    text = str(problem)
    code = getattr(problem, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    if primary in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return StorageFull(
            f"cannot write {path}: {text}; free some space and run the command again"
        )
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return StorageDamaged(f"{path} is damaged: {text}")
    if primary in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return WorkspaceError(f"{path} is not writable: {text}")
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return WorkspaceError(f"{path} is in use by another program: {text}")
    return StorageError(f"{path}: {text}")
