"""Publish the reader's progress in a file beside the spool.

The writer of the spool reads it. The file is a copy; the reader's database is authoritative.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from crawl4r.frontier.spool import Bookmark, SpoolReader
from crawl4r.safe_text import read_json

_NAME = "progress.json"
_HELD = "held"  # exists while the writer waits for the reader


class SpoolProgress(NamedTuple):
    bookmark: Bookmark
    unfinished: int  # discoveries that were read and not yet visited


def write_progress(spool: Path, progress: SpoolProgress) -> None:
    """Replace the file, so that no process reads a half-written one."""
    new = spool / f"{_NAME}.new"
    new.write_text(
        json.dumps({"bookmark": progress.bookmark, "unfinished": progress.unfinished}), "ascii"
    )
    os.replace(new, spool / _NAME)


def read_progress(spool: Path) -> SpoolProgress:
    """The published progress; the beginning if the file is missing."""
    try:
        plain = read_json((spool / _NAME).read_text("ascii"))
        unfinished = int(plain["unfinished"])
        return SpoolProgress(Bookmark.from_text(json.dumps(plain["bookmark"])), unfinished)
    except (OSError, ValueError, KeyError, TypeError):
        return SpoolProgress(Bookmark(), 0)


def backlog_of(spool: Path, reader: SpoolReader) -> int:
    """The number of waiting discoveries, in the spool or at the reader."""
    progress = read_progress(spool)
    return reader.unread(progress.bookmark) + progress.unfinished


def mark_held(spool: Path, held: bool) -> None:
    """Publish whether the writer waits."""
    if held:
        (spool / _HELD).touch()
    else:
        (spool / _HELD).unlink(missing_ok=True)


def is_held(spool: Path) -> bool:
    """Whether a running writer waits for the reader."""
    return (spool / _HELD).exists()
