"""A checksum beside state.db while no process has it open.

SQLite checks the structure of its pages and the frames of its log, but a flipped bit inside a value
is read as another value. A clean close therefore stores the SHA-256 of the file, and the next opening
compares it. After a crash there is no sum, and the checksums of the log decide.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from crawl4r.errors import StorageDamaged
from crawl4r.safe_text import command_line
from crawl4r.storage.open_here import is_open_here
from crawl4r.storage.own_files import open_new

_HEADER_BYTES = 100
_CHANGES, _VERSION, _VALID_FOR = slice(24, 28), slice(60, 64), slice(92, 100)


def write_sum(database: Path) -> None:
    """Store the sum, unless the database is still open elsewhere."""
    if is_open_here(database) or _has_log(database):
        return
    with contextlib.suppress(OSError):  # a missing sum only skips the comparison
        new = _sum_path(database).with_suffix(".new")
        with os.fdopen(open_new(new), "w", encoding="ascii") as file:
            file.write(f"{_sum(database)} {_version(database)}\n")
        os.replace(new, _sum_path(database))


def has_sum(database: Path) -> bool:
    """Whether a database has a sum, which shows that crawl4r closed it."""
    return _sum_path(database).is_file()


def forget_sum(database: Path) -> None:
    _sum_path(database).unlink(missing_ok=True)


def check_sum(database: Path) -> None:
    """Raise StorageDamaged when the file differs from its sum."""
    if is_open_here(database):
        return
    try:
        expected, version = _sum_path(database).read_text("ascii").split()
    except (OSError, ValueError):
        return
    if _has_log(database) or (database.exists() and _version(database) != version):
        return  # another program has written to it since
    if not database.exists() or _sum(database) != expected:
        raise StorageDamaged(
            f"{database} is not what was written: its bytes do not match {_sum_path(database).name}. "
            f"`{command_line('crawl4r', 'recover', '-w', database.parent)}` makes it again; if you"
            " changed it yourself, delete that file"
        )


def _sum_path(database: Path) -> Path:
    return database.with_suffix(".sum")


def _has_log(database: Path) -> bool:
    log = database.with_name(database.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _version(database: Path) -> str:
    with database.open("rb") as file:
        return file.read(_HEADER_BYTES)[_VERSION].hex()


def _sum(database: Path) -> str:
    """The hash of all bytes except the counters in SQLite's header, which change without any write."""
    digest = hashlib.sha256()
    with database.open("rb") as file:
        header = bytearray(file.read(_HEADER_BYTES))
        for counter in (_CHANGES, _VERSION, _VALID_FOR):
            header[counter] = bytes(len(header[counter]))
        digest.update(header)
        while chunk := file.read(1024 * 1024):
            digest.update(chunk)
    return digest.hexdigest()
