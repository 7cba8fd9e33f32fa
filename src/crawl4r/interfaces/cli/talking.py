"""What a crawl says to a person before and after: who it is, what it did, what to try next."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from crawl4r.crawl import EndedBy
from crawl4r.crawl_run import CrawlRun
from crawl4r.interfaces.cli.wording import human_bytes, human_seconds, our_name
from crawl4r.workspace import Workspace

_WORDS = {
    EndedBy.NOTHING_LEFT: "Every page in scope is done.",
    EndedBy.MAX_PAGES: "The page limit is reached; raise --max-pages to go on.",
    EndedBy.MAX_BYTES: "The byte limit is reached; raise --max-bytes to go on.",
    EndedBy.MAX_SECONDS: "The time limit is reached; run it again to go on.",
    EndedBy.STOPPED: "Stopped. Nothing is lost: `crawl4r resume` goes on.",
    EndedBy.STALLED: "Stalled, and ended. Nothing is lost: `crawl4r resume` goes on.",
    EndedBy.MEMORY: "Ended to free memory. Nothing is lost: `crawl4r resume` goes on.",
    EndedBy.HOSTS_GIVEN_UP: "Some hosts did not answer any more; `crawl4r resume` tries them again.",
}

_LONG_PATH = 16  # characters


def print_banner(run: CrawlRun, workspace: Workspace) -> None:
    """The compliance banner: how this crawl presents itself to the sites."""
    settings = run.settings
    console = Console(stderr=True, highlight=False)
    pace = settings.politeness
    rate = f"{pace.rate:g} request(s) a second" if pace.rate else "no delay"
    robots = "robots.txt obeyed" if pace.obey_robots else "[red]robots.txt IGNORED[/red]"
    console.print(f"[bold]crawl4r[/bold] as [cyan]{settings.agent.header}[/cyan]")
    console.print(
        f"  {rate} and {pace.per_host} at once to a host, {robots}; into {workspace.path}"
    )
    if not settings.agent.has_contact:
        console.print(
            "  [yellow]no contact: a site's owner cannot reach you. "
            "Add --contact https://you.example/bot or agent.contact[/yellow]"
        )


def print_summary(summary: dict[str, Any]) -> None:
    console = Console(highlight=False)
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_column()
    rate = summary["visits"] / summary["seconds"] if summary["seconds"] else 0
    on_disk = human_bytes(summary["stored_bytes"])
    size = f"{human_bytes(summary['bytes'])} of content in {on_disk} on disk"
    table.add_row(f"{summary['pages']:,}", f"pages kept, {size}")
    if summary["documents"]:
        table.add_row(f"{summary['documents']:,}", "documents: text, title, author, date, language")
    if summary["passages"]:
        rest = (
            f", {summary['unembedded']:,} still without a vector" if summary["unembedded"] else ""
        )
        table.add_row(f"{summary['passages']:,}", f"passages can be searched{rest}")
    table.add_row(
        f"{summary['visits']:,}",
        f"visits in {human_seconds(summary['seconds'])} ({rate:,.1f} a second)",
    )
    table.add_row(f"{summary['known']:,}", "URLs known: " + _states(summary))
    for ending in summary["endings"][:5]:
        table.add_row(f"{ending['urls']:,}", f"[dim]{ending['verdict']}: {ending['reason']}[/dim]")
    title = _WORDS[EndedBy(summary["ended"])] if summary["pages"] else "Nothing could be kept."
    console.print(Panel(table, title=title, title_align="left", expand=False))
    print_next_steps(console, summary["workspace"], failed=summary["failed"])


def print_next_steps(console: Console, workspace: str, *, failed: int = 0) -> None:
    """Commands to try, short enough for a narrow terminal."""
    name, where = our_name(), f" -w {workspace}"
    if len(where) > _LONG_PATH:
        console.print(f"Next:  [cyan]export CRAWL4R_WORKSPACE={workspace}[/cyan]", soft_wrap=True)
        where = ""
    else:
        console.print("Next:")
        where = "" if workspace == "workspace" else where
    steps = [
        (f'{name} search "words"{where}', "passages that answer, with their source"),
        (f"{name} pages{where}", "every known URL and its state"),
        (f"{name} get URL{where} --markdown", "a page as text; without it, as it was stored"),
        (f"{name} why URL{where}", "what happened to it, and which rule decided"),
        (f"{name} export markdown{where} -o DIR", "all documents as files"),
        (f"{name} status{where}", "totals, hosts and errors"),
    ]
    if failed:
        steps.append((f"{name} resume{where} --retry-failed", f"try {failed:,} URL(s) again"))
    grid = Table.grid(padding=(0, 3))
    grid.add_column(no_wrap=True)
    for step, meaning in steps:
        grid.add_row(f"  [cyan]{step}[/cyan]", f"[dim]{meaning}[/dim]")
    console.print(grid)


def _states(summary: dict[str, Any]) -> str:
    parts = [
        f"{summary[name]:,} {name}"
        for name in ("done", "pending", "failed", "refused")
        if summary[name]
    ]
    return ", ".join(parts) or "none"
