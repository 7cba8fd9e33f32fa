"""`crawl4r pause`: hold a running crawl, or let it continue."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.interfaces.cli.control_option import (
    crawl_option,
    give,
    is_crawling,
    is_running,
    order_file,
    role_option,
)
from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import say, say_prose
from crawl4r.safe_text import command_line, visible
from crawl4r.storage.layout import PAUSE


@click.command("pause")
@workspace_option
@role_option
@crawl_option
@click.option("--off", is_flag=True, help="Let the crawl continue.")
@json_option
def command(workspace: Path, role: str | None, crawl: str | None, off: bool, as_json: bool) -> None:
    """Hold the crawls of a workspace, or let them continue.

    A crawl finishes its pages in flight.

    \b
    crawl4r pause -w docs
    crawl4r pause -w docs --off
    crawl4r pause -w docs --crawl news         one crawl of the store
    crawl4r pause -w docs --only discover      one side of separated mode

    The command creates or removes a file called `pause` in the workspace.
    """
    path = order_file(workspace, PAUSE, role, crawl)
    if off:
        path.unlink(missing_ok=True)
    else:
        give(path)
    if as_json:
        print_json({"file": str(path), "paused": not off})
        return
    what = f"the crawl {crawl}" if crawl else role or "crawl"
    if is_crawling(workspace, crawl) if crawl else is_running(workspace, role):
        word = "goes on" if off else "is held"
        say(f"{what if crawl or role else 'whatever runs'} in {workspace} {word} within a second")
        return
    none = f"{what} does not run" if crawl else f"no {what} runs"
    then = "it is" if crawl else "the next one is"
    if off:
        say(f"{none} in {workspace}; {then} not held")
        return
    only = ("--crawl", crawl) if crawl else ("--only", role) if role else ()
    again = command_line("crawl4r", "pause", "--off", *only, "-w", workspace)
    say_prose(visible(f"{none} in {workspace}; {then} held until `{again}`"))
