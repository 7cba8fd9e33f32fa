"""The common part of `pause` and `stop`: a file that a running crawl looks for."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crawl4r.errors import UsageError, WorkspaceError
from crawl4r.interfaces.cli.output import say
from crawl4r.storage.control_names import file_of
from crawl4r.storage.layout import PAUSE, ROLES
from crawl4r.storage.lock import holder_of
from crawl4r.storage.own_files import open_own
from crawl4r.wiring.parts import discoverer_folder

role_option = click.option(
    "--only", "role", type=click.Choice(ROLES), help="Address only this process."
)

crawl_option = click.option(
    "--crawl", metavar="NAME", help="Address only this crawl of the store (name or number)."
)


def order_file(workspace: Path, order: str, role: str | None, crawl: str | None) -> Path:
    """The control file for a process, for a crawl, or for everything in the workspace."""
    if crawl is None:
        return file_of(workspace, order, role)
    if role:
        raise UsageError("--only names a process and --crawl a crawl: give one of them")
    return file_of(workspace, order, crawl=name_of(workspace, crawl))


def name_of(workspace: Path, crawl: str) -> str:
    """The name of a crawl by its name or number; raises UsageError for an unknown one."""
    from crawl4r.interfaces.cli.options import open_for_reading  # noqa: PLC0415 - help goes without

    with open_for_reading(workspace) as opened:
        return opened.parts.crawls.get(crawl).name


def is_crawling(workspace: Path, crawl: str) -> bool:
    """Whether this crawl runs now."""
    from crawl4r.interfaces.cli.options import open_for_reading  # noqa: PLC0415

    with open_for_reading(workspace) as opened:
        found = opened.parts.crawls.get(crawl)
        return holder_of(workspace) is not None and found in opened.parts.crawls.running()


def end_pause(workspace: Path, crawl: str) -> bool:
    """Let a crawl that is held go on; whether it runs, so that nothing else is to be done."""
    file_of(workspace, PAUSE, crawl=name_of(workspace, crawl)).unlink(missing_ok=True)
    if not is_crawling(workspace, crawl):
        return False
    say(f"the crawl {crawl} in {workspace} goes on within a second")
    return True


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
