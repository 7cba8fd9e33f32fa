"""The names of control files, with which people and programs hold or end crawls."""

from __future__ import annotations

from pathlib import Path

from crawl4r.storage.layout import PAUSE, ROLES, STOP


def file_of(folder: Path, order: str, role: str | None = None, *, crawl: str | None = None) -> Path:
    """The control file for one role, for one crawl, or for everything in the workspace."""
    if crawl:
        return folder / f"{order}@{crawl}"
    return folder / (f"{order}.{role}" if role else order)


def orders_in(folder: Path) -> list[str]:
    """The names of the present control files."""
    names = [file_of(folder, order, role) for order in (PAUSE, STOP) for role in (None, *ROLES)]
    names += [path for order in (PAUSE, STOP) for path in sorted(folder.glob(f"{order}@*"))]
    return [path.name for path in names if path.exists()]
