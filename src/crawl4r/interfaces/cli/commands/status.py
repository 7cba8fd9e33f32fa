"""`crawl4r status`: show the state of a workspace."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_command, say_prose
from crawl4r.interfaces.cli.view.format import (
    clock_time,
    human_bytes,
    human_seconds,
    languages_kept_out,
    our_name,
)
from crawl4r.interfaces.cli.view.status_words import (
    WINDOWS,
    eta_words,
    guessed_words,
    health_words,
    index_words,
    kept_words,
    running_words,
    spool_words,
)
from crawl4r.safe_text import command_line, visible


@click.command("status")
@workspace_option
@click.option("--watch", is_flag=True, help="Repeat until Ctrl-C.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Repeat after so many seconds (with --watch).",
)
@json_option
def command(workspace: Path, watch: bool, every: float, as_json: bool) -> None:
    """Show totals, hosts and errors of a crawl.

    It also works during a crawl.

    \b
    crawl4r status -w docs
    crawl4r status -w docs --watch
    crawl4r status -w docs --json | jq .urls
    crawl4r status -w docs --watch --json >> status.jsonl    a line every 2 s
    """
    if watch:
        from crawl4r.interfaces.cli.view import status_watch  # noqa: PLC0415 - loads rich

        status_watch.watch(workspace, every, is_drawn=sys.stdout.isatty() and not as_json)
        return
    with open_for_reading(workspace) as opened:
        status = opened.status()
    if as_json:
        print_json(status)
        return
    for line in _lines(status, workspace):
        say_prose(visible(line))
    if status["index"] is None and status["documents"] and not status["running"]:
        say("to make it searchable:")
        say_command(command_line(our_name(), "index", "-w", workspace))


def _language_lines(totals: dict[str, Any] | None, workspace: Path) -> list[str]:
    kept_out = totals["other_languages"] if totals else {}
    return [f"languages: {languages_kept_out(kept_out, workspace)}"] if kept_out else []


def _lines(status: dict[str, Any], workspace: Path) -> list[str]:
    lines = [
        f"crawl: {running_words(status)}",
        f"health: {health_words(status['resilience'])}",
        "urls: " + (", ".join(f"{n:,} {state}" for state, n in status["urls"].items()) or "none"),
        *([f"tried: {guessed_words(status)}"] if status["guesses"]["asked"] else []),
        f"pages: {kept_words(status)}",
        f"documents: {status['documents']:,}",
        f"index: {index_words(status['index'])}",
        *_language_lines(status["index"], workspace),
        *([f"spool: {spool_words(status['spool'])}"] if status["spool"] else []),
        f"last capture: {clock_time(status['last_capture_at'])}",
        *_rate_lines(status["rates"]),
        f"left: {eta_words(status)}",
    ]
    for host in status["hosts"]:
        wait = f", next in {human_seconds(host['waits_s'])}" if host["waits_s"] else ""
        trouble = f", {host['failures']} failures in a row" if host["failures"] else ""
        pending = f"{host['pending']:,} pending"
        lines.append(f"  {host['host']}: {pending}, breaker {host['breaker']}{wait}{trouble}")
    if status["endings"]:
        lines.append("without a text:")
    lines.extend(
        f"  {ending['urls']:>7,}  {ending['verdict']}: {ending['reason']}"
        for ending in status["endings"]
    )
    return lines


def _rate_lines(rates: dict[str, dict[str, float] | None]) -> list[str]:
    return [
        f"{words}: {rate['pages_a_minute']:,.0f} pages and"
        f" {human_bytes(rate['bytes_a_minute'])} a minute"
        for name, words in WINDOWS.items()
        if (rate := rates[name]) and rate["captures_a_minute"]
    ]
