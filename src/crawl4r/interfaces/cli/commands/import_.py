"""`crawl4r import`: add pages from other sources to a workspace."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import say, say_command
from crawl4r.interfaces.cli.view.format import our_name
from crawl4r.safe_text import command_line

if TYPE_CHECKING:
    from crawl4r.transfer.import_warc import ArchiveCounts

_MOST_SHOWN = 10  # damages


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@workspace_option
@json_option
def command(file: Path, workspace: Path, as_json: bool) -> None:
    """Import pages from JSON lines, WARC or WACZ files.

    \b
    crawl4r import papers.jsonl -w papers
    crawl4r import crawl.warc.gz -w news
    crawl4r import site.wacz -w site
    crawl4r index -w papers

    A JSON line is an object with "text", "title" and "id" or "url". Importing a file again adds its new
    lines and replaces changed ones.

    Responses of a WARC file (plain, gzip or zstd) become captures with their own time, status and
    headers. Importing a file again adds nothing. Broken records are reported with their offset, and the
    others are kept.
    """
    counts = _import(file, workspace, talks=not as_json)
    if as_json:
        print_json(counts)
    elif "skipped" in counts:
        _tell(counts)
        _tell_next(workspace)
    else:
        say(f"{counts['added']:,} documents imported, {counts['unchanged']:,} were there already")
        _tell_next(workspace)
    if counts.get("broken") and not counts["added"] + counts["unchanged"]:
        damage = counts["damages"][0]
        say(
            f"crawl4r: nothing of {file} could be imported: at {damage['offset']}:"
            f" {damage['reason']}",
            err=True,
        )
        sys.exit(1)


def _import(file: Path, path: Path, *, talks: bool) -> dict[str, Any]:
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415
    from crawl4r.transfer.import_records import refuse_other_files  # noqa: PLC0415 - help goes without
    from crawl4r.transfer.import_warc import is_archive  # noqa: PLC0415
    from crawl4r.workspace.workspace import open_workspace  # noqa: PLC0415

    has_records = is_archive(file)
    if not has_records:
        refuse_other_files(file)  # before there is a workspace
    with open_workspace(path) as workspace, progress_bar(talks) as bar:
        size = file.stat().st_size if has_records else 0
        importing = bar.add_task("importing", total=size, in_bytes=True)
        reading = bar.add_task("reading", total=None)
        counts = workspace.import_file(
            file,
            on_progress=lambda done: bar.update(importing, completed=done),
            on_read=lambda done, total: bar.update(reading, completed=done, total=total),
        )
    return (
        _as_json(counts) if has_records else {"added": counts.added, "unchanged": counts.unchanged}
    )


def _as_json(counts: ArchiveCounts) -> dict[str, Any]:
    return counts._asdict() | {"damages": [damage._asdict() for damage in counts.damages]}


def _tell_next(workspace: Path) -> None:
    say("to make them searchable:")
    say_command(command_line(our_name(), "index", "-w", workspace))


def _tell(counts: dict[str, Any]) -> None:
    say(f"{counts['added']:,} captures imported, {counts['unchanged']:,} were there already")
    for reason, count in counts["skipped"].items():
        say(f"  left out: {count:,} ({reason})")
    if counts["broken"]:
        say(f"  broken: {counts['broken']:,}")
    for damage in counts["damages"][:_MOST_SHOWN]:
        say(f"    {damage['file']} at {damage['offset']}: {damage['reason']}")
