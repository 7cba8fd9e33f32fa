"""Bars for work whose end is known; nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from crawl4r.interfaces.cli.screen import Screen, printing_above


@contextmanager
def progress_bar(talks: bool) -> Iterator[Progress]:
    """A bar on stderr with counts and the time that is left, if that is a terminal."""
    screen = Screen(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=not talks or not screen.is_terminal,
    )
    if bar.disable:
        yield bar
        return
    with printing_above(screen), bar:
        yield bar
