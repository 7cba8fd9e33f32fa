"""`crawl4r status --watch`: the status at intervals, drawn on a terminal or as JSON lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from crawl4r.interfaces.cli.options import open_for_reading, print_json
from crawl4r.interfaces.cli.screen import Screen, live
from crawl4r.interfaces.cli.view.format import clock_time, human_bytes, human_seconds
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
from crawl4r.safe_text import visible
from crawl4r.workspace.workspace import Workspace

_COUNTING_SHARE = 20  # reading every row may take 1/20 of the time
_BESIDE_TABLES = 18  # lines


def watch(path: Path, every: float, *, is_drawn: bool) -> None:
    """Show the status of a workspace every `seconds`, until Ctrl-C."""
    try:
        if is_drawn:
            screen = Screen()
            with live(screen) as drawn:
                for status in _statuses(path, every):
                    drawn.update(_drawn(path, status, screen), refresh=True)
        else:
            for status in _statuses(path, every):
                print_json(status)
    except KeyboardInterrupt:
        pass


def _statuses(path: Path, every: float) -> Iterator[dict[str, Any]]:
    """Yield the status now and whenever it is due. Reopens a workspace that was recreated."""
    while True:
        with open_for_reading(path) as opened:
            counts = _RecentCounts(opened)
            inode = _inode_of(path / "state.db")
            while _inode_of(path / "state.db") == inode:
                yield opened.status(counts.recent())
                time.sleep(every)


def _inode_of(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


class _RecentCounts:
    """Counts over all rows, made again when they are old enough for what they cost."""

    def __init__(self, opened: Workspace) -> None:
        self._opened = opened
        self._counts: dict[str, Any] = {}
        self._due_at = 0.0  # monotonic seconds

    def recent(self) -> dict[str, Any]:
        started = time.monotonic()
        if started >= self._due_at:
            self._counts = self._opened.counts()
            now = time.monotonic()
            self._due_at = now + (now - started) * _COUNTING_SHARE
        return self._counts


def _drawn(path: Path, status: dict[str, Any], screen: Screen) -> RenderableType:
    room = max(4, screen.height - _BESIDE_TABLES)
    is_running = bool(status["processes"])
    mark = ("● ", "bold green" if is_running and not status["control"] else "bold yellow")
    title = Text.assemble(mark, (str(path), "bold"), (f"  {clock_time(time.time())}", "dim"))
    parts: list[RenderableType] = [title, "", _frontier(status), "", _rates(status)]
    if status["hosts"]:
        parts += ["", _hosts(status["hosts"], room // 2)]
    if status["endings"]:
        parts += ["", _endings(status, room // 2)]
    return Group(*parts)


def _frontier(status: dict[str, Any]) -> Table:
    frontier = status["frontier"]
    grid = _grid()
    grid.add_row("crawl", running_words(status))
    grid.add_row("health", visible(health_words(status["resilience"])))
    bar = ProgressBar(total=max(1, frontier["known"]), completed=frontier["finished"], width=40)
    grid.add_row("urls", bar)
    grid.add_row("", ", ".join(f"{count:,} {state}" for state, count in frontier.items()))
    ended = ", ".join(
        f"{count:,} {state}" for state, count in status["urls"].items() if state not in frontier
    )
    if ended:
        age = time.time() - status["counted_at"]
        old = f" (counted {human_seconds(age)} ago)" if age > 3 else ""
        grid.add_row("", Text(f"finished: {ended}{old}", style="dim"))
    if status["spool"]:
        grid.add_row("spool", spool_words(status["spool"]))
    if status["guesses"]["asked"]:
        grid.add_row("tried", guessed_words(status))
    grid.add_row("pages", kept_words(status))
    grid.add_row("index", index_words(status["index"]))
    grid.add_row("left", visible(eta_words(status)))
    return grid


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="ellipsis")
    return grid


def _table(*columns: str) -> Table:
    """A table with text in the first column and right-aligned numbers in the others."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, name in enumerate(columns):
        is_words = number == 0
        table.add_column(name, justify="left" if is_words else "right", no_wrap=True)
    return table


def _rates(status: dict[str, Any]) -> Table:
    table = _table("a minute", *WINDOWS.values())
    rates = [status["rates"][name] for name in WINDOWS]
    for word, key in (("answers", "captures"), ("pages", "pages"), ("bytes", "bytes")):
        shown = human_bytes if key == "bytes" else "{:,.0f}".format
        table.add_row(word, *(shown(rate[f"{key}_a_minute"]) if rate else "-" for rate in rates))
    return table


def _hosts(hosts: list[dict[str, Any]], most: int) -> Table:
    table = _table("host", "pending", "delay", "next", "failures", "breaker")
    for host in hosts[:most]:
        is_open = host["breaker"] == "open"
        table.add_row(
            visible(host["host"]),
            f"{host['pending']:,}",
            f"{host['delay_s']:.3g} s",
            human_seconds(host["waits_s"]) if host["waits_s"] else "now",
            str(host["failures"] or "-"),
            Text(host["breaker"], style="bold red" if is_open else "green"),
        )
    return table


def _endings(status: dict[str, Any], most: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("no text", justify="right", no_wrap=True)
    table.add_column("", overflow="ellipsis", no_wrap=True)
    for ending in status["endings"][:most]:
        words = visible(f"{ending['verdict']}: {ending['reason']}")
        table.add_row(f"{ending['urls']:,}", words)
    return table
