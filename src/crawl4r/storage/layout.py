"""What crawl4r makes in a workspace, by name; and that none of it leads out of the workspace.

The folder of a workspace may be a symbolic link. What crawl4r makes inside may not: a workspace that
comes from somebody else could otherwise have any file of its user overwritten.
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
PLACES = "index.places"  # which parts of the index are on servers, and under which names
# What `reset` deletes, in this order: pages without their database are noticed, and not the reverse.
MADE = (
    STATE, "state.db-wal", "state.db-shm", "state.sum", "state.new",
    "index.lock", PLACES, f".{PLACES}.part", HEALTH, f"{HEALTH}.new",
    "store", "index", "spool", "logs", "metadata", ".replay",
    *(f"{order}{role}" for order in (PAUSE, STOP) for role in ("", *(f".{role}" for role in ROLES))),
)  # fmt: skip
# What a crawl writes anew, whatever is there; and what tells that there was one.
_REPLACED = (
    HEALTH, "index/current", "logs/pages.csv", "logs/edges.csv", "metadata/crawl_metadata.jsonl",
)  # fmt: skip
_SIGNS = (STATE, LOCK, "state.sum", "store/segments", "store/html", "spool/discover")
_LEVELS = 3  # of folders in which files are made or changed; below them, files are only added


def entries_of(workspace: Path) -> list[Path]:
    """What is there of all that crawl4r makes, links too; the lock only when it is a link."""
    there = [workspace / name for name in MADE if _is_made(workspace / name)]
    lock = workspace / LOCK
    return [*there, lock] if lock.is_symlink() else there


def strangers_in(workspace: Path) -> list[Path]:
    """What crawl4r did not make in the folders that it did."""
    folders = [path for path in entries_of(workspace) if path.is_dir() and not path.is_symlink()]
    return [path for folder in folders for path in foreign_in(folder)]


def refuse_foreign_state(workspace: Path) -> None:
    """Raise WorkspaceError when the state of this folder is not a crawl's, and so neither is the rest.

    A link in its place is told of by `refuse_links`.
    """
    state = workspace / STATE
    if not state.is_symlink():
        refuse_foreign(state, tables_of(VERSIONS))


def refuse_occupied(workspace: Path) -> None:
    """Raise WorkspaceError when a new crawl would write over files that are there already."""
    if os.path.lexists(workspace / STATE):
        return
    for path in (workspace / name for name in _REPLACED):
        if path.exists() or path.is_symlink():
            raise WorkspaceError(
                f"{path} is there, but no {STATE} beside it: a new crawl would write over it. Bring"
                f" {STATE} back, move {path.name} away, or give another --workspace"
            )


def holds_crawl(workspace: Path) -> bool:
    """Whether crawl4r has worked in a folder."""
    return any(os.path.lexists(workspace / name) for name in _SIGNS) or any(
        path.is_symlink() for path in entries_of(workspace)
    )


def refuse_links(workspace: Path) -> None:
    """Raise WorkspaceError when something in a workspace is a symbolic link and must not be one."""
    for link in _links_of(workspace):
        raise WorkspaceError(
            f"{link} is a symbolic link: crawl4r writes through none inside a workspace. Keep the "
            f"whole workspace on the other disk and make {workspace} the link, or mount that disk "
            f"at {link}; `crawl4r reset` removes links, and never what they point to"
        )


def refuse_output(workspace: Path, out: Path, option: str = "--out") -> None:
    """Raise UsageError when what a command is about to write would replace a part of the workspace."""
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
