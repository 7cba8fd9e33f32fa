"""`crawl4r pages`: every known URL."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from crawl4r.interfaces.cli.options import json_option, open_for_reading, workspace_option
from crawl4r.interfaces.cli.output import print_json, say
from crawl4r.model import UrlState, Verdict
from crawl4r.reporting import PageRow


@click.command("pages")
@workspace_option
@click.option("--state", type=click.Choice([s.value for s in UrlState]), help="Only these.")
@click.option(
    "--verdict",
    type=click.Choice([v.value for v in Verdict]),
    metavar="VERDICT",  # all of them do not fit a line
    help="Only these, like ok, redirect, http-error or robots-denied.",
)
@json_option
def command(workspace: Path, state: str | None, verdict: str | None, as_json: bool) -> None:
    """List every known URL, in the order of discovery.

    It works while a crawl runs, too.

    \b
    crawl4r pages -w docs --state failed
    crawl4r pages -w docs --json | jq -r 'select(.status == 404) | .url'
    """
    with open_for_reading(workspace) as opened:
        for row in opened.pages(state, verdict):
            if as_json:
                print_json(asdict(row))
            else:
                say(_line(row))


def _line(row: PageRow) -> str:
    note = row.reason or row.verdict or ""
    return f"{row.state:8} {row.status or '-':>3} {row.bytes or 0:>9} {row.url}  {note}".rstrip()
