"""The common part of `pause` and `stop`: a file that a running crawl looks for."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crawl4r.errors import WorkspaceError
from crawl4r.storage.layout import ROLES
from crawl4r.storage.lock import holder_of
from crawl4r.storage.own_files import open_own
from crawl4r.wiring.parts import discoverer_folder

role_option = click.option(
    "--only", "role", type=click.Choice(ROLES), help="Address only this process."
)


def is_running(workspace: Path, role: str | None) -> bool:
    """Whether a process is there that looks for the file."""
    discoverer = discoverer_folder(workspace)
    by_role = {None: [workspace, discoverer], "discover": [discoverer]}
    return any(holder_of(folder) is not None for folder in by_role.get(role, [workspace]))


def give(path: Path) -> None:
    """Create the control file."""
    if not path.parent.is_dir():
        raise WorkspaceError(f"there is no workspace {path.parent}")
    try:
        os.close(open_own(path, os.O_WRONLY | os.O_CREAT))
    except OSError as problem:
        raise WorkspaceError(f"cannot write {path}: {problem.strerror}") from problem
