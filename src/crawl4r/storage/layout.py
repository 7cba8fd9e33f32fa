"""The names of crawl4r's files in a workspace, and the check that no link leads out of it.

The folder of a workspace may be a symbolic link. crawl4r's files inside may not: a workspace from
another person could otherwise make crawl4r overwrite any file of its user.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from crawl4r.errors import UsageError, WorkspaceError
from crawl4r.storage.made_files import FOLDERS, foreign_in, has_own
from crawl4r.storage.migrations import VERSIONS
from crawl4r.storage.own_files import links_in
from crawl4r.storage.ownership import refuse_foreign, tables_of

STATE = "state.db"
PAUSE, STOP = "pause", "stop"
HEALTH = "health.json"
ROLES = ("crawl", "discover", "scrape")
LOCK = "crawl.lock"
PLACES = "index.places"  # names of the index parts on servers
RECOVERING = "state.db.recovering"  # the new state.db, until it is whole
SALVAGED = "state.db.salvaged"  # a copy of a damaged one, which is read for what is left
_ASIDE = "state.db.damaged-*"  # damaged ones, as `recover` found them
_OF_CRAWLS = tuple(f"{order}@*" for order in (PAUSE, STOP))  # control files for one crawl each
# Deleted by `reset` in this order: crawl4r detects pages without a database, but not the reverse.
MADE = (
    STATE, "state.db-wal", "state.db-shm", "state.sum", "state.new",
    *(f"{name}{end}" for name in (RECOVERING, SALVAGED) for end in ("", "-wal", "-shm", "-journal")),
    "index.lock", PLACES, f".{PLACES}.part", HEALTH, f"{HEALTH}.new",
    "store", "index", "spool", "logs", "metadata", "orders", ".replay",
    *(f"{order}{role}" for order in (PAUSE, STOP) for role in ("", *(f".{role}" for role in ROLES))),
)  # fmt: skip
# Files that a new crawl overwrites; they show that there was an earlier crawl.
_REPLACED = (
    HEALTH, "index/current", "logs/pages.csv", "logs/edges.csv", "metadata/crawl_metadata.jsonl",
)  # fmt: skip
_SIGNS = (STATE, LOCK, "state.sum", "store/segments", "store/html", "spool/discover")
_LEVELS = 3  # levels of folders with files that change; below them files are only added


def entries_of(workspace: Path) -> list[Path]:
    """The existing files, folders and links of crawl4r; the lock only if it is a link."""
    there = [workspace / name for name in MADE if _is_made(workspace / name)]
    for pattern in (_ASIDE, *_OF_CRAWLS):
        there += sorted(path for path in workspace.glob(pattern) if _is_made(path))
    lock = workspace / LOCK
    return [*there, lock] if lock.is_symlink() else there


def strangers_in(workspace: Path) -> list[Path]:
    """Foreign files in crawl4r's folders."""
    folders = [path for path in entries_of(workspace) if path.is_dir() and not path.is_symlink()]
    return [path for folder in folders for path in foreign_in(folder)]


def refuse_foreign_state(workspace: Path) -> None:
    """Raise WorkspaceError when state.db of this folder belongs to another program.

    `refuse_links` reports a link in its place.
    """
    state = workspace / STATE
    if not state.is_symlink():
        refuse_foreign(state, tables_of(VERSIONS))


def refuse_occupied(workspace: Path) -> None:
    """Raise WorkspaceError when a new crawl would overwrite existing files."""
    if os.path.lexists(workspace / STATE):
        return
    for path in (workspace / name for name in _REPLACED):
        if path.exists() or path.is_symlink():
            raise WorkspaceError(
                f"{path} is there, but no {STATE} beside it: a new crawl would write over it. Bring"
                f" {STATE} back, move {path.name} away, or give another --workspace"
            )


def holds_crawl(workspace: Path) -> bool:
    """Whether a folder holds files of crawl4r."""
    return any(os.path.lexists(workspace / name) for name in _SIGNS) or any(
        path.is_symlink() for path in entries_of(workspace)
    )


def refuse_links(workspace: Path) -> None:
    """Raise WorkspaceError for a forbidden symbolic link in a workspace."""
    for link in _links_of(workspace):
        raise WorkspaceError(
            f"{link} is a symbolic link: crawl4r writes through none inside a workspace. Keep the "
            f"whole workspace on the other disk and make {workspace} the link, or mount that disk "
            f"at {link}; `crawl4r reset` removes links, and never what they point to"
        )


def refuse_output(workspace: Path, out: Path, option: str = "--out") -> None:
    """Raise UsageError when the output of a command would replace a part of the workspace."""
    home, place = workspace.resolve(), out.resolve()
    own = {home / name for name in (*MADE, LOCK)}
    if place == home or own & {place, *place.parents}:
        raise UsageError(
            f"{option}: {out} belongs to the workspace {workspace}; choose another place"
        )


def _is_made(path: Path) -> bool:
    if path.is_symlink():
        return True
    if path.name in FOLDERS:
        return path.is_dir() and has_own(path)
    return path.is_file()


def _links_of(workspace: Path) -> Iterator[Path]:
    for entry in entries_of(workspace):
        if entry.is_symlink():
            yield entry
        else:
            yield from links_in(entry, _LEVELS)
