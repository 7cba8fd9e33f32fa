"""The common part of `pause` and `stop`: a file that a running crawl looks for."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crawl4r.errors import WorkspaceError
from crawl4r.storage.layout import ROLES
from crawl4r.storage.own_files import open_own

role_option = click.option(
    "--only", "role", type=click.Choice(ROLES), help="Address only this process."
)


def give(path: Path) -> None:
    """Create the control file."""
    if not path.parent.is_dir():
        raise WorkspaceError(f"there is no workspace {path.parent}")
    try:
        os.close(open_own(path, os.O_WRONLY | os.O_CREAT))
    except OSError as problem:
        raise WorkspaceError(f"cannot write {path}: {problem.strerror}") from problem
