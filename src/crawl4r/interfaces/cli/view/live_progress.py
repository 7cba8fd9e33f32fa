"""Show the progress of a running crawl: one changing line on a terminal, else a line at intervals."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from rich.console import Group
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from crawl4r.crawling.loop import EndedBy
from crawl4r.errors import Crawl4rError
from crawl4r.interfaces.cli.output import draws_on_stderr, say
from crawl4r.interfaces.cli.screen import Screen, live
from crawl4r.interfaces.cli.view.fit_line import fit, room_on
from crawl4r.interfaces.cli.view.format import our_name
from crawl4r.interfaces.cli.view.progress_line import (
    Phase,
    Standing,
    Trouble,
    pieces_of,
    trouble_pieces,
)
from crawl4r.resilience.network import HELD_AS
from crawl4r.safe_text import command_line
from crawl4r.storage.control_names import file_of
from crawl4r.storage.layout import PAUSE
from crawl4r.workspace.run import CrawlRun
from crawl4r.workspace.workspace import Workspace

TOLD_EVERY = 10.0  # seconds between lines without a terminal
_REFRESH = 0.25  # seconds
_COUNT_EVERY = 2.0  # seconds
_COUNTING_SHARE = 20  # counting may take 1/20 of the time
_SOON = 3.0  # seconds; a shorter wait for a host is not shown
_LEAST_HEIGHT = 6  # lines of a terminal with room for a second line
_SPINNER = 2  # columns
_PHASE_STYLES = {Phase.PAUSED: "yellow", Phase.NO_NETWORK: "yellow", Phase.NO_STORE: "yellow"}


async def show_progress(run: CrawlRun, workspace: Workspace, *, enabled: bool) -> EndedBy:
    """Run the crawl to its end with its progress on stderr: drawn on a terminal, else a line every ten
    seconds, so that a shorter crawl prints none."""
    if not enabled:
        return await run.finish()
    view = ProgressView(run, workspace)
    telling = asyncio.create_task(show_standing(view.look))
    try:
        return await run.finish()
    finally:
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling


async def show_standing(look: Callable[[], Standing], every: float = _REFRESH) -> None:
    """Draw what `look` says until cancelled; without a terminal a line at intervals."""
    await (_draw(look, every) if draws_on_stderr() else _tell(look))


async def _draw(look: Callable[[], Standing], every: float) -> None:
    screen = Screen(stderr=True)
    spinner = Spinner("dots", style="cyan")
    with live(screen, transient=True) as drawn:
        while True:
            drawn.update(_drawn(look(), spinner, screen), refresh=True)
            await asyncio.sleep(every)


async def _tell(look: Callable[[], Standing]) -> None:
    while True:
        await asyncio.sleep(TOLD_EVERY)
        pieces = [piece.text for piece in pieces_of(look())]
        say("crawl4r: " + ", ".join(filter(None, pieces)), err=True)


def _drawn(standing: Standing, spinner: Spinner, screen: Screen) -> Group:
    room = room_on(screen.width) - _SPINNER
    words = Text(fit(pieces_of(standing), room), _PHASE_STYLES.get(standing.phase, ""))
    line = Table.grid(padding=(0, 1))
    line.add_column(no_wrap=True)
    line.add_column(no_wrap=True)
    line.add_row(spinner, words)
    if standing.trouble is None or screen.height < _LEAST_HEIGHT:
        return Group(line)
    trouble = " " * _SPINNER + fit(trouble_pieces(standing.trouble), room)
    return Group(line, Text(trouble, "yellow"))


class ProgressView:
    """Reads the state of a run often, and queries the database at intervals."""

    def __init__(self, run: CrawlRun, workspace: Workspace) -> None:
        self._run = run
        self._workspace = workspace
        self._clock = run.parts.clock
        self._began_at = self._clock.monotonic()
        self._since = self._clock.wall()
        self._glance_due_at = 0.0
        self._waiting = self._unread = 0
        self._rate = 0.0
        self._eta: tuple[float | None, str | None] = (None, None)
        self._troubles: list[tuple[float, str]] = []  # (shown until, host)
        self._paces: dict[Phase, tuple[float, int]] = {}  # by phase: begin, amount of work

    def look(self) -> Standing:
        """The current state of the run."""
        run, crawl = self._run, self._run.crawl
        now = self._clock.monotonic()
        if run.reopening.problem:  # the database may be closed: do not count
            patience = max(0.0, run.reopening.until - self._clock.wall())
            return Standing(Phase.NO_STORE, run.reopening.problem, left=patience)
        if crawl is None:
            return Standing(Phase.STARTING, seconds=now - self._began_at)
        if now >= self._glance_due_at:
            self._glance()
        phase, why = self._phase()
        to_make = self._to_make(phase)
        left, limited_by = self._left(phase, to_make, now)
        return Standing(
            phase,
            why,
            kept=crawl.keeper.pages,
            waiting=self._waiting,
            to_make=to_make,
            unread=self._unread,
            in_flight=crawl.in_flight,
            rate=self._rate,
            size=crawl.keeper.bytes,
            seconds=now - self._began_at,
            left=left,
            limited_by=limited_by,
            next_in=self._next_in(now) if phase is Phase.CRAWLING else 0.0,
            trouble=self._trouble(now) if phase is Phase.CRAWLING else None,
        )

    def _glance(self) -> None:
        """The estimate of `status`, with the current settings."""
        run, now = self._run, self._clock.monotonic
        started = now()
        with contextlib.suppress(Crawl4rError):  # the store may be failing
            glance = self._workspace.glance(
                self._since, run.settings, is_held=run.pause_gate.is_held
            )
            frontier, eta = glance["frontier"], glance["eta"]
            self._waiting = frontier["pending"] + frontier["leased"] + frontier["waiting"]
            self._rate = glance["rates"]["last_minute"]["captures_a_minute"] / 60
            self._eta = (eta["seconds"], eta["limited_by"]) if eta else (None, None)
            documenter = run.followers.documenter
            self._unread = documenter.behind() if documenter else 0
            self._troubles = self._hosts_in_trouble()
        cost = now() - started
        every = _COUNT_EVERY if not run.seconds else _REFRESH
        self._glance_due_at = now() + max(every, cost * _COUNTING_SHARE)

    def _phase(self) -> tuple[Phase, str]:
        run = self._run
        assert run.crawl is not None
        if run.seconds:
            return self._phase_after_visits(), ""
        if run.crawl.is_stopping:
            return Phase.STOPPING, ""
        if run.pause_gate.is_held_by(HELD_AS):
            return Phase.NO_NETWORK, ""
        if run.pause_gate.is_held_by(PAUSE):
            return Phase.PAUSED, self._way_on()
        if run.pause_gate.is_held:
            return Phase.HELD, "; ".join(run.pause_gate.reasons)
        return Phase.CRAWLING, ""

    def _way_on(self) -> str:
        """The command that ends the pause: it may be older than this run, and forgotten."""
        folder, role = self._run.control_folder, self._run.role
        only = () if file_of(folder, PAUSE).exists() else ("--only", role)
        return f"until {command_line(our_name(), 'pause', '--off', *only, '-w', folder)}"

    def _phase_after_visits(self) -> Phase:
        if self._unread:
            return Phase.READING
        index = self._run.followers.index
        documents, passages = index.behind if index else (0, 0)
        if documents:
            return Phase.INDEXING
        return Phase.EMBEDDING if passages else Phase.FINISHING

    def _to_make(self, phase: Phase) -> int:
        index = self._run.followers.index
        documents, passages = index.behind if index else (0, 0)
        left = {Phase.READING: self._unread, Phase.INDEXING: documents, Phase.EMBEDDING: passages}
        return left.get(phase, 0)

    def _left(self, phase: Phase, to_make: int, now: float) -> tuple[float | None, str | None]:
        if phase is Phase.CRAWLING:
            return self._eta
        since, at_first = self._paces.setdefault(phase, (now, to_make))
        done = at_first - to_make
        return ((now - since) / done * to_make if done > 0 else None), None

    def _next_in(self, now: float) -> float:
        """Seconds until the next request, when none is in flight."""
        crawl = self._run.crawl
        assert crawl is not None
        expected = None if crawl.in_flight else crawl.schedule.expects_at()
        wait = expected - now if expected is not None else 0.0
        return wait if _SOON < wait < float("inf") else 0.0

    def _hosts_in_trouble(self) -> list[tuple[float, str]]:
        assert self._run.crawl is not None
        now = self._clock.monotonic()
        times = ((b.breaker.open_until, b.host) for b in self._run.crawl.visitor.budgets)
        return sorted((until, host) for until, host in times if until > now)

    def _trouble(self, now: float) -> Trouble | None:
        if not self._troubles:
            return None
        until, host = self._troubles[0]
        return Trouble(host, max(0.0, until - now), len(self._troubles) - 1)
