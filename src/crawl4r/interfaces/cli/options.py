"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawl4r.errors import WorkspaceError

if TYPE_CHECKING:
    from crawl4r.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])

workspace_option = click.option(
    "--workspace",
    "-w",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("workspace"),
    show_default=True,
    envvar="CRAWL4R_WORKSPACE",
    help="Directory of the crawl.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


def open_for_reading(path: Path) -> Workspace:
    """An existing workspace, also while a crawl runs in it."""
    from crawl4r.workspace import open_workspace  # noqa: PLC0415 - help and completion go without

    check_that_there_is_a_crawl(path)
    return open_workspace(path, read_only=True)


def check_that_there_is_a_crawl(path: Path) -> None:
    """Nobody who mistypes a directory should get an empty answer."""
    if not (path / "state.db").exists():
        raise WorkspaceError(
            f"there is no crawl in {path}; start one with `crawl4r crawl URL --workspace {path}`"
        )


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, default=str))
