"""`crawl4r restore`: bring deleted documents back."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say


@click.command("restore")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@workspace_option
@json_option
def command(urls: tuple[str, ...], workspace: Path, as_json: bool) -> None:
    """Bring back documents that were deleted.

    \b
    crawl4r restore https://example.org/old -w docs
    """
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415 - help goes without

    with open_for_reading(workspace) as reading:
        settings = reading.settings
    with Workspace(workspace, settings) as opened:
        back = opened.restore(*urls)
    if as_json:
        print_json({"restored": back})
        return
    for url in back:
        say(f"restored {url}")
    if not back:
        say("none of these is deleted")
