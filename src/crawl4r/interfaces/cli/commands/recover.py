"""`crawl4r recover`: make a lost or damaged state.db again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from crawl4r.interfaces.cli.options import (
    json_option,
    print_json,
    settings_for_reading,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.progress_bar import Bars, progress_bar
from crawl4r.interfaces.cli.view.recovery import report_of, steps_after
from crawl4r.interfaces.json.recovery import recovery_as_json
from crawl4r.recovery.outcome import DOCUMENTS, OnProgress
from crawl4r.workspace.recover import recover


@click.command("recover")
@workspace_option
@click.option("--dry-run", is_flag=True, help="Show what would come back, and write nothing.")
@json_option
def command(workspace: Path, dry_run: bool, as_json: bool) -> None:
    """Make a lost or damaged state.db again.

    Brings back captures from metadata/crawl_metadata.jsonl, their bytes from the store, and what a
    damaged state.db still holds: crawls, links, collections and tags. Makes documents again, and names
    everything that did not come back. A state.db that is whole is left alone; a damaged one is kept
    under another name.

    Exit codes: 0 what has a line and bytes is back; 1 nothing could be recovered; 2 a state.db that is
    whole, or is not to be touched.

    \b
    crawl4r recover -w docs --dry-run
    crawl4r recover -w docs
    """
    with progress_bar(not as_json) as bars:
        settings = settings_for_reading(workspace)
        work = recover(workspace, settings, dry_run=dry_run, on_progress=_shown_on(bars))
        outcome = asyncio.run(work)
    if as_json:
        print_json(recovery_as_json(outcome, workspace, is_dry=dry_run))
    else:
        for line in report_of(outcome, workspace, is_dry=dry_run):
            say(line)
        for line in steps_after(outcome, workspace, is_dry=dry_run):
            say(line)
    if outcome.state and not outcome.captures:
        sys.exit(1)


def _shown_on(bars: Bars) -> OnProgress:
    tasks: dict[str, int] = {}

    def show(step: str, done: int, total: int) -> None:
        if step not in tasks:
            tasks[step] = bars.add_task(step, total, in_bytes=step != DOCUMENTS)
        bars.update(tasks[step], completed=done, total=total)

    return show
