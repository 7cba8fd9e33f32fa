"""`crawl4r spool`: discover in one process, scrape in another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.crawl_options import CrawlCommand, crawl_options


@click.group("spool")
def command() -> None:
    """Discover pages in one process and fetch them in another.

    \b
    crawl4r spool run https://example.org/ -w docs         both at once
    crawl4r spool discover https://example.org/ -w docs    only find pages
    crawl4r spool scrape -w docs                           only fetch them

    Each side can be paused (`crawl4r pause`), stopped, killed and started again on its own.
    """


@command.command("discover", cls=CrawlCommand, short_help="Find pages and name them in the spool.")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@crawl_options
def discover(urls: tuple[str, ...], workspace: Path, **options: Any) -> None:
    """Follow links from URLs and append the URLs in scope to the spool, without keeping pages.

    \b
    crawl4r spool discover https://example.org/ -w docs
    crawl4r spool discover -w docs --refresh        name known pages again

    It slows down and waits while more than spool.max_backlog discoveries are unfetched.
    """
    from crawl4r.interfaces.cli.run_separated import run_discover  # noqa: PLC0415 - help goes without

    run_discover(workspace, urls, options)


@command.command(
    "scrape", cls=CrawlCommand, short_help="Fetch and keep the pages that the spool names."
)
@crawl_options
@click.option("--follow", is_flag=True, help="Wait for more URLs even if no discoverer runs.")
def scrape(workspace: Path, **options: Any) -> None:
    """Fetch and keep the pages that the spool names, as long as a discoverer runs.

    \b
    crawl4r spool scrape -w docs
    crawl4r spool scrape -w docs --follow             run until it is stopped
    crawl4r spool scrape -w docs --refresh            visit known pages again
    """
    from crawl4r.interfaces.cli.run_separated import run_scrape  # noqa: PLC0415 - help goes without

    follow = options.pop("follow")
    run_scrape(workspace, options, lambda: follow)


@command.command("run", cls=CrawlCommand, short_help="Discover and scrape side by side.")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@crawl_options
def run(urls: tuple[str, ...], workspace: Path, **options: Any) -> None:
    """Discover and scrape side by side, in two processes, until everything is fetched.

    \b
    crawl4r spool run https://example.org/ -w docs
    """
    from crawl4r.interfaces.cli.run_separated import run_both  # noqa: PLC0415 - help goes without

    run_both(workspace, urls, options)
