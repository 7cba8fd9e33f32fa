"""`crawl4r index`: make documents searchable."""

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
    open_for_reading,
    print_json,
    settings_for_reading,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_prose
from crawl4r.interfaces.cli.view.format import human_seconds, languages_kept_out

if TYPE_CHECKING:
    from crawl4r.indexing.indexer import IndexProgress
    from crawl4r.settings.load import Settings


@click.command("index")
@workspace_option
@click.option(
    "--rebuild", is_flag=True, help="Make a new index beside the old one, then switch to it."
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE|all",
    help="Index only documents in this language; `all` for every one.  [default: en]",
)
@click.option("--no-vectors", is_flag=True, help="Index only words; the next run adds vectors.")
@click.option("--dry-run", is_flag=True, help="Show how much there is to do, and do nothing.")
@json_option
def command(
    workspace: Path,
    rebuild: bool,
    languages: tuple[str, ...],
    no_vectors: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the documents of a workspace searchable.

    Indexes their words first, then their meaning (vectors).

    \b
    crawl4r index -w docs
    crawl4r index -w docs --rebuild
    crawl4r index -w docs --language en --language de

    Continues where it stopped; Ctrl-C leaves the rest for the next run. Searches see the indexed part.
    `crawl4r crawl` indexes during the crawl. The workspace remembers the languages; documents of a
    newly chosen language are indexed from the store.
    """
    check_that_there_is_a_crawl(workspace)
    started = time.monotonic()
    settings = _settings(workspace, languages)
    _read_what_is_new(workspace, talks=not as_json)
    if dry_run:
        result = _count_behind(workspace, settings)
    else:
        result = _index(
            workspace, settings, rebuild=rebuild, with_vectors=not no_vectors, talks=not as_json
        )
    if languages and not dry_run:
        _remember(workspace, languages)
    if as_json:
        print_json({**result, "seconds": round(time.monotonic() - started, 3)})
    elif dry_run:
        say(
            f"{result['documents_behind']:,} documents to index,"
            f" {result['passages_behind']:,} passages without a vector"
        )
    else:
        _tell(result, time.monotonic() - started)
        if kept_out := result["totals"]["other_languages"]:
            say_prose(languages_kept_out(kept_out, workspace))


def _settings(path: Path, languages: tuple[str, ...]) -> Settings:
    """The settings of the last crawl, with these languages."""
    from crawl4r.interfaces.cli.saved_options import saved_options  # noqa: PLC0415

    with open_for_reading(path) as opened:
        settings, saved = opened.settings, saved_options(opened)
    if not languages:
        return settings
    saved.pop("proxies", None)  # no requests follow, and the passwords are not saved
    return settings_for_reading(path, saved.pop("profile", None), {**saved, "languages": languages})


def _remember(path: Path, languages: tuple[str, ...]) -> None:
    """Save the languages for the next `index`, `crawl` and `resume`, but not for a running crawl."""
    from crawl4r.interfaces.cli.saved_options import save_options, saved_options  # noqa: PLC0415
    from crawl4r.storage.lock import holder_of  # noqa: PLC0415
    from crawl4r.workspace.workspace import open_workspace  # noqa: PLC0415

    if holder_of(path) is None:

        async def save() -> None:
            async with open_workspace(path) as workspace:
                save_options(workspace, {**saved_options(workspace), "languages": languages})

        asyncio.run(save())


def _read_what_is_new(path: Path, *, talks: bool) -> None:
    """Make documents of captures that were never read, unless a running crawl does so."""
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415 - help goes without
    from crawl4r.storage.lock import holder_of  # noqa: PLC0415 - help goes without
    from crawl4r.workspace.workspace import open_workspace  # noqa: PLC0415

    with open_workspace(path, read_only=True) as workspace:
        behind = workspace.captures.count_after(workspace.documents_cursor)
    if behind and holder_of(path) is None:

        async def read() -> None:
            async with open_workspace(path) as workspace:
                with progress_bar(talks) as bar:
                    task = bar.add_task("pages read", total=behind)
                    await workspace.reprocess(
                        anew=False, on_progress=lambda count: bar.advance(task, count)
                    )

        asyncio.run(read())


def _index(
    path: Path, settings: Settings, *, rebuild: bool, with_vectors: bool, talks: bool
) -> dict[str, Any]:
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415
    from crawl4r.workspace.index import index_workspace  # noqa: PLC0415 - help goes without

    with progress_bar(talks) as bar:
        words = bar.add_task("documents indexed", total=None)
        vectors = bar.add_task("passages embedded", total=None)

        def show(progress: IndexProgress, behind: tuple[int, int]) -> None:
            done = progress.embedded + progress.reused
            bar.update(words, completed=progress.documents, total=progress.documents + behind[0])
            bar.update(vectors, completed=done, total=done + behind[1] or None)

        report = index_workspace(
            path,
            settings,
            rebuild=rebuild,
            with_vectors=with_vectors,
            on_progress=show,
            on_begin=lambda documents: bar.update(words, completed=0, total=documents),
            on_replaced=lambda why: say(f"making a new index: {why}", err=True),
        )
    return asdict(report)


def _count_behind(path: Path, settings: Settings) -> dict[str, Any]:
    from crawl4r.workspace.index import count_behind  # noqa: PLC0415 - help goes without

    documents, passages = count_behind(path, settings)
    return {"documents_behind": documents, "passages_behind": passages}


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
    if result["vectors_waiting"]:
        say(
            "the server of index.vectors does not answer: searches find words alone, and the vectors"
        )
        say("wait in the workspace; run it again when the server answers")
