"""`crawl4r pages`: every known URL."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from crawl4r.interfaces.cli.options import json_option, open_for_reading, workspace_option
from crawl4r.interfaces.cli.output import print_json, say
from crawl4r.model import UrlState, Verdict
from crawl4r.reports.url_story import GUESSES, LINKS, PageRow


@click.command("pages")
@workspace_option
@click.option(
    "--state", type=click.Choice([s.value for s in UrlState]), help="List only URLs in this state."
)
@click.option(
    "--verdict",
    type=click.Choice([v.value for v in Verdict]),
    metavar="VERDICT",  # the list of all verdicts is too long for a line
    help="List only URLs with this verdict, e.g. ok or http-error.",
)
@click.option(
    "--found-by",
    type=click.Choice([LINKS, GUESSES]),
    help="List only URLs that a page, sitemap or person named, or only guesses of crawl4r.",
)
@json_option
def command(
    workspace: Path,
    state: str | None,
    verdict: str | None,
    found_by: str | None,
    as_json: bool,
) -> None:
    """List every known URL, in the order of discovery.

    It also works during a crawl.

    \b
    crawl4r pages -w docs --state failed
    crawl4r pages -w docs --found-by guesses      sitemaps and further pages tried
    crawl4r pages -w docs --json | jq -r 'select(.status == 404) | .url'
    """
    with open_for_reading(workspace) as opened:
        for row in opened.pages(state, verdict, found_by):
            if as_json:
                print_json(asdict(row))
            else:
                say(_line(row))


def _line(row: PageRow) -> str:
    note = row.reason or row.verdict or ""
    size = row.bytes or 0
    line = f"{row.state:8} {row.status or '-':>3} {size:>9} {row.found_by:13} {row.url}  {note}"
    return line.rstrip()
