"""`crawl4r replay`: rewrite the logs from state.db and the store, with no network."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawl4r.errors import StorageDamaged, UsageError, WorkspaceError
from crawl4r.interfaces.cli.options import (
    check_that_there_is_a_crawl,
    json_option,
    open_for_reading,
    print_json,
    settings_for_reading,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.processes.entrypoints import EDGE_READER
from crawl4r.processes.spawn import fork_ahead, usable_cores
from crawl4r.storage.lock import holder_of

if TYPE_CHECKING:
    from crawl4r.logs.replay import ReplayReport
    from crawl4r.workspace.workspace import Workspace

_SHOWN = 20  # damaged pages to name


@click.command("replay")
@workspace_option
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write to this folder instead of the workspace.",
)
@click.option("--check", is_flag=True, help="Compare the existing files, and write nothing.")
@click.option(
    "--documents/--no-documents",
    default=None,
    help="Then make all documents again, or none.  [default: only missing ones]",
)
@json_option
def command(
    workspace: Path, out: Path | None, check: bool, documents: bool | None, as_json: bool
) -> None:
    """Rewrite the logs and the metadata from the archive.

    These are pages.csv, edges.csv and crawl_metadata.jsonl.

    \b
    crawl4r replay -w docs
    crawl4r replay -w docs --out tables
    crawl4r replay -w docs --check

    Checks the hash of every stored page. Exit code 1: --check found a difference; 4: bytes are damaged,
    and everything else was done.
    """
    check_that_there_is_a_crawl(workspace)
    if documents and (check or out):
        raise UsageError("--documents changes the workspace: leave out --check and --out")
    if check:
        _check_that_nobody_writes(workspace, out)
    # First the modules that the forked processes need too, so that they are loaded once.
    from crawl4r.workspace.workspace import Workspace  # noqa: F401, PLC0415

    fork_ahead(EDGE_READER, usable_cores())
    import asyncio  # noqa: PLC0415

    if check:
        told = asyncio.run(_check(workspace, out, talks=not as_json))
    elif out:
        told = asyncio.run(_write_elsewhere(workspace, out, talks=not as_json))
    else:
        told = asyncio.run(_replay(workspace, documents, talks=not as_json))
    if as_json:
        print_json(told)
    else:
        _tell(told)
    if told["damaged"]:
        sys.exit(4)
    if told.get("differences"):
        sys.exit(1)


def _check_that_nobody_writes(workspace: Path, out: Path | None) -> None:
    """Refuse to run beside a crawl, which appends to the files during the comparison."""
    if out is None and (holder := holder_of(workspace)):
        raise WorkspaceError(
            f"a crawl (process {holder}) is writing the files of {workspace}; wait for it, or stop it"
        )


async def _replay(path: Path, documents: bool | None, *, talks: bool) -> dict[str, Any]:
    from crawl4r.wiring.logs import FILES  # noqa: PLC0415 - help goes without
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    async with Workspace(path, settings_for_reading(path)) as opened:
        with _progress("replaying", opened.captures.last_id(), talks=talks) as advance:
            report = await opened.replay(advance)
        told = _report(report, [path / file for file in FILES.values()])
        if documents is not False:
            told["documents"] = await _make_documents(opened, anew=bool(documents), talks=talks)
        return told


async def _make_documents(opened: Workspace, *, anew: bool, talks: bool) -> dict[str, Any]:
    start = 0 if anew else opened.documents_cursor
    with _progress("reading", opened.captures.count_after(start), talks=talks) as advance:
        try:
            return await opened.reprocess(anew=anew, on_progress=advance)
        except StorageDamaged as problem:  # the replay has reported each page
            return {"stopped": str(problem)}


async def _write_elsewhere(path: Path, out: Path, *, talks: bool) -> dict[str, Any]:
    from crawl4r.wiring.logs import FILES  # noqa: PLC0415

    places = {kind: out / file.name for kind, file in FILES.items()}
    with (
        open_for_reading(path) as opened,
        _progress("replaying", opened.captures.last_id(), talks=talks) as advance,
    ):
        report = await opened.replay_into(places, advance)
    return _report(report, list(places.values()))


async def _check(path: Path, out: Path | None, *, talks: bool) -> dict[str, Any]:
    from crawl4r.wiring.logs import FILES  # noqa: PLC0415

    places = {kind: out / file.name if out else path / file for kind, file in FILES.items()}
    with (
        open_for_reading(path) as opened,
        _progress("comparing", opened.captures.last_id(), talks=talks) as advance,
    ):
        report, compared = await opened.check_replay(places, advance)
    same = [
        place
        for kind, place in places.items()
        if place not in compared.absent and kind not in compared.differences
    ]
    return _report(report, same) | {
        "absent": [str(place) for place in compared.absent],
        "differences": [found._asdict() for found in compared.differences.values()],
    }


@contextmanager
def _progress(word: str, total: int, *, talks: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar for people; with JSON output its modules are not loaded."""
    if not talks:
        yield lambda count: None
        return
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415

    with progress_bar(talks) as bar:
        task = bar.add_task(word, total=total)
        yield lambda count: bar.advance(task, count)


def _report(report: ReplayReport, files: list[Path]) -> dict[str, Any]:
    return {
        "captures": report.captures,
        "edges": report.edges,
        "dropped": report.dropped,
        "files": [str(file) for file in files],
        "damaged": [{"url": url, "problem": problem} for url, problem in report.damaged],
        "unreadable": [{"url": url, "reason": reason} for url, reason in report.unreadable],
    }


def _tell(told: dict[str, Any]) -> None:
    for page in told["damaged"][:_SHOWN]:
        say(f"damaged: {page['url']}: {page['problem']}")
    for page in told["unreadable"][:_SHOWN]:
        say(f"without all its links: {page['url']}: {page['reason']}")
    hidden = sum(max(0, len(told[name]) - _SHOWN) for name in ("damaged", "unreadable"))
    if hidden:
        say(f"and {hidden:,} more; --json names them all")
    for found in told.get("differences", []):
        say(f"{found['file']} differs in line {found['line']:,}:")
        for word, line in (("replay", found["expected"]), ("there ", found["found"])):
            say(f"  {word}: {'no such line' if line is None else line}")
    for file in told.get("absent", []):
        say(f"{file} is not there: `crawl4r replay` writes it, as --logs does while crawling")
    for file in told["files"]:
        say(f"{file} {'is what a replay gives' if 'differences' in told else 'written'}")
    say(f"{told['captures']:,} captures, {told['edges']:,} links")
    if told["dropped"]:
        say(f"{told['dropped']:,} captures without links: gc has dropped their bytes")
    if changes := told.get("documents"):
        counts = ", ".join(f"{count} {name}" for name, count in sorted(changes.items()))
        say(f"documents: {counts}")
