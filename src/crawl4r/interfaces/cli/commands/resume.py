"""`crawl4r resume`: continue the last crawl of a workspace with its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.control_option import end_pause
from crawl4r.interfaces.cli.crawl_options import (
    CrawlCommand,
    crawl_options,
    name_option,
    same_name_option,
)
from crawl4r.interfaces.cli.options import check_that_there_is_a_crawl


@click.command("resume", cls=CrawlCommand)
@name_option
@same_name_option
@crawl_options
def command(workspace: Path, crawl: str | None, **options: Any) -> None:
    """Continue a crawl with the options of its start.

    A crawl that `crawl4r pause` holds goes on.

    \b
    crawl4r resume -w docs
    crawl4r resume -w docs --crawl news          one crawl of the store
    crawl4r resume -w docs --max-pages 2000      with another limit
    """
    from crawl4r.interfaces.cli.run_crawl import run_crawl  # noqa: PLC0415

    check_that_there_is_a_crawl(workspace)
    name = options["name"] = options["name"] or crawl
    if name and end_pause(workspace, name):
        return
    run_crawl(workspace, (), options)
