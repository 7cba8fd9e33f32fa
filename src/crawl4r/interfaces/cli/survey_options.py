"""The common part of `map` and `plan`: a survey of a site in a temporary workspace."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawl4r.interfaces.cli.view.format import our_name
from crawl4r.safe_text import command_line

if TYPE_CHECKING:
    from crawl4r.settings.load import Settings
    from crawl4r.workspace.survey import Survey

_Found = TypeVar("_Found")
STOPPED = 3  # the exit code of an interrupted survey
_OPTIONS = [
    click.option(
        "--allow-private", multiple=True, metavar="CIDR_OR_HOST", help="Open the egress gate."
    ),
    click.option("--contact", help="Tell sites how their owner can reach you."),
    click.option(
        "--rate",
        type=click.FloatRange(0),
        help="Make so many requests a second to a host.  [default: 1]",
    ),
    click.option("--profile", help="Start from a bundled configuration, e.g. github."),
    click.option("--deny", multiple=True, help="Skip URLs that match this pattern (RE2)."),
]


def survey_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(_OPTIONS):
        function = decorate(function)
    return function


def crawl_command(url: str, options: dict[str, Any], denied: list[str]) -> str:
    """The command for the crawl of the site, with the options of this survey."""
    words: list[str] = []
    for name in ("allow_private", "contact", "rate", "profile", "deny"):
        value = options.get(name)
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        for each in values:
            shown = f"{each:g}" if isinstance(each, float) else each
            words += ["--" + name.replace("_", "-"), shown]
    words += [word for pattern in denied for word in ("--deny", pattern)]
    return command_line(our_name(), "crawl", url, *words)


def run_survey(
    url: str, options: dict[str, Any], work: Callable[[Survey], Awaitable[_Found]]
) -> tuple[_Found, bool]:
    """Survey a site. Returns the result of `work`, and whether Ctrl-C interrupted it.

    Prints the progress on stderr.
    """

    async def survey() -> tuple[_Found, bool]:
        async with _opened(url, options) as opened:
            return await work(opened), opened.is_stopped

    try:
        return asyncio.run(survey())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextlib.asynccontextmanager
async def _opened(url: str, options: dict[str, Any]) -> AsyncIterator[Survey]:
    from crawl4r.interfaces.cli.typed_seeds import with_schemes  # noqa: PLC0415
    from crawl4r.interfaces.cli.view.survey_progress import telling, words_of  # noqa: PLC0415 - loads rich
    from crawl4r.workspace.site import open_survey  # noqa: PLC0415 - help goes without

    async def find(settings: Settings, typed: str) -> str:
        (seed,) = await with_schemes(settings, [typed])
        return seed

    async with open_survey(url, options, find) as survey:
        with _ending_at_a_signal(survey):
            async with telling(lambda: words_of(survey.progress())):
                yield survey


@contextlib.contextmanager
def _ending_at_a_signal(survey: Survey) -> Iterator[None]:
    """The first Ctrl-C ends the survey, the second one the command."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop() -> None:
        if survey.is_stopped:
            task.cancel()
        else:
            survey.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
