"""`crawl4r map`: list the URLs that a site names."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from crawl4r.interfaces.cli.options import json_option
from crawl4r.interfaces.cli.output import print_json, say
from crawl4r.interfaces.cli.survey_options import STOPPED, run_survey, survey_options

if TYPE_CHECKING:
    from crawl4r.workspace.map_run import MappedUrl
    from crawl4r.workspace.survey import Survey


@click.command("map")
@click.argument("url")
@survey_options
@click.option("--common-crawl", metavar="URL", default="", help="Also query this CDX index.")
@click.option("--limit", type=click.IntRange(1), help="Print at most so many URLs.")
@json_option
def command(url: str, common_crawl: str, limit: int | None, as_json: bool, **options: Any) -> None:
    """List the URLs that a site names, without fetching them.

    Reads sitemaps, feeds and the first page.

    \b
    crawl4r map https://example.org/
    crawl4r map https://example.org/ --json | jq -r .url

    Ctrl-C prints the URLs found so far and ends with exit code 3.
    """

    async def work(survey: Survey) -> list[MappedUrl]:
        return await survey.map(common_crawl)

    found, is_partial = run_survey(url, options, work)
    shown = found[:limit]
    for item in shown:
        if as_json:
            print_json(item._asdict())
        else:
            say(f"{item.source:12} {_day(item.lastmod):10} {item.url}")
    count = (
        f"{len(found):,} URLs" if len(shown) == len(found) else f"{limit:,} of {len(found):,} URLs"
    )
    if is_partial:
        say(f"{count}, and not all: stopped before everything was read", err=True)
        sys.exit(STOPPED)
    if not as_json:
        say(count, err=True)


def _day(moment: float | None) -> str:
    return "-" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
