"""`crawl4r map`: which URLs does a site name?"""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.looking import looking_options
from crawl4r.interfaces.cli.options import json_option
from crawl4r.interfaces.cli.output import print_json, say


@click.command("map")
@click.argument("url")
@looking_options
@click.option("--common-crawl", metavar="URL", default="", help="Also ask this CDX index.")
@click.option("--limit", type=click.IntRange(1), help="Print no more than this many.")
@json_option
def command(url: str, common_crawl: str, limit: int | None, as_json: bool, **options: Any) -> None:
    """List the URLs that a site names, and fetch none of them.

    Sitemaps, feeds and the first page are read.

    \b
    crawl4r map https://example.org/
    crawl4r map https://example.org/ --json | jq -r 'select(.source == "sitemap") | .url'
    """
    from crawl4r.interfaces.cli.looking import map_site  # noqa: PLC0415 - help goes without

    with tempfile.TemporaryDirectory(prefix="crawl4r-map-") as place:
        found = asyncio.run(map_site(url, Path(place), options, common_crawl))
    for item in found[:limit]:
        if as_json:
            print_json(item._asdict())
        else:
            say(f"{item.source:12} {_day(item.lastmod):10} {item.url}")
    if not as_json:
        say(f"{len(found):,} URLs", err=True)


def _day(moment: float | None) -> str:
    return "-" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
