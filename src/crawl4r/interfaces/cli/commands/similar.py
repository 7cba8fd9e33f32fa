"""`crawl4r similar`: list documents with a similar content."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.safe_text import command_line


@click.command("similar")
@click.argument("url")
@workspace_option
@click.option("--limit", "-n", type=click.IntRange(1, 100), default=10, show_default=True)
@json_option
def command(url: str, workspace: Path, limit: int, as_json: bool) -> None:
    """List documents with a content like that of a URL.

    \b
    crawl4r similar https://docs.example.org/tutorial/errors.html -w docs
    """
    from crawl4r.indexing.searcher import NotIndexed  # noqa: PLC0415
    from crawl4r.interfaces.cli.screen import Screen  # noqa: PLC0415
    from crawl4r.interfaces.cli.view.search import print_hit  # noqa: PLC0415
    from crawl4r.interfaces.json.search import hit_json  # noqa: PLC0415

    with open_for_reading(workspace) as opened:
        try:
            hits = opened.similar(url, limit)
        except NotIndexed as problem:
            why = command_line("crawl4r", "why", url, "-w", workspace)
            raise UsageError(f"{problem}; `{why}` may tell why") from None
    if as_json:
        print_json({"results": [hit_json(hit, explain=False) for hit in hits]})
        return
    for number, hit in enumerate(hits, 1):
        print_hit(Screen(), number, hit, explain=False)
    if not hits:
        say("Nothing similar is indexed.")
