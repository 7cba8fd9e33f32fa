"""`crawl4r delete`: delete documents for good."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say


@click.command("delete")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@workspace_option
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@json_option
def command(urls: tuple[str, ...], workspace: Path, dry_run: bool, as_json: bool) -> None:
    """Delete documents from search and exports, for good.

    A document stays deleted when its page is visited again. The archive keeps the captures and their
    bytes; `crawl4r restore` brings the document back.

    \b
    crawl4r delete https://example.org/old -w docs --dry-run
    crawl4r delete https://example.org/old https://example.org/older -w docs
    """
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415 - help goes without

    with open_for_reading(workspace) as reading:
        settings = reading.settings
        for url in urls:
            if reading.document(url) is None and not reading.is_deleted(url):
                raise UsageError(f"there is no document of {url} in {workspace}")
        gone = [reading.canonical(url) for url in urls if not reading.is_deleted(url)]
    if not dry_run and gone:
        with Workspace(workspace, settings) as opened:
            gone = opened.delete(*gone)
    if as_json:
        print_json({"deleted": gone, "dry_run": dry_run})
        return
    for url in gone:
        say(f"{'would delete' if dry_run else 'deleted'} {url}")
    if not gone:
        say("deleted already")
