"""Complete the commands that messages name.

A part that finds the index damaged knows neither the workspace of the command nor how it was given;
`crawl4r index --rebuild` without `-w` would make another one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from crawl4r.safe_text import command_line

_PLACE = "crawl4r.workspace"
_COMMAND = re.compile(r"`crawl4r ([a-z-]+)([^`]*)`")


def remember_workspace(context: click.Context, option: click.Parameter, value: Any) -> Any:
    """The callback of `--workspace`. One of the environment is known to the next command, too."""
    if context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE:
        context.meta[_PLACE] = value
    return value


def with_workspace(text: str) -> str:
    """The text, with the workspace of this command in each command that lacks one."""
    context = click.get_current_context(silent=True)
    place = context.meta.get(_PLACE) if context else None
    if context is None or place is None:
        return text
    return _COMMAND.sub(lambda found: _completed(context.find_root(), found, place), text)


def _completed(root: click.Context, found: re.Match[str], place: Path) -> str:
    assert isinstance(root.command, click.Group)
    command = root.command.get_command(root, found[1])
    takes_it = command and any(option.name == "workspace" for option in command.params)
    if not takes_it or re.search(r" (?:-w|--workspace)\b", found[2]):
        return found[0]
    return f"{found[0][:-1]} {command_line('-w', place)}`"
