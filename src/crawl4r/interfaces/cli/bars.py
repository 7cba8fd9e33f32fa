"""Bars for work whose end is known; nothing where nobody looks."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from crawl4r.interfaces.cli.screen import Screen


def progress_bar(talks: bool) -> Progress:
    """A bar on stderr with counts and the time that is left, if that is a terminal."""
    screen = Screen(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not talks or not screen.is_terminal,
    )
