"""What a crawl says to a person before and after: who it is, what it did, what to try next."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from crawl4r.crawl import EndedBy
from crawl4r.crawl_run import CrawlRun
from crawl4r.interfaces.cli.screen import Screen, panel
from crawl4r.interfaces.cli.wording import human_bytes, human_seconds, languages_kept_out, our_name
from crawl4r.shown import command_line, visible
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

_LONG = 16  # characters of an option that every step would repeat


def print_banner(run: CrawlRun, workspace: Workspace) -> None:
    """The compliance banner: how this crawl presents itself to the sites."""
    settings = run.settings
    screen = Screen(stderr=True)
    pace = settings.politeness
    rate = f"{pace.rate:g} request(s) a second" if pace.rate else "no delay"
    robots = ("robots.txt obeyed", "") if pace.obey_robots else ("robots.txt IGNORED", "red")
    screen.print(Text.assemble(("crawl4r", "bold"), " as ", (settings.agent.header, "cyan")))
    limits = f"  {rate} and {pace.per_host} at once to a host, "
    screen.print(Text.assemble(limits, robots, f"; into {visible(str(workspace.path))}"))
    if not settings.agent.has_contact:
        advice = (
            "  no contact: a site's owner cannot reach you."
            " Add --contact https://you.example/bot or agent.contact"
        )
        screen.print(Text(advice, "yellow"))


def print_summary(summary: dict[str, Any]) -> None:
    screen = Screen()
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
    if kept_out := summary["other_languages"]:
        words = visible(languages_kept_out(kept_out, summary["workspace"]))
        table.add_row(f"{sum(kept_out.values()):,}", Text(words.partition(" ")[2], "yellow"))
    table.add_row(
        f"{summary['visits']:,}",
        f"visits in {human_seconds(summary['seconds'])} ({rate:,.1f} a second)",
    )
    table.add_row(f"{summary['known']:,}", "URLs known: " + _states(summary))
    for ending in summary["endings"][:5]:
        words = visible(f"{ending['verdict']}: {ending['reason']}")
        table.add_row(f"{ending['urls']:,}", Text(words, "dim"))
    title = _WORDS[EndedBy(summary["ended"])] if summary["pages"] else "Nothing could be kept."
    screen.print(panel(table, title))
    print_next_steps(screen, summary["workspace"], failed=summary["failed"])


def print_next_steps(screen: Screen, workspace: str, *, failed: int = 0) -> None:
    """Commands to try, short enough for a narrow terminal."""
    where: tuple[str, ...] = ("-w", workspace)
    if len(command_line(*where)) >= _LONG:
        export = command_line("export", f"CRAWL4R_WORKSPACE={workspace}")
        screen.print(Text.assemble("Next:  ", (visible(export), "cyan")), soft_wrap=True)
        where = ()
    else:
        screen.print("Next:")
        where = () if workspace == "workspace" else where
    steps: list[tuple[tuple[str, ...], str]] = [
        (("search", "some words"), "passages that answer, with their source"),
        (("pages",), "every known URL and its state"),
        (("get", "URL", "--markdown"), "a page as text; without it, as it was stored"),
        (("why", "URL"), "what happened to it, and which rule decided"),
        (("export", "markdown", "-o", "DIR"), "all documents as files"),
        (("status",), "totals, hosts and errors"),
    ]
    if failed:
        steps.append((("resume", "--retry-failed"), f"try {failed:,} URL(s) again"))
    grid = Table.grid(padding=(0, 3))
    grid.add_column(no_wrap=True)
    for words, meaning in steps:
        step = visible(command_line(our_name(), *words, *where))
        grid.add_row(Text(f"  {step}", "cyan"), Text(meaning, "dim"))
    screen.print(grid)


def _states(summary: dict[str, Any]) -> str:
    parts = [
        f"{summary[name]:,} {name}"
        for name in ("done", "pending", "failed", "refused")
        if summary[name]
    ]
    return ", ".join(parts) or "none"
