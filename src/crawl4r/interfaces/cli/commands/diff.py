"""`crawl4r diff`: show the changes in the text of a page."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.content.compare.changes import MOST_COMPARED
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_coloured
from crawl4r.interfaces.json.difference import difference_json

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@click.argument("url")
@workspace_option
@click.option(
    "--from",
    "before",
    type=int,
    metavar="CAPTURE",
    help="Start from this capture, by its number in `history`.",
)
@click.option(
    "--to",
    "after",
    type=int,
    metavar="CAPTURE",
    help="Compare with this capture.  [default: the newest two]",
)
@json_option
def command(
    url: str, workspace: Path, before: int | None, after: int | None, as_json: bool
) -> None:
    """Compare the text of two captures of a page.

    The comparison ignores navigation and other boilerplate.

    \b
    crawl4r diff https://example.org/news -w news
    crawl4r diff https://example.org/news -w news --from 12 --to 40
    """
    with open_for_reading(workspace) as opened:
        found = opened.diff(url, before, after)
    if as_json:
        print_json(difference_json(found))
        return
    if found.kind == "unchanged" or not found.diff:
        say("the text is the same")
        return
    if found.is_cut:
        say(
            f"crawl4r: only {MOST_COMPARED:,} characters from the first difference are shown",
            err=True,
        )
    for line in found.diff.rstrip("\n").split("\n"):
        say_coloured(line, _COLOURS.get(line[:1]))
