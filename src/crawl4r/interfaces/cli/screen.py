"""The console for output that is drawn with rich.

No string is markup. `Text` carries the styles, so that a title like `[/bold]` or `[link=http://...]`
is shown as written. Only `print_link` makes live links.
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

# Printable ASCII, which cannot end or extend the control sequence. Terminals drop longer URLs.
_WEB_PAGE = re.compile(r"https?://[!-~]{1,2000}")


class Screen(Console):
    """stdout or stderr for rich. Only rich's own control sequences and styles reach the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        # The original stream, because the guard of `output.guard_streams` would escape rich's
        # sequences.
        file = sys.__stderr__ if stderr else sys.__stdout__
        super().__init__(file=file, stderr=stderr, markup=False, emoji=False, highlight=False)
        self._link: str | None = None  # the live link of the current rendering

    def print_link(self, url: str, words: str) -> None:
        """Print text on its own lines as a live link to a web page, wrapped only by the terminal.

        In a pipe, or for an address that is no web page, it prints the text alone.
        """
        self._link = url if _WEB_PAGE.fullmatch(url) else None
        try:
            self.print(Text(visible(words), Style(color="cyan", link=self._link)), soft_wrap=True)
        finally:
            self._link = None

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Escape the text of all segments. Rich renders everything through this method."""
        for text, style, control in super().render(renderable, options):
            if control is not None:
                yield Segment(text, style, control)
            else:
                if style is not None and style.link not in (None, self._link):
                    style = style.update_link()  # noqa: PLW2901 - not one of ours
                yield Segment(visible_text(text), style)


class _VisibleProxy(FileProxy):
    """Escape text, because Rich would read control sequences in it as styles and links."""

    def write(self, text: str) -> int:
        return super().write(visible_text(text))


@contextmanager
def printing_above(screen: Screen) -> Iterator[None]:
    """Lets output on stdout or stderr appear above the drawn part of the screen."""
    stdout, stderr = (_VisibleProxy(screen, stream) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(stdout), redirect_stderr(stderr):
        yield


@contextmanager
def live(screen: Screen, *, transient: bool = False) -> Iterator[Live]:
    """A part of the screen that is redrawn on request."""
    drawn = Live(
        console=screen,
        auto_refresh=False,
        transient=transient,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with printing_above(screen), drawn:
        yield drawn
