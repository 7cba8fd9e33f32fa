"""How far whoever reads the spool is, told in a file beside it.

For the one who writes the spool, which knows nothing else of its reader. The file is a copy: what
counts is in the reader's own database.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from crawl4r.frontier.spool import Bookmark, SpoolReader
from crawl4r.safe_text import read_json

_NAME = "progress.json"
_HELD = "held"  # is there while the writer waits for the reader


class SpoolProgress(NamedTuple):
    bookmark: Bookmark
    unfinished: int  # discoveries that were read and are not yet visited


def write_progress(spool: Path, progress: SpoolProgress) -> None:
    """Replaces the file, so that nobody reads half of it."""
    new = spool / f"{_NAME}.new"
    new.write_text(
        json.dumps({"bookmark": progress.bookmark, "unfinished": progress.unfinished}), "ascii"
    )
    os.replace(new, spool / _NAME)


def read_progress(spool: Path) -> SpoolProgress:
    """As far as is known: nobody has read anything while there is no such file."""
    try:
        plain = read_json((spool / _NAME).read_text("ascii"))
        unfinished = int(plain["unfinished"])
        return SpoolProgress(Bookmark.from_text(json.dumps(plain["bookmark"])), unfinished)
    except (OSError, ValueError, KeyError, TypeError):
        return SpoolProgress(Bookmark(), 0)


def backlog_of(spool: Path, reader: SpoolReader) -> int:
    """Discoveries that wait: in the spool, or at the one who reads it."""
    progress = read_progress(spool)
    return reader.unread(progress.bookmark) + progress.unfinished


def mark_held(spool: Path, held: bool) -> None:
    """Let others see that the writer waits, or no longer does."""
    if held:
        (spool / _HELD).touch()
    else:
        (spool / _HELD).unlink(missing_ok=True)


def is_held(spool: Path) -> bool:
    """Whether the writer, if it runs, waits for the reader."""
    return (spool / _HELD).exists()
