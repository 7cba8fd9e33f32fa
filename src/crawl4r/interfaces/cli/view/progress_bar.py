"""Progress bars for work of known size: drawn on a terminal, else a line at intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.cells import cell_len
from rich.text import Text

from crawl4r.interfaces.cli.output import draws_on_stderr, say
from crawl4r.interfaces.cli.screen import Screen, live
from crawl4r.interfaces.cli.view.fit_line import GAP, LinePart, fit, room_on
from crawl4r.interfaces.cli.view.format import about_seconds, human_bytes
from crawl4r.safe_text import visible

_DRAWN_EVERY = 0.1  # seconds
_TOLD_EVERY = 10.0  # seconds
_WIDEST, _NARROWEST = 40, 8  # columns of a bar


class Task:
    """The progress of one kind of work. `total` is None while its size is unknown."""

    def __init__(self, name: str, total: int | None, began_at: float, *, in_bytes: bool) -> None:
        self.name = name
        self.total = total
        self.done = 0
        self._began_at = began_at
        self._in_bytes = in_bytes

    def pieces(self, now: float) -> list[LinePart]:
        show = human_bytes if self._in_bytes else "{:,}".format
        counts = show(self.done) if self.total is None else f"{show(self.done)}/{show(self.total)}"
        return [LinePart(0, visible(self.name)), LinePart(1, counts), LinePart(2, self._left(now))]

    def _left(self, now: float) -> str:
        if not self.total or not 0 < self.done < self.total:
            return ""
        return (
            f"about {about_seconds((now - self._began_at) / self.done * (self.total - self.done))}"
        )


class Bars:
    """Progress of several tasks; calls `changed` at most every few seconds."""

    def __init__(
        self, changed: Callable[[], None], every: float, clock: Callable[[], float]
    ) -> None:
        self.tasks: list[Task] = []
        self.clock = clock
        self._changed = changed
        self._every = every
        self._told_at = clock()

    def add_task(self, name: str, total: int | None, *, in_bytes: bool = False) -> int:
        self.tasks.append(Task(name, total, self.clock(), in_bytes=in_bytes))
        return len(self.tasks) - 1

    def advance(self, task: int, more: int = 1) -> None:
        self.tasks[task].done += more
        self._tell()

    def update(self, task: int, *, completed: int, total: int | None = None) -> None:
        """Update a task; None keeps its `total`."""
        known = self.tasks[task]
        known.done, known.total = completed, known.total if total is None else total
        self._tell()

    def _tell(self) -> None:
        if self.clock() - self._told_at >= self._every:
            self._told_at = self.clock()
            self._changed()


@contextmanager
def progress_bar(talks: bool, clock: Callable[[], float] = time.monotonic) -> Iterator[Bars]:
    """Show bars with counts and remaining time on stderr; in a pipe a line every ten seconds."""
    if not talks:
        yield Bars(lambda: None, _TOLD_EVERY, clock)
    elif draws_on_stderr():
        screen = Screen(stderr=True)
        with live(screen, transient=True) as drawn:
            bars = Bars(
                lambda: drawn.update(_drawn(bars, screen.width), refresh=True), _DRAWN_EVERY, clock
            )
            yield bars
    else:
        bars = Bars(lambda: _say(bars), _TOLD_EVERY, clock)
        yield bars


def _say(bars: Bars) -> None:
    for task in bars.tasks:
        if task.done:
            words = [piece.text for piece in task.pieces(bars.clock()) if piece.text]
            say("crawl4r: " + ", ".join(words), err=True)


def _drawn(bars: Bars, width: int) -> Text:
    room = room_on(width)
    tasks = [task for task in bars.tasks if task.total != 0]
    return Text("\n").join(_line(task, bars.clock(), room) for task in tasks)


def _line(task: Task, now: float, room: int) -> Text:
    pieces = task.pieces(now)
    words = fit(pieces, room)
    columns = min(_WIDEST, room - cell_len(words) - len(GAP))
    if columns < _NARROWEST or not task.total:
        return Text(words)
    full = round(columns * min(1.0, task.done / task.total))
    rest = words.removeprefix(pieces[0].text)
    bar = Text.assemble(("━" * full, "green"), ("━" * (columns - full), "dim"))
    return Text.assemble(pieces[0].text, GAP, bar, rest)
