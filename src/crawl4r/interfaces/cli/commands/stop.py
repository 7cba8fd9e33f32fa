"""`crawl4r stop`: end a running crawl from somewhere else."""

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
from crawl4r.interfaces.cli.output import say
from crawl4r.storage.layout import STOP


@click.command("stop")
@workspace_option
@role_option
@crawl_option
@json_option
def command(workspace: Path, role: str | None, crawl: str | None, as_json: bool) -> None:
    """End the crawls of a workspace, like Ctrl-C.

    The same crawl command continues it later.

    \b
    crawl4r stop -w docs
    crawl4r stop -w docs --crawl news          one crawl of the store
    crawl4r stop -w docs --only scrape         one side of separated mode

    The command creates a file called `stop` in the workspace; the next start removes it.
    """
    path = order_file(workspace, STOP, role, crawl)
    is_there = is_crawling(workspace, crawl) if crawl else is_running(workspace, role)
    give(path)
    if as_json:
        print_json({"file": str(path)})
    elif not is_there:
        none = f"the crawl {crawl} does not run" if crawl else f"no {role or 'crawl'} runs"
        say(f"{none} in {workspace}, so there is nothing to stop")
    else:
        what = f"the crawl {crawl}" if crawl else role or "whatever runs"
        say(f"{what} in {workspace} ends when its pages in flight are kept")
