"""Show the progress of a survey on stderr, as one changing line or as plain lines."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable

from rich.text import Text

from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.screen import Screen, live
from crawl4r.interfaces.cli.view.format import human_seconds
from crawl4r.safe_text import visible
from crawl4r.workspace.survey import SurveyProgress

_REFRESH = 0.25  # seconds
_A_LINE_EVERY = 5.0  # seconds, without a terminal


def words_of(progress: SurveyProgress) -> str:
    if progress.wanted:
        place = f"sample page {progress.sampled:,} of {progress.wanted:,}"
        left = progress.seconds_left
        eta = f", about {human_seconds(left)} left" if left >= 1 else ""
        return f"{place}: {progress.known:,} URLs known{eta}"
    if not progress.visits:
        return f"asking {progress.url} and its robots.txt"
    return f"reading sitemaps and feeds: {progress.visits:,} read, {progress.known:,} URLs known"


@contextlib.asynccontextmanager
async def telling(words: Callable[[], str]) -> AsyncIterator[None]:
    """Show the text of `words` inside the `with` block. On a terminal the line disappears after it."""
    show = _draw if sys.stderr.isatty() else _say_now_and_then
    task = asyncio.create_task(show(words))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _draw(words: Callable[[], str]) -> None:
    screen = Screen(stderr=True)
    with live(screen, transient=True) as drawn:
        while True:
            line = Text(visible(words()), "dim", no_wrap=True, overflow="ellipsis")
            drawn.update(line, refresh=True)
            await asyncio.sleep(_REFRESH)


async def _say_now_and_then(words: Callable[[], str]) -> None:
    """Print a line when a new stage begins, and every few seconds."""
    said, work = 0.0, ""
    while True:
        line, now = words(), time.monotonic()
        begun = line.partition(" ")[0]
        if begun != work or now - said >= _A_LINE_EVERY:
            say(line, err=True)
            said, work = now, begun
        await asyncio.sleep(_REFRESH)
