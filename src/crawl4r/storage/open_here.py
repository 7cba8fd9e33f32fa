"""The databases that this process has open.

SQLite locks a file for the whole process, and the kernel drops these locks as soon as the process
closes any descriptor of the file. Another process would then take itself for the last user of the
database, and delete its write-ahead log with all that is committed from then on. So what is open here
is opened in no other way than by SQLite.
"""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

_File = tuple[int, int]
_lock = threading.Lock()
opening = threading.Lock()  # held from the look at a file until its connection is noted
_open: Counter[_File] = Counter()


def note_open(path: Path) -> _File | None:
    """A connection to this file was opened; the result is for `note_closed`."""
    file = _file_at(path)
    with _lock:
        if file:
            _open[file] += 1
    return file


def note_closed(file: _File | None) -> None:
    with _lock:
        if file and _open[file] > 1:
            _open[file] -= 1
        elif file:
            del _open[file]


def is_open_here(path: Path) -> bool:
    """Whether this process has a connection to this file, which was checked when it was opened."""
    with _lock:
        return bool(_open) and _file_at(path) in _open


def _file_at(path: Path) -> _File | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
