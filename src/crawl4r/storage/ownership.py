"""Tell crawl4r's databases from those of other programs, which it never changes or deletes.

SQLite's `application_id` marks new databases; older ones have our tables. The check does not change the
file: it reads the file without locks and without its write-ahead log.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from crawl4r.errors import WorkspaceError
from crawl4r.storage.checksum import check_sum, has_sum
from crawl4r.storage.open_here import is_open_here

APPLICATION_ID = 0x43724C34  # "CrL4", in SQLite's header
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_APPLICATION, _VERSION = slice(68, 72), slice(60, 64)
_TABLE = re.compile(r"CREATE TABLE (\w+)")
_HIGHEST_VERSION = 1000  # far above any version of our formats
_SHOWN = 4  # names of tables in a message
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link"}


def tables_of(schema: Mapping[int, str]) -> frozenset[str]:
    """The tables that a schema has had since its first version."""
    return frozenset(_TABLE.findall(schema[min(schema)]))


def refuse_foreign(path: Path, own: frozenset[str]) -> None:
    """Raise WorkspaceError when the file at this path is no database with our `own` tables."""
    if reason := why_foreign(path, own):
        if path.is_file():
            check_sum(path)  # a damaged database of ours may look foreign
        raise WorkspaceError(
            f"{path} {reason}. crawl4r leaves it alone: give another --workspace, or move it away"
        )


def why_foreign(path: Path, own: frozenset[str]) -> str | None:
    """The reason why a file is not crawl4r's; None for our own, an empty or a missing file.

    Also None for an unreadable file, and for a damaged one of ours.
    """
    return None if is_open_here(path) else _why_file_is_foreign(path, own)


def _why_file_is_foreign(path: Path, own: frozenset[str]) -> str | None:
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            return f"is {_KINDS.get(stat.S_IFMT(mode), 'a device, a pipe or a socket')}, no file"
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return None
    if not header:
        return None
    if not header.startswith(_MAGIC):
        return None if has_sum(path) else "is not an SQLite database"
    application = int.from_bytes(header[_APPLICATION])
    if application == APPLICATION_ID:
        return None
    return _why_tables_are_foreign(path, own, header, application)


def _why_tables_are_foreign(
    path: Path, own: frozenset[str], header: bytes, application: int
) -> str | None:
    log = path.with_name(path.name + "-wal")
    version = int.from_bytes(header[_VERSION])
    try:
        tables = _tables_of(path)
        if not tables and log.exists() and log.stat().st_size:
            tables = _tables_with_log(path, log)  # includes all writes
    except (sqlite3.Error, UnicodeDecodeError, OSError):
        is_likely_ours = has_sum(path) or 0 < version < _HIGHEST_VERSION
        return None if is_likely_ours else "is an SQLite database that cannot be read"
    if tables >= own:
        return None
    if not tables and not application and not version:
        return None  # an SQLite database without any write
    names = ", ".join(sorted(tables)[:_SHOWN]) + (", ..." if len(tables) > _SHOWN else "")
    return f"is the database of another program ({f'tables: {names}' if names else 'no tables'})"


def _tables_of(path: Path, how: str = "mode=ro&immutable=1") -> set[str]:
    uri = f"{path.absolute().as_uri()}?{how}"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {str(name) for (name,) in rows}


def _tables_with_log(path: Path, log: Path) -> set[str]:
    """The tables of a copy, because SQLite would merge the log into the original."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, log):
            shutil.copyfile(file, Path(folder, file.name))
        return _tables_of(Path(folder, path.name), "mode=rw")
