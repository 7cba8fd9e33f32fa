"""`crawl4r reprocess`: make documents again from stored bytes, without network."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from crawl4r.interfaces.cli.options import (
    check_that_there_is_a_crawl,
    json_option,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.progress_bar import progress_bar
from crawl4r.workspace.workspace import open_workspace


@click.command("reprocess")
@workspace_option
@click.option("--missing", is_flag=True, help="Read only captures that were never read.")
@click.option("--dry-run", is_flag=True, help="Show how much there is to do, and do nothing.")
@json_option
def command(workspace: Path, missing: bool, dry_run: bool, as_json: bool) -> None:
    """Judge and read every stored page again.

    Makes verdicts, markdown, metadata and changes again.

    \b
    crawl4r reprocess -w docs
    crawl4r reprocess -w docs --missing
    """
    check_that_there_is_a_crawl(workspace)
    if dry_run:
        with open_workspace(workspace, read_only=True) as opened:
            waiting = opened.captures.count_after(opened.documents_cursor if missing else 0)
        if as_json:
            print_json({"captures": waiting})
        else:
            say(f"{waiting:,} captures to read")
        return
    changes = asyncio.run(_reprocess(workspace, missing=missing, talks=not as_json))
    if as_json:
        print_json(changes)
    else:
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(changes.items()))
        say(f"captures read: {counts or 'none'}")


async def _reprocess(path: Path, *, missing: bool, talks: bool) -> dict[str, int]:
    async with open_workspace(path) as workspace:
        total = workspace.captures.count_after(workspace.documents_cursor if missing else 0)
        with progress_bar(talks) as bar:
            task = bar.add_task("reading", total=total)
            return await workspace.reprocess(
                anew=not missing, on_progress=lambda count: bar.advance(task, count)
            )
