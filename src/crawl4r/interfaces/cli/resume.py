"""`crawl4r resume`: go on with the last crawl of a workspace, as it was told then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.crawl import crawl_options
from crawl4r.interfaces.cli.options import open_for_reading


@click.command("resume")
@crawl_options
def command(workspace: Path, **options: Any) -> None:
    """Go on with a crawl, with the options it was started with.

    \b
    crawl4r resume -w docs
    crawl4r resume -w docs --max-pages 2000      the same, with another limit
    """
    from crawl4r.interfaces.cli.running import run_crawl  # noqa: PLC0415
    from crawl4r.interfaces.cli.saved import saved_options, with_passwords  # noqa: PLC0415

    with open_for_reading(workspace) as opened:
        before = saved_options(opened)
        if not options["proxies"]:
            before = with_passwords(before, opened.settings.fetch.proxies.servers)
    # By identity: 0 is an answer.
    given = {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }
    run_crawl(workspace, (), {**options, **before, **given})
