"""`crawl4r demo`: crawl, index and search a bundled site, without network."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import json_option, print_json
from crawl4r.interfaces.cli.screen import Screen
from crawl4r.interfaces.cli.view.banner import print_banner, print_summary
from crawl4r.interfaces.cli.view.format import our_name
from crawl4r.interfaces.cli.view.live_progress import show_progress
from crawl4r.interfaces.cli.view.search import print_hit
from crawl4r.interfaces.json.crawl_summary import summary_of
from crawl4r.safe_text import command_line, visible
from crawl4r.sample.server import SampleSite
from crawl4r.search.request import SearchRequest
from crawl4r.wiring.search import SearchHandle
from crawl4r.workspace.workspace import Workspace, open_workspace

_QUESTIONS = ("how do I keep a crawler from hurting a server?", '"crawl-delay" type:prose')
_RATE = 20.0  # requests a second: the site is on this machine


@click.command("demo")
@click.option(
    "--workspace",
    "-w",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the result here.  [default: a new temporary directory]",
)
@json_option
def command(workspace: Path | None, as_json: bool) -> None:
    """Crawl a bundled sample site on loopback, as a demo.

    \b
    crawl4r demo
    crawl4r demo -w sample
    """
    path = workspace or Path(tempfile.mkdtemp(prefix="crawl4r-demo-"))
    if (path / "state.db").exists():
        raise UsageError(f"{path} already holds a crawl; give another --workspace")
    with SampleSite() as site:
        asyncio.run(_demo(site.url, path, as_json))


async def _demo(url: str, path: Path, as_json: bool) -> None:
    async with open_workspace(
        path, allow_private=["127.0.0.1"], rate=_RATE, contact=url, index=True
    ) as workspace:
        run = workspace.crawl(url)
        if not as_json:
            print_banner(run.settings, workspace.home)
        ended = await show_progress(run, workspace, enabled=not as_json)
        outcome = run.outcome(ended)
        summary = summary_of(outcome, workspace)
        if as_json:
            print_json(summary)
            return
        print_summary(outcome, run.settings, workspace, summary)
        _print_sights(workspace, url)
        _print_searches(workspace)


def _print_sights(workspace: Workspace, url: str) -> None:
    """Print a few URLs of the sample site that are hard for a crawler."""
    screen = Screen()
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    for path in (
        "guide/robots.html",
        "private/drafts.html",
        "old-guide",
        "guide/no-such-page.html",
    ):
        story = workspace.why(url + path)
        if story["known"]:
            reason = (story["reason"] or "").replace(
                url, "/"
            ) or f"{story['captures'][-1]['bytes']:,} bytes"
            grid.add_row(f"  /{path}", Text(str(story["verdict"]), "cyan"), Text(reason, "dim"))
    screen.print("\nWhat became of some URLs (`crawl4r why` tells it of any):")
    screen.print(grid)


def _print_searches(workspace: Workspace) -> None:
    """Search for answers that share few words with the question, and for exact words."""
    screen = Screen()
    door = SearchHandle(workspace.path, workspace.settings)
    try:
        for question in _QUESTIONS:
            command = command_line(our_name(), "search", question, "-w", workspace.path)
            screen.print(Text(f"\n{visible(command)}", "bold"), soft_wrap=True)
            answer = door.searcher().search(SearchRequest(question, limit=1))
            for number, hit in enumerate(answer.hits, 1):
                print_hit(screen, number, hit, explain=False)
    finally:
        door.close()
    command = command_line(our_name(), "crawl", "https://example.org/", "-w", "example")
    screen.print(Text.assemble("\nThen crawl something real:\n  ", (command, "cyan")))
