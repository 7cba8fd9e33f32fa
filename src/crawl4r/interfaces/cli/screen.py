"""What is drawn with rich: the console that all of it goes through.

No string is markup here. Styles are given by `Text`, so that a title like `[/bold]` or
`[link=http://...]` is shown as it was written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from rich.console import Console, ConsoleOptions, RenderableType
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.segment import Segment

from crawl4r.shown import visible_text


class Screen(Console):
    """stdout or stderr for rich. Only rich's own control sequences and styles reach the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        # Past the guard of `output.guard_streams`, which would spell rich's own sequences out.
        file = sys.__stderr__ if stderr else sys.__stdout__
        super().__init__(file=file, stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments whose text is harmless. Rich renders everything here, also inside tables."""
        for text, style, control in super().render(renderable, options):
            if control is not None:
                yield Segment(text, style, control)
            else:
                plain = style.update_link() if style and style.link else style
                yield Segment(visible_text(text), plain)


class _VisibleProxy(FileProxy):
    """Rich would take control sequences in what is written for styles and links of its own."""

    def write(self, text: str) -> int:
        return super().write(visible_text(text))


@contextmanager
def printing_above(screen: Screen) -> Iterator[None]:
    """What is printed meanwhile, on stdout or stderr, appears above what is drawn on the screen."""
    stdout, stderr = (_VisibleProxy(screen, stream) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(stdout), redirect_stderr(stderr):
        yield


@contextmanager
def live(screen: Screen, *, transient: bool = False) -> Iterator[Live]:
    """A part of the screen that is drawn again whenever it is told to."""
    drawn = Live(
        console=screen,
        auto_refresh=False,
        transient=transient,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with printing_above(screen), drawn:
        yield drawn
