"""`crawl4r import`: what others have collected, into a workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@workspace_option
@json_option
def command(file: Path, workspace: Path, as_json: bool) -> None:
    """Read documents from a file of JSON lines and keep them like pages that were crawled.

    \b
    crawl4r import papers.jsonl -w papers
    crawl4r index -w papers

    A line is an object with "text", "title" and "id" or "url". The same file again adds what is new
    in it and replaces what has changed.
    """
    counts = asyncio.run(_import(file, workspace, talks=not as_json))
    if as_json:
        print_json(counts)
        return
    click.echo(
        f"{counts['added']:,} documents imported, {counts['unchanged']:,} were there already;"
        " `crawl4r index` makes them searchable"
    )


async def _import(file: Path, path: Path, *, talks: bool) -> dict[str, int]:
    from crawl4r.interfaces.cli.bars import progress_bar  # noqa: PLC0415 - help goes without
    from crawl4r.workspace import open_workspace  # noqa: PLC0415

    async with open_workspace(path) as workspace:
        with file.open(encoding="utf-8", errors="surrogateescape") as lines:
            counts = workspace.import_records(lines, str(file))
        total = workspace.captures.count_after(workspace.documents_cursor)
        with progress_bar(talks) as bar:
            task = bar.add_task("reading", total=total)
            await workspace.reprocess(anew=False, on_progress=lambda n: bar.advance(task, n))
        return counts._asdict()
