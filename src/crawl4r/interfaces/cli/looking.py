"""What `map` and `plan` have in common: a look at a site in a workspace that is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawl4r.interfaces.cli.wording import our_name
from crawl4r.shown import command_line

if TYPE_CHECKING:
    from crawl4r.interfaces.cli.look import Look

_Seen = TypeVar("_Seen")
STOPPED = 3  # the exit code of a look that Ctrl-C cut short
_OPTIONS = [
    click.option(
        "--allow-private", multiple=True, metavar="CIDR_OR_HOST", help="Open the egress gate."
    ),
    click.option("--contact", help="Where a site's owner can reach you."),
    click.option(
        "--rate", type=click.FloatRange(0), help="Requests a second to a host.  [default: 1]"
    ),
    click.option("--profile", help="Start from a bundled configuration, e.g. github."),
    click.option("--deny", multiple=True, help="Skip URLs that match this pattern (RE2)."),
]


def looking_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(_OPTIONS):
        function = decorate(function)
    return function


def crawl_command(url: str, options: dict[str, Any], denied: list[str]) -> str:
    """The crawl that was looked ahead to, with all that this look was given."""
    words: list[str] = []
    for name in ("allow_private", "contact", "rate", "profile", "deny"):
        value = options.get(name)
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        for each in values:
            shown = f"{each:g}" if isinstance(each, float) else each
            words += ["--" + name.replace("_", "-"), shown]
    words += [word for pattern in denied for word in ("--deny", pattern)]
    return command_line(our_name(), "crawl", url, *words)


def run_look(
    url: str, options: dict[str, Any], work: Callable[[Look], Awaitable[_Seen]]
) -> tuple[_Seen, bool]:
    """Do this in a workspace that is gone afterwards, telling on stderr what is under way.

    What came of it, and whether it was cut short.
    """

    async def look() -> tuple[_Seen, bool]:
        async with _opened(url, options) as opened:
            return await work(opened), opened.is_stopped

    try:
        return asyncio.run(look())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextlib.asynccontextmanager
async def _opened(url: str, options: dict[str, Any]) -> AsyncIterator[Look]:
    from crawl4r.interfaces.cli.look import Look  # noqa: PLC0415 - help goes without
    from crawl4r.interfaces.cli.looking_progress import telling  # noqa: PLC0415 - loads rich
    from crawl4r.interfaces.cli.seeds import with_schemes  # noqa: PLC0415
    from crawl4r.workspace import open_workspace  # noqa: PLC0415

    asked = {name: value for name, value in options.items() if name != "profile"}
    with tempfile.TemporaryDirectory(prefix="crawl4r-look-") as place:
        async with open_workspace(place, profile=options.get("profile"), **asked) as workspace:
            (seed,) = await with_schemes(workspace.settings, [url])
            look = Look(seed, workspace)
            with _ending_at_a_signal(look):
                async with telling(look.words):
                    yield look


@contextlib.contextmanager
def _ending_at_a_signal(look: Look) -> Iterator[None]:
    """The first Ctrl-C ends the look, another one the command."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop() -> None:
        if look.is_stopped:
            task.cancel()
        else:
            look.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
