"""`crawl4r crawl`: crawl a site, or go on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.crawl_options import CrawlCommand, crawl_options, name_option


@click.command("crawl", cls=CrawlCommand)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@name_option
@crawl_options
def command(urls: tuple[str, ...], workspace: Path, **options: Any) -> None:
    """Crawl from URLs into a workspace, or continue a crawl.

    A workspace remembers the options of its last crawl: a later command names only changes, and
    --forget drops an option. Changed options also apply to URLs that were found before.

    \b
    crawl4r crawl https://example.org/ --max-pages 500
    crawl4r crawl https://docs.example.org/ -w docs --depth 3 --deny '/archive/'
    crawl4r crawl http://127.0.0.1:8000/ --allow-private 127.0.0.1 --rate 0
    crawl4r crawl -w docs --deny '/old/' --forget depth
    crawl4r crawl -w docs --refresh --budget 20%

    Ctrl-C finishes the pages in flight, a second one stops at once. Both keep everything stored so far.
    """
    from crawl4r.interfaces.cli.run_crawl import run_crawl  # noqa: PLC0415 - help goes without

    run_crawl(workspace, urls, options)
