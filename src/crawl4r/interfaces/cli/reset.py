"""`crawl4r reset`: delete a crawl, after asking."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import confirm, say
from crawl4r.state.layout import entries_of
from crawl4r.workspace import remove_crawl


@click.command("reset")
@workspace_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@json_option
def command(workspace: Path, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Delete everything a crawl has made; crawl4r.yaml stays.

    A symbolic link is deleted, and what it points to left alone.

    \b
    crawl4r reset -w docs --dry-run
    crawl4r reset -w docs --yes
    """
    doomed = entries_of(workspace)
    if not doomed:
        _tell([], "nothing to delete in", workspace, as_json)
        return
    if dry_run:
        _tell(doomed, "would delete from", workspace, as_json)
        return
    if not yes:
        names = ", ".join(path.name for path in doomed)
        confirm(f"Delete {names} in {workspace}? This cannot be undone")
    _tell(remove_crawl(workspace), "deleted from", workspace, as_json)


def _tell(paths: list[Path], words: str, workspace: Path, as_json: bool) -> None:
    if as_json:
        print_json({"action": words, "workspace": str(workspace), "paths": [str(p) for p in paths]})
    else:
        say(f"{words} {workspace}" + (": " + ", ".join(p.name for p in paths) if paths else ""))
