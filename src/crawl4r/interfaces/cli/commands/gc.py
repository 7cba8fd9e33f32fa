"""`crawl4r gc`: remove stored bytes that no capture needs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawl4r.interfaces.cli.options import (
    check_that_there_is_a_crawl,
    json_option,
    open_for_reading,
    print_json,
    settings_for_reading,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.format import human_bytes

if TYPE_CHECKING:
    from crawl4r.archive.garbage import GcReport


@click.command("gc")
@workspace_option
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and write nothing.")
@click.option(
    "--keep-captures",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep the bytes of the newest N good captures of each page.",
)
@click.option(
    "--keep-days",
    type=click.IntRange(min=1),
    metavar="D",
    help="Keep the bytes of captures younger than D days.",
)
@json_option
def command(
    workspace: Path,
    dry_run: bool,
    keep_captures: int | None,
    keep_days: int | None,
    as_json: bool,
) -> None:
    """Remove stored bytes that no capture needs.

    Then it compacts the store. By default every capture keeps its bytes, and only those of no
    capture go, as after a crash. With both --keep options, a capture keeps its bytes if either says
    so. The newest capture and the newest content of each page, and what its document was made from,
    always keep theirs.

    Captures stay; `why` and `history` say which bytes were dropped, when, and by which option.

    A collection can have a rule of its own: see `crawl4r collections keep --help`.

    A segment is rewritten when a quarter of it is dead. After that `crawl4r replay` writes the new
    places of bytes into the metadata.

    \b
    crawl4r gc -w docs --dry-run
    crawl4r gc -w docs --keep-captures 3 --keep-days 90

    Exit code 4: a segment is damaged, and was left as it is; everything else was done.
    """
    check_that_there_is_a_crawl(workspace)
    if dry_run:
        with open_for_reading(workspace) as opened:
            report = opened.gc(keep_captures=keep_captures, keep_days=keep_days, dry_run=True)
    else:
        report = _collect(workspace, keep_captures, keep_days, talks=not as_json)
    if as_json:
        from msgspec.structs import asdict  # noqa: PLC0415 - help goes without

        print_json(asdict(report))
    else:
        _tell(report)
    if report.damaged:
        sys.exit(4)


def _collect(
    path: Path, keep_captures: int | None, keep_days: int | None, *, talks: bool
) -> GcReport:
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    with Workspace(path, settings_for_reading(path)) as opened, progress_bar(talks) as bar:
        tasks: dict[str, int] = {}

        def show(work: str, done: int, total: int) -> None:
            if work not in tasks:
                tasks[work] = bar.add_task(work, total)
            bar.update(tasks[work], completed=done, total=total)

        return opened.gc(keep_captures=keep_captures, keep_days=keep_days, on_step=show)


def _tell(report: GcReport) -> None:
    for problem in report.damaged:
        say(f"damaged, and left as it is: {problem}")
    if not (report.orphans or report.dropped or report.freed or report.damaged):
        say(
            f"nothing to remove: all {report.blobs:,} blobs ({human_bytes(report.bytes)}) are needed"
        )
        return
    would = "would be " if report.dry_run else ""
    rows = [("stored before", report.blobs, report.bytes, "")]
    if report.orphans:
        rows.append(("of no capture", report.orphans, report.orphan_bytes, f"{would}removed"))
    if report.dropped:
        note = f"{would}dropped: {report.policy or 'by the rule of a collection'}"
        rows.append(("of captures", report.dropped, report.dropped_bytes, note))
    for name, blobs, size, note in rows:
        say(f"{name:<14} {blobs:>10,} blobs {human_bytes(size):>10}  {note}".rstrip())
    if report.segments:
        say(
            f"{'segments':<14} {report.segments:>10,}, {would}rewritten: {report.rewritten:,},"
            f" {would}deleted: {report.deleted:,}"
        )
    say(f"{human_bytes(report.freed)} on disk {'would be freed' if report.dry_run else 'freed'}")
