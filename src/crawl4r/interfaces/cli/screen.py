"""What is drawn with rich: the console that all of it goes through.

No string is markup here. Styles are given by `Text`, so that a title like `[/bold]` or
`[link=http://...]` is shown as it was written. The only live links are those of `print_link`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from rich.console import Console, ConsoleOptions, RenderableType
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from crawl4r.safe_text import visible, visible_text

# Printable ASCII: nothing ends the control sequence early, or adds to it. Terminals drop longer ones.
_WEB_PAGE = re.compile(r"https?://[!-~]{1,2000}")


class Screen(Console):
    """stdout or stderr for rich. Only rich's own control sequences and styles reach the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        # Past the guard of `output.guard_streams`, which would spell rich's own sequences out.
        file = sys.__stderr__ if stderr else sys.__stdout__
        super().__init__(file=file, stderr=stderr, markup=False, emoji=False, highlight=False)
        self._link: str | None = None  # that may be live in what is being rendered

    def print_link(self, url: str, words: str) -> None:
        """Print words on lines of their own that only the terminal folds, as a live link to a web page.

        In a pipe, or for an address that is none of a web page, they are words alone.
        """
        self._link = url if _WEB_PAGE.fullmatch(url) else None
        try:
            self.print(Text(visible(words), Style(color="cyan", link=self._link)), soft_wrap=True)
        finally:
            self._link = None

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments whose text is harmless. Rich renders everything here, also inside tables."""
        for text, style, control in super().render(renderable, options):
            if control is not None:
                yield Segment(text, style, control)
            else:
                if style is not None and style.link not in (None, self._link):
                    style = style.update_link()  # noqa: PLW2901 - not one of ours
                yield Segment(visible_text(text), style)


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
