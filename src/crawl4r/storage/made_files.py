"""Which files below a workspace crawl4r made: those alone are deleted by `reset`.

`logs`, `index` or `store` are names that other programs use too. What has no name that crawl4r gives
stays, with the folders that it lies in.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from crawl4r.storage.ownership import why_foreign

_SEGMENT = r"discoveries-\d{8}T\d{6}-\d{6,}\.jsonl"
_PAGE = r"[0-9a-f]{64}\.(?:html|bin)\.zst|\.new-[^/]*"
_DATABASE = r"(?:state\.(?:db|db-wal|db-shm|sum|new)|(?:crawl|index)\.lock|health\.json(?:\.new)?)"
# Of each folder: the files in it, by their path from there, and the folders.
_FILES = {
    "store": rf"segments/\d{{6,}}\.c4s|html/[0-9a-f]{{2}}/[0-9a-f]{{2}}/(?:{_PAGE})",
    "index": r"current(?:\.new)?|generation-\d+/.*",
    "spool": rf"progress\.json(?:\.new)?|(?:discoveries|archived)/{_SEGMENT}"
    rf"|hosts/[0-9a-f]{{24}}(?:\.\d+)?|discover/(?:{_DATABASE}|metadata/crawl_metadata\.jsonl"
    r"|logs/[a-z]+(?:_metrics)?\.csv)",
    "logs": r"(?:pages|edges|(?:crawl|discover|scrape)_metrics)\.csv",
    "metadata": r"crawl_metadata\.jsonl",
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
    """Files and links below a folder of a workspace that crawl4r did not make."""
    found = _walk(folder, folder.name)
    return [path for path, is_ours, is_folder in found if not (is_ours or is_folder)]


def has_own(folder: Path) -> bool:
    """Whether something below a folder is crawl4r's, or nothing is there at all."""
    is_empty = True
    for _, is_ours, is_folder in _walk(folder, folder.name):
        if is_ours:
            return True
        is_empty = is_empty and is_folder
    return is_empty


def remove_own(folder: Path) -> list[str]:
    """Delete what crawl4r made below a folder of a workspace, and the folder when it is empty.

    What could not be deleted, and why.
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
        with contextlib.suppress(OSError):  # something else is in it
            folder.rmdir()
    return failed


def is_generation(folder: Path) -> bool:
    """Whether a folder of index/ was made by crawl4r, and the catalogue in it too."""
    return why_foreign(folder / "catalogue.db", _CATALOGUE) is None


def _walk(folder: Path, top: str, below: str = "") -> Iterator[tuple[Path, bool, bool]]:
    """Everything below a folder, contents first: whether it is ours, and whether it is a folder.

    A link is ours to delete, since crawl4r goes through none; it is never followed.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        yield folder, True, True  # that it cannot be read is told when it is to be deleted
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
