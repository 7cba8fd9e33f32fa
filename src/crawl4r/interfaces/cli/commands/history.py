"""`crawl4r history`: list every capture of a URL with its meaning."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.format import clock_time, dropped_words
from crawl4r.safe_text import command_line


@click.command("history")
@click.argument("url")
@workspace_option
@json_option
def command(url: str, workspace: Path, as_json: bool) -> None:
    """List the captures of a URL, and what each one meant.

    A capture is new, unchanged, changed, missing, gone, rejected or dropped.

    \b
    crawl4r history https://example.org/news -w news
    """
    with open_for_reading(workspace) as opened:
        rows = [asdict(entry) for entry in opened.history(url)]
        if not rows:
            why = command_line("crawl4r", "why", url, "-w", workspace)
            raise UsageError(f"{url} was never captured; `{why}` says what happened")
    if as_json:
        print_json(rows)
        return
    for row in rows:
        words = f"+{row['added']} -{row['removed']} words" if row["change"] == "changed" else ""
        reason = "" if row["change"] == "dropped" else row["reason"]
        gone = f"bytes {dropped_words(row)}" if row["dropped_at"] else ""
        note = "; ".join(part for part in (words or reason, gone) if part)
        when = clock_time(row["captured_at"])
        say(f"{row['capture_id']:>6}  {when}  {row['status']}  {row['change']:<9}  {note}".rstrip())
