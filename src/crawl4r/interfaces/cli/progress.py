"""A live view of a crawl on a terminal; silent everywhere else."""

from __future__ import annotations

import asyncio
import sys
import time

from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from crawl4r.crawl import EndedBy
from crawl4r.crawl_run import CrawlRun
from crawl4r.interfaces.cli.screen import Screen, live
from crawl4r.interfaces.cli.wording import human_bytes, human_seconds
from crawl4r.shown import visible

_REFRESH = 0.25  # seconds
_COUNT_EVERY = 2.0  # seconds: counting the frontier is a query


async def show_progress(run: CrawlRun, *, enabled: bool) -> EndedBy:
    """Run the crawl to its end, drawing while it runs if stderr is a terminal."""
    if not enabled or not sys.stderr.isatty():
        return await run.finish()
    view = _View(run)
    with live(Screen(stderr=True), transient=True) as drawn:
        drawing = asyncio.create_task(_draw(view, drawn))
        try:
            return await run.finish()
        finally:
            drawing.cancel()


async def _draw(view: _View, drawn: Live) -> None:
    while True:
        drawn.update(view.render(), refresh=True)
        await asyncio.sleep(_REFRESH)


class _View:
    def __init__(self, run: CrawlRun) -> None:
        self._run = run
        self._started = time.monotonic()
        self._pending = 0
        self._unread = 0
        self._counted_at = 0.0
        self._embedding_since: tuple[float, int] | None = None
        self._spinner = Spinner("dots", style="cyan")

    def render(self) -> Group:
        crawl = self._run.crawl
        if crawl is None:
            return Group(Text("starting ..."))
        if self._run.reopening.problem:
            return Group(self._waiting())
        now = time.monotonic()
        if now - self._counted_at > _COUNT_EVERY:
            self._counted_at = now
            counts = self._run.parts.report.counts()
            self._pending = (
                counts.get("pending", 0) + counts.get("leased", 0) + counts.get("waiting", 0)
            )
            self._unread = self._run.documenter.behind() if self._run.documenter else 0
        progress = crawl.progress
        elapsed = max(now - self._started, 0.001)
        rate = progress.visits / elapsed
        grid = Table.grid(padding=(0, 3))
        grid.add_row(
            self._spinner,
            Text.assemble((f"{crawl.keeper.pages:,}", "bold green"), " pages kept"),
            f"{self._pending:,} waiting",
            f"{self._unread:,} to be read" if self._unread else "",
            self._unindexed(),
            f"{crawl.in_flight} in flight",
            f"{rate:,.1f}/s",
            human_bytes(crawl.keeper.bytes),
            human_seconds(elapsed),
            self._eta(rate),
        )
        return Group(grid, *self._details())

    def _waiting(self) -> Text:
        """The database may be closed: nothing is counted."""
        reopening = self._run.reopening
        left = human_seconds(max(0.0, reopening.until - self._run.parts.clock.wall()))
        words = f"waiting for the store, at most {left} more: {visible(reopening.problem)}"
        return Text(words, style="yellow")

    def _unindexed(self) -> str:
        follower = self._run.follower
        if follower is None or not any(follower.behind):
            return ""
        documents, passages = follower.behind
        if documents:
            return f"{documents:,} to be indexed"
        return f"{passages:,} passages to be embedded{self._embedding_eta(passages)}"

    def _embedding_eta(self, passages: int) -> str:
        """Once the pages are done, how long the vectors take; Ctrl-C leaves them for later."""
        if self._run.seconds == 0.0:
            return ""
        now, done = (
            time.monotonic(),
            self._run.follower.progress.embedded if self._run.follower else 0,
        )
        if self._embedding_since is None:
            self._embedding_since = (now, done)
        since, before = self._embedding_since
        rate = (done - before) / max(now - since, 0.001)
        left = f", about {human_seconds(passages / rate)}" if rate > 0 else ""
        return f"{left} (Ctrl-C leaves them for `crawl4r index`)"

    def _eta(self, rate: float) -> str:
        if not self._pending or rate <= 0:
            return ""
        return f"about {human_seconds(self._pending / rate)} for what is known"

    def _details(self) -> list[Text]:
        crawl = self._run.crawl
        assert crawl is not None
        lines = []
        others = {k: n for k, n in crawl.progress.verdicts.items() if k != "ok"}
        if others:
            words = "  ".join(f"{name} {count:,}" for name, count in sorted(others.items()))
            lines.append(Text(f"  {words}", style="dim"))
        now = time.monotonic()
        waits = [
            (b.breaker.open_until - now, b.host)
            for b in crawl.budgets
            if b.breaker.open_until > now
        ]
        for wait, host in sorted(waits)[:3]:
            lines.append(
                Text(f"  {host} keeps failing: next try in {human_seconds(wait)}", style="yellow")
            )
        return lines
