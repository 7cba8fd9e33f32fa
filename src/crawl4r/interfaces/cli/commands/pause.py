"""`crawl4r pause`: hold a running crawl, or let it continue."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.crawling.control_files import file_of
from crawl4r.interfaces.cli.control_option import give, is_running, role_option
from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import say, say_prose
from crawl4r.safe_text import command_line, visible
from crawl4r.storage.layout import PAUSE


@click.command("pause")
@workspace_option
@role_option
@click.option("--off", is_flag=True, help="Let the crawl continue.")
@json_option
def command(workspace: Path, role: str | None, off: bool, as_json: bool) -> None:
    """Hold the crawl of a workspace, or let it continue.

    The crawl finishes its pages in flight.

    \b
    crawl4r pause -w docs
    crawl4r pause -w docs --off
    crawl4r pause -w docs --only discover      one side of separated mode

    The command creates or removes a file called `pause` in the workspace.
    """
    path = file_of(workspace, PAUSE, role)
    if off:
        path.unlink(missing_ok=True)
    else:
        give(path)
    if as_json:
        print_json({"file": str(path), "paused": not off})
    elif is_running(workspace, role):
        word = "goes on" if off else "is held"
        say(f"{role or 'whatever runs'} in {workspace} {word} within a second")
    elif off:
        say(f"no {role or 'crawl'} runs in {workspace}; the next one is not held")
    else:
        only = ("--only", role) if role else ()
        again = command_line("crawl4r", "pause", "--off", *only, "-w", workspace)
        say_prose(
            visible(
                f"no {role or 'crawl'} runs in {workspace}; the next one is held until `{again}`"
            )
        )
