"""What crawl4r makes in a workspace, by name; and that none of it leads out of the workspace.

The folder of a workspace may be a symbolic link. What crawl4r makes inside may not: a workspace that
comes from somebody else could otherwise have any file of its user overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from crawl4r.errors import UsageError, WorkspaceError
from crawl4r.own_files import links_in
from crawl4r.resilience.health import NAME as HEALTH

PAUSE, STOP = "pause", "stop"
ROLES = ("crawl", "discover", "scrape")
LOCK = "crawl.lock"
# What `reset` deletes, in this order: pages without their database are noticed, and not the reverse.
MADE = (
    "state.db", "state.db-wal", "state.db-shm", "state.sum", "state.new",
    "index.lock", HEALTH, f"{HEALTH}.new", "store", "index", "spool", "logs", "metadata", ".replay",
    *(f"{order}{role}" for order in (PAUSE, STOP) for role in ("", *(f".{role}" for role in ROLES))),
)  # fmt: skip
_LEVELS = 3  # of folders in which files are made or changed; below them, files are only added


def entries_of(workspace: Path) -> list[Path]:
    """What is there of all that crawl4r makes, links too; the lock only when it is a link."""
    there = [workspace / name for name in MADE if os.path.lexists(workspace / name)]
    lock = workspace / LOCK
    return [*there, lock] if lock.is_symlink() else there


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


def _links_of(workspace: Path) -> Iterator[Path]:
    for entry in entries_of(workspace):
        if entry.is_symlink():
            yield entry
        else:
            yield from links_in(entry, _LEVELS)
