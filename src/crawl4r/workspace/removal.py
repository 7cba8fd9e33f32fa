"""What a reset deletes: all that crawling made in a workspace, and nothing else."""

from __future__ import annotations

import contextlib
from pathlib import Path

from crawl4r.errors import StorageError
from crawl4r.search.places import Places
from crawl4r.settings.load import FILE_NAME, load_settings
from crawl4r.storage.layout import LOCK, PLACES, entries_of, holds_crawl, refuse_foreign_state
from crawl4r.storage.lock import WorkspaceLock
from crawl4r.storage.made_files import remove_own

_NOT_ASKING = {"agent": {"require_contact": False}}  # nothing is asked of any site


def remove_crawl(path: Path) -> list[Path]:
    """Delete what crawling made in a workspace; the configuration stays. What was deleted.

    Links are deleted, never what they point to, and files that crawl4r did not make stay. Raises
    StorageError that names what could not be deleted, when all else is gone; WorkspaceError, and
    deletes nothing, when what is there is not a crawl.
    """
    refuse_foreign_state(path)
    if not holds_crawl(path):
        return []
    if (path / LOCK).is_symlink():
        (path / LOCK).unlink()  # no process holds it: a lock is never opened through a link
        removed = [path / LOCK]
    else:
        removed = []
    left: list[str] = []
    with contextlib.closing(WorkspaceLock(path)):
        left += _drop_places(path)
        for item in entries_of(path):
            if item.name == PLACES and left:
                continue  # the next reset finds there what this one could not delete
            failed = _remove(item)
            left += failed
            if not failed:
                removed.append(item)
    if left:
        raise StorageError(f"could not delete {', '.join(left)}; all else of the crawl is gone")
    return removed


def places_of(path: Path) -> list[str]:
    """What a workspace has on servers, by its names there, and `remove_crawl` deletes too."""
    return [place.name for place in Places(path).own()] if (path / PLACES).is_file() else []


def _drop_places(path: Path) -> list[str]:
    """Before the file that knows their names goes; without them, settings may be as they like."""
    if not places_of(path):
        return []
    from crawl4r.wiring.index_places import drop_places  # noqa: PLC0415 - weighs more than a crawl

    return drop_places(path, load_settings(path / FILE_NAME, overrides=_NOT_ASKING))


def _remove(item: Path) -> list[str]:
    """What could not be deleted, and why."""
    if item.is_dir() and not item.is_symlink():
        return remove_own(item)
    try:
        item.unlink(missing_ok=True)
    except OSError as problem:
        return [f"{item} ({problem.strerror})"]
    return []
