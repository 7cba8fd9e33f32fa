"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawl4r.errors import WorkspaceError
from crawl4r.formats.units import bytes_of, seconds_of
from crawl4r.interfaces.cli.output import print_json
from crawl4r.interfaces.cli.own_commands import remember_workspace
from crawl4r.safe_text import command_line

if TYPE_CHECKING:
    from crawl4r.settings.load import Settings
    from crawl4r.workspace.workspace import Workspace

__all__ = [
    "DURATION",
    "SIZE",
    "check_that_there_is_a_crawl",
    "json_option",
    "open_for_reading",
    "print_json",
    "settings_for_reading",
    "workspace_option",
]


class Quantity(click.ParamType[Any]):
    """A number with an optional unit."""

    def __init__(self, name: str, read: Callable[[str], float | None], example: str) -> None:
        self.name = name
        self._read = read
        self._example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if not isinstance(value, str):
            return float(value) if isinstance(value, float) else int(value)
        number = self._read(value)
        if number is None:
            self.fail(f"{value!r} is not a {self.name} like {self._example}", param, ctx)
        return number


SIZE = Quantity("size", bytes_of, "10MB, 1GiB or 5000 (bytes)")
DURATION = Quantity("duration", seconds_of, "90s, 10m, 1h30m or 45 (seconds)")
workspace_option = click.option(
    "--workspace",
    "-w",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("workspace"),
    show_default=True,
    envvar="CRAWL4R_WORKSPACE",
    callback=remember_workspace,
    help="Use this directory for the crawl.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def open_for_reading(path: Path) -> Workspace:
    """Open an existing workspace, also during a crawl, with the settings of its last crawl.

    URLs are therefore spelled and judged as in that crawl, with its profile and options. If only a
    discoverer has run so far, this opens the discoverer's state.
    """
    # Imported late: help and completion do not need them.
    from crawl4r.interfaces.cli.saved_options import saved_options  # noqa: PLC0415
    from crawl4r.wiring.parts import discoverer_folder  # noqa: PLC0415
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    folder, home = path, None
    if not (path / "state.db").exists() and (discoverer_folder(path) / "state.db").exists():
        folder, home = discoverer_folder(path), path
    check_that_there_is_a_crawl(folder)
    opened = Workspace(folder, settings_for_reading(path), read_only=True, home=home)
    saved = saved_options(opened)
    saved.pop("proxies", None)  # no requests follow, and the passwords are not saved
    if saved:
        opened.settings = settings_for_reading(path, saved.pop("profile", None), saved)
    return opened


def settings_for_reading(
    path: Path, profile: str | None = None, options: dict[str, Any] | None = None
) -> Settings:
    """The settings of a workspace for a command without requests, which needs no contact."""
    from crawl4r.settings.load import (  # noqa: PLC0415
        FILE_NAME,
        load_settings,
        overrides_of,
    )

    return load_settings(
        path / FILE_NAME,
        profile=profile,
        remembered=overrides_of(**(options or {})),
        overrides={"agent": {"require_contact": False}},
    )


def check_that_there_is_a_crawl(path: Path) -> None:
    """Raise UsageError for a directory without a crawl, which may be mistyped."""
    if not (path / "state.db").exists():
        raise WorkspaceError(
            f"there is no crawl in {path}; start one with"
            f" `{command_line('crawl4r', 'crawl', 'URL', '--workspace', path)}`"
        )
