"""`crawl4r reset`: delete a crawl after a confirmation."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.errors import WorkspaceError
from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import confirm, say
from crawl4r.safe_text import command_line
from crawl4r.storage.layout import entries_of, holds_crawl, refuse_foreign_state, strangers_in
from crawl4r.storage.lock import holder_of
from crawl4r.workspace.removal import places_of, remove_crawl

_SHOWN = 5  # files that stay, to name


@click.command("reset")
@workspace_option
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@json_option
def command(workspace: Path, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Delete everything that a crawl made, except crawl4r.yaml.

    Files that crawl4r did not make stay too, and a folder with another program's state.db stays as it
    is. A symbolic link is deleted without its target. The workspace's own data on PostgreSQL and Qdrant
    servers is deleted too; data of other workspaces stays.

    \b
    crawl4r reset -w docs --dry-run
    crawl4r reset -w docs --yes
    """
    refuse_foreign_state(workspace)
    doomed = entries_of(workspace) if holds_crawl(workspace) else []
    if not doomed:
        _tell([], "nothing to delete in", workspace, [], [], as_json)
        return
    kept, places = strangers_in(workspace), places_of(workspace)
    if dry_run:
        _tell(doomed, "would delete from", workspace, kept, places, as_json)
        return
    if (holder := holder_of(workspace)) is not None:
        stop = command_line("crawl4r", "stop", "-w", workspace)
        raise WorkspaceError(f"process {holder} crawls into {workspace}; end it first: `{stop}`")
    if not yes:
        if kept:
            say(_kept(kept, workspace), err=as_json)
        names = ", ".join(path.name for path in doomed)
        servers = f", and on servers {', '.join(places)}" if places else ""
        confirm(f"Delete {names} in {workspace}{servers}? This cannot be undone", err=as_json)
    _tell(remove_crawl(workspace), "deleted from", workspace, kept, places, as_json)


def _tell(
    paths: list[Path],
    words: str,
    workspace: Path,
    kept: list[Path],
    places: list[str],
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                "action": words,
                "workspace": str(workspace),
                "paths": [str(path) for path in paths],
                "kept": [str(path) for path in kept],
                "on_servers": places,
            }
        )
        return
    say(f"{words} {workspace}" + (": " + ", ".join(p.name for p in paths) if paths else ""))
    if places:
        say(f"{words} servers: {', '.join(places)}")
    if kept:
        say(_kept(kept, workspace))


def _kept(kept: list[Path], workspace: Path) -> str:
    names = ", ".join(str(path.relative_to(workspace)) for path in kept[:_SHOWN])
    more = f" and {len(kept) - _SHOWN:,} more" if len(kept) > _SHOWN else ""
    return f"not made by crawl4r, and left there: {names}{more}"
