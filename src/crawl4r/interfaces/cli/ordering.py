"""What `pause` and `stop` have in common: a file that a running crawl looks for."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.control import ROLES
from crawl4r.errors import WorkspaceError

role_option = click.option(
    "--only", "role", type=click.Choice(ROLES), help="One of several that run there."
)


def give(path: Path) -> None:
    """Make the file that says it."""
    if not path.parent.is_dir():
        raise WorkspaceError(f"there is no workspace {path.parent}")
    try:
        path.touch()
    except OSError as problem:
        raise WorkspaceError(f"cannot write {path}: {problem.strerror}") from problem
