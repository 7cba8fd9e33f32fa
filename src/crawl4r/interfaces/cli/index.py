"""`crawl4r index`: documents become searchable."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from crawl4r.interfaces.cli.options import (
    check_that_there_is_a_crawl,
    json_option,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.wording import human_seconds

if TYPE_CHECKING:
    from crawl4r.indexing import IndexProgress


@click.command("index")
@workspace_option
@click.option(
    "--rebuild", is_flag=True, help="Make a new index beside the old one, then switch to it."
)
@click.option("--no-vectors", is_flag=True, help="Words only; vectors with the next run.")
@click.option("--dry-run", is_flag=True, help="Only say how much there is to do.")
@json_option
def command(workspace: Path, rebuild: bool, no_vectors: bool, dry_run: bool, as_json: bool) -> None:
    """Make the documents of a workspace searchable.

    By their words at once, then by their meaning.

    \b
    crawl4r index -w docs
    crawl4r index -w docs --rebuild

    Goes on where it stopped; Ctrl-C leaves the rest for the next run. Searches see what is done so
    far. `crawl4r crawl` does the same while it crawls.
    """
    check_that_there_is_a_crawl(workspace)
    started = time.monotonic()
    _read_what_is_new(workspace)
    result = _index(workspace, rebuild, no_vectors, dry_run, talks=not as_json)
    if as_json:
        print_json({**result, "seconds": round(time.monotonic() - started, 3)})
    elif dry_run:
        say(
            f"{result['documents_behind']:,} documents to index,"
            f" {result['passages_behind']:,} passages without a vector"
        )
    else:
        _tell(result, time.monotonic() - started)


def _read_what_is_new(path: Path) -> None:
    """Documents of captures that were never read, unless a crawl is at it."""
    from crawl4r.state.lock import holder_of  # noqa: PLC0415 - help goes without
    from crawl4r.workspace import open_workspace  # noqa: PLC0415

    with open_workspace(path, read_only=True) as workspace:
        is_behind = workspace.captures.last_id() > workspace.documents_cursor
    if is_behind and holder_of(path) is None:

        async def read() -> None:
            async with open_workspace(path) as workspace:
                await workspace.reprocess(anew=False)

        asyncio.run(read())


def _index(
    path: Path, rebuild: bool, no_vectors: bool, dry_run: bool, *, talks: bool
) -> dict[str, Any]:
    from crawl4r.app_search import open_indexer  # noqa: PLC0415 - help goes without
    from crawl4r.indexing import index_all  # noqa: PLC0415
    from crawl4r.interfaces.cli.bars import progress_bar  # noqa: PLC0415
    from crawl4r.settings import FILE_NAME, load_settings  # noqa: PLC0415

    settings = load_settings(path / FILE_NAME)
    with open_indexer(path, settings, rebuild=rebuild and not dry_run) as indexer:
        if dry_run:
            documents, passages = indexer.behind()
            return {"documents_behind": documents, "passages_behind": passages}
        with progress_bar(talks) as bar:
            words = bar.add_task("documents", total=indexer.behind()[0])
            vectors = bar.add_task("vectors", total=None)

            def show(progress: IndexProgress, behind: tuple[int, int]) -> None:
                done = progress.embedded + progress.reused
                bar.update(
                    words, completed=progress.documents, total=progress.documents + behind[0]
                )
                bar.update(vectors, completed=done, total=done + behind[1] or None)

            progress = index_all(indexer, with_vectors=not no_vectors, on_progress=show)
        documents, passages = indexer.behind()
        return {
            **asdict(progress),
            "documents_behind": documents,
            "passages_behind": passages,
            "totals": indexer.totals(),
        }


def _tell(result: dict[str, Any], seconds: float) -> None:
    totals = result["totals"]
    say(
        f"{result['documents']:,} documents looked at, {result['passages']:,} passages indexed,"
        f" {result['embedded']:,} embedded, {result['reused']:,} vectors used again"
        f" in {human_seconds(seconds)}"
    )
    for reason, count in sorted(result["left_out"].items()):
        say(f"  left out: {count:,} ({reason})")
    say(
        f"searchable: {totals['documents']:,} documents in {totals['passages']:,} passages,"
        f" {totals['embedded']:,} of them by meaning"
    )
    if result["passages_behind"]:
        say(f"{result['passages_behind']:,} passages have no vector yet; run it again")
