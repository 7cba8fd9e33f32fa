"""Is state.db whole, or has it to be made again? Nothing is written beside it while it is examined."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.storage.checksum import check_sum
from crawl4r.storage.migrations import CURRENT, VERSIONS
from crawl4r.storage.ownership import refuse_foreign, tables_of
from crawl4r.storage.read_only import refuse_unreadable

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_HIGHEST_VERSION = 1_000_000  # above any format: the header is damaged
_FILLED = ("captures", "urls", "crawls", "collections", "tags", "deleted_documents")
_OWN = tables_of(VERSIONS)


def why_not_whole(state: Path) -> str | None:
    """Why a state.db cannot be used, in words that follow its name; None for one that is whole.

    Raises WorkspaceError for a file of another program, of a newer crawl4r, or that this user may not
    read: such a file is not damaged.
    """
    if not state.exists() and not state.is_symlink():
        return "is missing"
    if not state.is_file() or state.is_symlink():
        refuse_foreign(state, _OWN)
    refuse_unreadable(state)
    with state.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header:
        return "is empty"
    if not header.startswith(_MAGIC):
        return "is damaged: its head is overwritten"
    try:
        refuse_foreign(state, _OWN)  # also for a damaged one, unless it has a sum
        _refuse_newer(state, int.from_bytes(header[60:64]))
        check_sum(state)
    except StorageDamaged:
        return f"is damaged: its bytes do not match {state.with_suffix('.sum').name}"
    return _why_not_sound(state)


def _refuse_newer(state: Path, version: int) -> None:
    if CURRENT < version < _HIGHEST_VERSION:
        raise WorkspaceError(
            f"{state} was written by a newer crawl4r (format {version}, this one reads up to"
            f" {CURRENT}); update crawl4r: nothing is recovered"
        )


def _why_not_sound(state: Path) -> str | None:
    """What SQLite finds wrong in its structure, with the writes that only its log has."""
    try:
        with opened(state) as connection:
            connection.execute("PRAGMA cell_size_check = ON")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            _refuse_newer(state, version)
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                return f"is damaged: {str(found).strip().splitlines()[-1]}"
            return None if _is_filled(connection) else "is empty"
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        return f"is damaged: {problem}"


@contextlib.contextmanager
def opened(state: Path) -> Iterator[sqlite3.Connection]:
    """The file alone when it has no log; else a copy, because SQLite would merge the log into it."""
    log = state.with_name(state.name + "-wal")
    with contextlib.ExitStack() as undo:
        place, how = state, "mode=ro&immutable=1"
        if log.exists() and log.stat().st_size:
            folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="crawl4r-"))
            place, how = Path(folder, state.name), "mode=rw"
            try:
                shutil.copyfile(state, place)
                shutil.copyfile(log, Path(folder, log.name))
            except OSError as problem:
                raise StorageFull(
                    f"cannot copy {state} to {folder} to examine it: {problem.strerror}"
                ) from problem
        uri = f"{place.absolute().as_uri()}?{how}"
        yield undo.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True)))


def _is_filled(connection: sqlite3.Connection) -> bool:
    """Whether any crawl, page or decision of a person is in it."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return any(
        connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
        for table in _FILLED
        if table in names
    )
