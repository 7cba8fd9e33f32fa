"""Print the banner before a crawl, and the summary with next steps after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawl4r.crawling.loop import EndedBy
from crawl4r.interfaces.cli.screen import Screen
from crawl4r.interfaces.cli.view.format import (
    counted,
    guess_words,
    human_bytes,
    human_seconds,
    languages_in,
    noun_for,
    our_name,
)
from crawl4r.interfaces.cli.view.remedies import command_again, option_for
from crawl4r.model import Verdict
from crawl4r.safe_text import command_line, visible
from crawl4r.settings.load import Settings
from crawl4r.workspace.reader import WorkspaceReader
from crawl4r.workspace.run_outcome import RunOutcome

_WORDS = {
    EndedBy.MAX_PAGES: "The page limit is reached.",
    EndedBy.MAX_BYTES: "The byte limit is reached.",
    EndedBy.MAX_SECONDS: "The time limit is reached.",
    EndedBy.STOPPED: "Stopped. Nothing is lost.",
    EndedBy.STALLED: "Stalled, and ended. Nothing is lost.",
    EndedBy.MEMORY: "Ended to free memory. Nothing is lost.",
    EndedBy.HOSTS_GIVEN_UP: "Some hosts did not answer any more.",
}
_ENDINGS_SHOWN = 5
_MOST_STEPS = 5
_LONGEST_URL = 300  # characters, in a command to try

Step = tuple[tuple[object, ...], str]  # the words of a command, and its purpose


def print_banner(settings: Settings, home: Path) -> None:
    """Print the compliance banner: how this crawl presents itself to sites."""
    screen = Screen(stderr=True)
    pace = settings.politeness
    requests = "request" if pace.rate == 1 else "requests"
    rate = f"{pace.rate:g} {requests} a second" if pace.rate else "no delay"
    robots = ("robots.txt obeyed", "") if pace.obey_robots else ("robots.txt IGNORED", "red")
    as_us = Text.assemble(("crawl4r", "bold"), " as ", (settings.agent.header, "cyan"))
    screen.print(as_us, soft_wrap=True)
    screen.print(Text.assemble(f"  {rate} and {pace.per_host} at once to a host, ", robots))
    screen.print(f"  into {visible(str(home))}", soft_wrap=True)
    if not settings.agent.has_contact:
        screen.print(Text("  no contact: a site's owner cannot reach you. Add", "yellow"))
        screen.print(Text("  --contact https://you.example/bot", "yellow"), soft_wrap=True)


def print_summary(
    outcome: RunOutcome, settings: Settings, workspace: WorkspaceReader, summary: dict[str, Any]
) -> None:
    """Print totals, the results of this run and commands for the next steps."""
    screen = Screen()
    screen.print(Text(_title(summary), "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column()
    for count, words in _rows(summary):
        table.add_row(f"{count:,}", words)
    screen.print(Padding(table, (0, 0, 0, 2)))
    _print_endings(screen, summary["endings"][:_ENDINGS_SHOWN])
    print_steps(screen, _steps(outcome, settings, workspace, summary))


def print_steps(screen: Screen, steps: list[Step]) -> None:
    """Print commands to try, each on its own line and never wrapped."""
    if steps:
        screen.print("Next:")
    for words, meaning in steps[:_MOST_STEPS]:
        screen.print(Text(f"  {meaning}:", "dim"))
        command = visible(command_line(our_name(), *words))
        screen.print(Text(f"    {command}", "cyan"), soft_wrap=True)


def has_kept_nothing(summary: dict[str, Any]) -> bool:
    """Whether the crawl ended by itself without a page."""
    is_over = summary["ended"] in {EndedBy.NOTHING_LEFT, EndedBy.HOSTS_GIVEN_UP}
    return is_over and summary["known"] > 0 and not summary["pages"]


def _title(summary: dict[str, Any]) -> str:
    if has_kept_nothing(summary):
        return "Nothing could be kept."
    ended = EndedBy(summary["ended"])
    if ended is not EndedBy.NOTHING_LEFT:
        return _WORDS[ended]
    kept_out = sum(e["urls"] for e in summary["endings"] if option_for(e["verdict"], e["reason"]))
    but = [f"{summary['failed']:,} failed"] if summary["failed"] else []
    but += [f"options kept {kept_out:,} out"] if kept_out else []
    if not but:
        return "Every page in scope is done."
    return f"No URL is left to visit, but {' and '.join(but)}."


def _rows(summary: dict[str, Any]) -> list[tuple[int, str]]:
    on_disk = human_bytes(summary["stored_bytes"])
    kept = f"{noun_for(summary['pages'], 'page')} kept, {human_bytes(summary['bytes'])}"
    rows = [(summary["pages"], f"{kept}, {on_disk} on disk")]
    if count := summary["documents"]:
        rows.append((count, f"{noun_for(count, 'document')}: text, title, author, date, language"))
    if count := summary["unread"]:
        rows.append((count, f"{noun_for(count, 'capture')} still to be read"))
    if count := summary["passages"]:
        rows.append((count, f"{noun_for(count, 'passage')} can be searched"))
    if count := summary["unembedded"]:
        rows.append((count, f"{noun_for(count, 'passage')} without a vector yet"))
    if kept_out := summary["other_languages"]:
        rows.append((sum(kept_out.values()), f"not searchable: {languages_in(kept_out)}"))
    rate = summary["asked"] / summary["seconds"] if summary["seconds"] else 0
    took = noun_for(summary["visits"], "visit") + (
        f" in {human_seconds(summary['seconds'])} ({rate:,.1f} a second)" if rate else ""
    )
    if count := summary["shared"]:
        words = (
            f"{noun_for(count, 'answer')} shared by other crawls here (--fresh-for 0 asks again)"
        )
        rows.append((count, words))
    states = ", ".join(f"{n:,} {state}" for state, n in summary["urls"].items()) or "none"
    rows += [
        (summary["visits"], took),
        (summary["known"], f"{noun_for(summary['known'], 'URL')} known: {states}"),
    ]
    if guessed := guess_words(summary["guesses"]):
        rows.append((summary["guesses"]["asked"], guessed))
    return rows


def _print_endings(screen: Screen, endings: list[dict[str, Any]]) -> None:
    if not endings:
        return
    screen.print(Text("  URLs without a text:", "dim"))
    columns = len(f"{max(ending['urls'] for ending in endings):,}")
    for ending in endings:
        verdict, reason = ending["verdict"], ending["reason"]
        option = option_for(verdict, reason)
        name = f"{verdict} (change {option})" if option else verdict
        words = visible(f"{name}: {reason}" if reason else name)
        line = Text.assemble((f"  {ending['urls']:>{columns},}  ", "bold"), (words, "dim"))
        screen.print(line, no_wrap=True, overflow="ellipsis")


def _steps(
    outcome: RunOutcome, settings: Settings, workspace: WorkspaceReader, summary: dict[str, Any]
) -> list[Step]:
    """Steps that fit the result. Later commands know the options of this crawl."""
    where = ("-w", summary["workspace"])
    again = command_again(outcome, workspace.parts)
    steps: list[Step] = []
    if summary["pending"]:
        words = (*again, *_with_more(settings, summary), *where)
        steps.append((words, "go on where it stopped"))
    if summary["failed"]:
        words = (*again, "--retry-failed", *where)
        steps.append((words, f"try {counted(summary['failed'], 'failed URL')} again"))
    if outcome.role == "discover":
        return [*steps, (("spool", "scrape", *where), "fetch what was found")]
    if summary["unread"] or summary["unembedded"]:
        steps.append((("index", *where), "make the rest searchable"))
    if summary["other_languages"]:
        words = ("index", "--language", "all", *where)
        steps.append((words, "make documents in other languages searchable"))
    kept = _a_url(workspace, summary["pages"])
    if kept:
        steps.append((("get", kept, "--markdown", *where), "a page as text"))
    if summary["passages"]:
        steps.append((("search", "some words", *where), "passages that answer, with their source"))
    if summary["documents"]:
        steps.append((("export", "markdown", "-o", "texts", *where), "all documents as files"))
    steps.append((("pages", *where), "every known URL and its state"))
    if lost := _a_lost_url(workspace, summary):
        steps.append((("why", lost, *where), "what happened to a URL"))
    return steps


def _with_more(settings: Settings, summary: dict[str, Any]) -> tuple[str, ...]:
    """The option with a higher limit, for a crawl that reached one."""
    limits = settings.crawl_limits()
    if summary["ended"] == EndedBy.MAX_PAGES and limits.max_pages is not None:
        return ("--max-pages", str(2 * max(1, limits.max_pages, summary["pages"])))
    if summary["ended"] == EndedBy.MAX_BYTES and limits.max_bytes is not None:
        return ("--max-bytes", str(2 * max(1, limits.max_bytes, summary["bytes"])))
    return ()


def _a_url(workspace: WorkspaceReader, pages: int) -> str | None:
    if not pages:
        return None
    row = next(workspace.pages(verdict=Verdict.OK.value), None)
    return row.url if row and len(row.url) <= _LONGEST_URL else None


def _a_lost_url(workspace: WorkspaceReader, summary: dict[str, Any]) -> str | None:
    """A URL with the most frequent verdict."""
    if not summary["endings"]:
        return None
    row = next(workspace.pages(verdict=summary["endings"][0]["verdict"]), None)
    return row.url if row and len(row.url) <= _LONGEST_URL else None
