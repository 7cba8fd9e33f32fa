"""`crawl4r stop`: end a running crawl from somewhere else."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.crawling.control_files import file_of
from crawl4r.interfaces.cli.control_option import give, is_running, role_option
from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import say
from crawl4r.storage.layout import STOP


@click.command("stop")
@workspace_option
@role_option
@json_option
def command(workspace: Path, role: str | None, as_json: bool) -> None:
    """End the crawl of a workspace, like Ctrl-C.

    The same crawl command continues it later.

    \b
    crawl4r stop -w docs
    crawl4r stop -w docs --only scrape         one side of separated mode

    The command creates a file called `stop` in the workspace; the next start removes it.
    """
    path = file_of(workspace, STOP, role)
    give(path)
    if as_json:
        print_json({"file": str(path)})
    elif not is_running(workspace, role):
        say(f"no {role or 'crawl'} runs in {workspace}, so there is nothing to stop")
    else:
        say(f"{role or 'whatever runs'} in {workspace} ends when its pages in flight are kept")
