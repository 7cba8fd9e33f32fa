"""Identify the files that crawl4r made in a workspace; `reset` deletes only those.

Other programs also use names like `logs`, `index` or `store`. Files with other names than crawl4r's
stay, with their folders.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from crawl4r.storage.ownership import why_foreign

_SEGMENT = r"discoveries-\d{8}T\d{6}-\d{6,}\.jsonl"
_PAGE = r"[0-9a-f]{64}\.(?:html|bin)\.zst(?:\.damaged)?|\.new-[^/]*"
_DATABASE = r"(?:state\.(?:db|db-wal|db-shm|sum|new)|(?:crawl|index)\.lock|health\.json(?:\.new)?)"
# For each folder: patterns of its files and its folders, as relative paths.
_FILES = {
    "store": rf"segments/\d{{6,}}\.c4s|html/[0-9a-f]{{2}}/[0-9a-f]{{2}}/(?:{_PAGE})",
    "index": r"current(?:\.new)?|generation-\d+/.*",
    "spool": rf"progress\.json(?:\.new)?|(?:discoveries|archived)/{_SEGMENT}"
    rf"|hosts/[0-9a-f]{{24}}(?:\.\d+)?|discover/(?:{_DATABASE}|metadata/crawl_metadata\.jsonl"
    r"|logs/[a-z]+(?:_metrics)?\.csv)",
    "logs": r"(?:pages|edges|(?:crawl|discover|scrape)_metrics)\.csv",
    "metadata": r"crawl_metadata\.jsonl",
    "orders": r"engine\.lock|\.?\d+-[0-9a-f]+\.(?:order|stop|begun|answer)(?:\.part)?",
    ".replay": r".*",
}
_FOLDERS = {
    "store": r"segments|html(?:/[0-9a-f]{2}){0,2}",
    "index": r"generation-\d+(?:/.*)?",
    "spool": r"discoveries|archived|hosts|discover(?:/(?:metadata|logs))?",
    ".replay": r".*",
}
FOLDERS = frozenset(_FILES)
_CATALOGUE = frozenset(["facts", "versions", "chunks"])  # its tables
_GENERATION = re.compile(r"generation-\d+")


def foreign_in(folder: Path) -> list[Path]:
    """Foreign files and links below a folder of a workspace."""
    found = _walk(folder, folder.name)
    return [path for path, is_ours, is_folder in found if not (is_ours or is_folder)]


def has_own(folder: Path) -> bool:
    """Whether a folder is empty or holds files of crawl4r."""
    is_empty = True
    for _, is_ours, is_folder in _walk(folder, folder.name):
        if is_ours:
            return True
        is_empty = is_empty and is_folder
    return is_empty


def remove_own(folder: Path) -> list[str]:
    """Delete crawl4r's files below a folder of a workspace, and the folder if it becomes empty.

    Returns the failures with their reasons.
    """
    failed = []
    for path, is_ours, is_folder in _walk(folder, folder.name):
        if not is_ours:
            continue
        try:
            if not is_folder:
                path.unlink(missing_ok=True)
            elif not any(path.iterdir()):
                path.rmdir()
        except OSError as problem:
            failed.append(f"{path} ({problem.strerror})")
    if not failed:
        with contextlib.suppress(OSError):  # it holds foreign files
            folder.rmdir()
    return failed


def is_generation(folder: Path) -> bool:
    """Whether a folder of index/ and its catalogue belong to crawl4r."""
    return why_foreign(folder / "catalogue.db", _CATALOGUE) is None


def _walk(folder: Path, top: str, below: str = "") -> Iterator[tuple[Path, bool, bool]]:
    """Everything below a folder, contents first, with flags: is it ours, is it a folder?

    A link counts as ours and is never followed, because crawl4r writes through no link.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        yield folder, True, True  # deleting an unreadable folder reports the error
        return
    for entry in entries:
        inside = f"{below}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if _is_foreign_generation(top, inside, Path(entry.path)):
                yield Path(entry.path), False, False
                continue
            yield from _walk(Path(entry.path), top, f"{inside}/")
            is_ours = re.fullmatch(_FOLDERS.get(top, ""), inside) is not None
            yield Path(entry.path), is_ours, True
        else:
            is_ours = re.fullmatch(_FILES[top], inside) is not None or entry.is_symlink()
            yield Path(entry.path), is_ours, False


def _is_foreign_generation(top: str, inside: str, folder: Path) -> bool:
    return (
        top == "index" and _GENERATION.fullmatch(inside) is not None and not is_generation(folder)
    )
