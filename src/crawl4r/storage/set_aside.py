"""Put a new state.db in the place of a damaged one, which is kept under another name.

    state.db ──────────────> state.db.damaged-<time>, then its log, its sum
    state.db.recovering ───> state.db

A log that stayed behind would be merged into the new file, so it goes before the new file comes. After
a crash between two of these steps there is no state.db, and the next recovery finds the damaged one by
the new file beside it, which therefore stays as a sign until the end.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import time
from pathlib import Path

from crawl4r.errors import StorageFull
from crawl4r.storage.fsync import sync_folder
from crawl4r.storage.layout import RECOVERING, SALVAGED, STATE

_LOG, _SHARED, _SUM = f"{STATE}-wal", f"{STATE}-shm", "state.sum"
_ENDINGS = {STATE: "", _LOG: "-wal", _SHARED: "-shm", _SUM: ".sum"}
_WORK = ("-wal", "-shm", "-journal")
_ASIDE = f"{STATE}.damaged-"
_BASE = re.compile(rf"{re.escape(_ASIDE)}[0-9T.]+Z")
_PAGE_SIZE = slice(8, 12)  # in the header of a log
_SMALLEST, _LARGEST = 512, 65536
_HEADER_BYTES = 100
_SIZE, _COUNT = slice(16, 18), slice(28, 32)  # of the pages, in the header of a database
_MOST = 2**42  # bytes of a database


def begin(workspace: Path) -> Path | None:
    """The damaged state.db that an interrupted recovery had set aside, if this one goes on with it."""
    if not (workspace / RECOVERING).exists() or (workspace / STATE).exists():
        return None
    found = (_BASE.match(path.name) for path in workspace.glob(f"{_ASIDE}*"))
    names = sorted((match[0] for match in found if match), key=lambda name: name.removesuffix("Z"))
    return workspace / names[-1] if names else None


def clear(folder: Path, *, keeps_sign: bool = False) -> None:
    """Delete the files of a recovery; as a sign the new file stays, without its content."""
    for name in (SALVAGED, RECOVERING):
        for ending in _WORK:
            folder.joinpath(name + ending).unlink(missing_ok=True)
    folder.joinpath(SALVAGED).unlink(missing_ok=True)
    new = folder / RECOVERING
    if not keeps_sign:
        new.unlink(missing_ok=True)
    elif new.exists():
        os.truncate(new, 0)


def copy_damaged(workspace: Path, source: Path | None, folder: Path) -> Path | None:
    """Copy a damaged state.db with the writes of its log; None when nothing is there.

    `source` is one that was set aside already; its log may not be yet.
    """
    state = source or workspace / STATE
    logs = [state.with_name(state.name + "-wal"), workspace / _LOG]
    log = next((path for path in logs if path.is_file() and path.stat().st_size), None)
    if log is None and not state.is_file():
        return None
    copy = folder / SALVAGED
    copied_log = copy.with_name(copy.name + "-wal")
    try:
        if state.is_file():
            shutil.copyfile(state, copy)
        if log is not None:
            if not copy.exists() or not copy.stat().st_size:
                copy.write_bytes(bytes(_page_size(log)))  # without a file SQLite drops the log
            shutil.copyfile(log, copied_log)
            _merge(copy)
            for ending in ("-wal", "-shm"):
                copy.with_name(copy.name + ending).unlink(missing_ok=True)
        _pad(copy)
    except OSError as problem:
        raise StorageFull(f"cannot copy {state} to {copy}: {problem.strerror}") from problem
    return copy


def move_aside(workspace: Path, source: Path | None) -> list[Path]:
    """Move the damaged state.db away with its log and its sum; the names that it has now."""
    moved = [source] if source and source.exists() else []
    base = source or _free_name(workspace)
    for name, ending in _ENDINGS.items():
        path = workspace / name
        if os.path.lexists(path):
            target = base.with_name(base.name + ending)
            os.rename(path, target)
            moved.append(target)
    if moved:
        sync_folder(workspace)
    return moved


def put_in_place(workspace: Path) -> None:
    """Make the new state.db durable, and give it its name."""
    new = workspace / RECOVERING
    log = new.with_name(new.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise StorageFull(f"cannot write {new}; free some space and run the command again")
    fd = os.open(new, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(new, workspace / STATE)
    sync_folder(workspace)


def _merge(copy: Path) -> None:
    """Write what the log has into the file; a log that SQLite cannot read adds nothing."""
    with (
        contextlib.suppress(sqlite3.Error, UnicodeDecodeError),
        contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _pad(copy: Path) -> None:
    """Give a file that was cut its length again: SQLite reads nothing of one that is too short."""
    with copy.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    size, count = int.from_bytes(header[_SIZE]) or 1, int.from_bytes(header[_COUNT])
    whole = count * (_LARGEST if size == 1 else size)
    if header.startswith(b"SQLite format 3\0") and copy.stat().st_size < whole < _MOST:
        os.truncate(copy, whole)  # takes no room on the disk


def _page_size(log: Path) -> int:
    with log.open("rb") as file:
        size = int.from_bytes(file.read(32)[_PAGE_SIZE])
    return size if _SMALLEST <= size <= _LARGEST else 4096


def _free_name(workspace: Path) -> Path:
    stamp, number = time.strftime("%Y%m%dT%H%M%S", time.gmtime()), 1
    path = workspace / f"{_ASIDE}{stamp}Z"
    while os.path.lexists(path):
        number += 1
        path = workspace / f"{_ASIDE}{stamp}.{number:03d}Z"
    return path
