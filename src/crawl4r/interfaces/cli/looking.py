"""What `map` and `plan` have in common: a look at a site in a workspace that is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import asdict

from crawl4r.errors import PageUnavailable
from crawl4r.interfaces.cli.wording import human_seconds, our_name
from crawl4r.shown import command_line
from crawl4r.urls.canonical import split

if TYPE_CHECKING:
    from crawl4r.discovery.traps import TrapRules
    from crawl4r.mapping import MappedUrl, MapRun
    from crawl4r.planning import Sample
    from crawl4r.reporting import PageRow
    from crawl4r.urls.robots import RobotsFile
    from crawl4r.workspace import Workspace

_Seen = TypeVar("_Seen")
STOPPED = 3  # the exit code of a look that Ctrl-C cut short
_EDGES = Path("logs", "edges.csv")
_ROUNDS = (
    5,
    10,
    15,
    20,
)  # pages, between two looks at what they name; the last for all that follow
_OPTIONS = [
    click.option(
        "--allow-private", multiple=True, metavar="CIDR_OR_HOST", help="Open the egress gate."
    ),
    click.option("--contact", help="Where a site's owner can reach you."),
    click.option(
        "--rate", type=click.FloatRange(0), help="Requests a second to a host.  [default: 1]"
    ),
    click.option("--profile", help="Start from a bundled configuration, e.g. github."),
    click.option("--deny", multiple=True, help="No URL that matches this pattern (RE2)."),
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


class Look:
    """A look at a site. `words` says at any time what it does; Ctrl-C ends it with what is known."""

    def __init__(self, url: str, workspace: Workspace) -> None:
        self.url = url
        self.is_stopped = False
        self._workspace = workspace
        self._run: MapRun | None = None
        self._delay = 0.0
        self._sayings: dict[str, int] = {}
        self._wanted = 0  # pages to sample; 0 until then
        self._sampled = 0  # by rounds that have ended
        self._sampling_since = 0.0

    async def map(self, common_crawl: str = "", *, with_links: bool = False) -> list[MappedUrl]:
        """Everything that the site names; PageUnavailable when nothing of it can be read."""
        from crawl4r.mapping import map_settings, mapped  # noqa: PLC0415

        settings = map_settings(self._workspace.settings, common_crawl, with_links=with_links)
        self._workspace.settings = settings
        await self._visit((self.url,))
        named = list(mapped(self._workspace.database))
        if not named and not self.is_stopped:
            raise PageUnavailable(self._why_nothing())
        return named

    async def sample(self, pages: int) -> Sample:
        """Visit so many pages in all, drawn at random from those that are known."""
        from crawl4r.mapping import not_visited, sample_settings  # noqa: PLC0415
        from crawl4r.planning import CANDIDATES, choose  # noqa: PLC0415

        workspace, chance = self._workspace, random.Random()
        workspace.settings = sample_settings(workspace.settings)
        self._wanted, self._sampling_since = pages, time.monotonic()
        self._sampled, rounds = 1, list(_ROUNDS)
        while self._sampled < pages and not self.is_stopped:
            room = min(rounds.pop(0) if len(rounds) > 1 else rounds[0], pages - self._sampled)
            visited = [row.url for row in workspace.pages() if row.fetched_at is not None]
            chosen = choose(not_visited(workspace.database, CANDIDATES), visited, room, chance)
            if not chosen:
                break
            await self._visit(tuple(chosen))
            self._sampled += len(chosen)
        return self._what_was_seen()

    def _what_was_seen(self) -> Sample:
        from crawl4r.app_parts import caps_of  # noqa: PLC0415
        from crawl4r.planning import Sample, links_in  # noqa: PLC0415
        from crawl4r.reading import LinkJudge  # noqa: PLC0415

        workspace, rows = self._workspace, list(self._workspace.pages())
        links = links_in(workspace.path / _EDGES)
        settings = workspace.settings
        return Sample(
            rows,
            links,
            self._sayings,
            self._delay,
            self._trap_rules(),
            self._robots(rows),
            tuple(settings.robots_rules().agents),
            caps_of(settings),
            LinkJudge(settings.reading_rules(workspace.scope_hosts())).groups,
        )

    def _trap_rules(self) -> TrapRules | None:
        from crawl4r.discovery.traps import TrapRules  # noqa: PLC0415

        rules = asdict(self._workspace.settings.limits.traps)
        return TrapRules(**rules) if rules.pop("enabled") else None

    def _robots(self, rows: Iterable[PageRow]) -> dict[str, RobotsFile]:
        """The rules of the origins that were asked, where they are obeyed."""
        from crawl4r.urls.robots import RobotsFile  # noqa: PLC0415

        if not self._workspace.settings.robots_rules().obey:
            return {}
        origins = {split(row.url).origin for row in rows if row.fetched_at is not None}
        bodies = {origin: self._workspace.robots_body(origin) for origin in origins}
        return {origin: RobotsFile(body) for origin, body in bodies.items() if body is not None}

    async def _visit(self, urls: tuple[str, ...]) -> None:
        from crawl4r.mapping import MapRun  # noqa: PLC0415

        workspace = self._workspace
        settings = workspace.settings
        self._run = MapRun(workspace.parts, settings, urls, workspace.budgets_for(settings))
        await self._run.finish()
        self._sayings |= self._run.sayings
        if self._run.crawl:
            delays = [budget.delay for budget in self._run.crawl.budgets]
            self._delay = max(self._delay, *delays, 0.0)

    def stop(self) -> None:
        """End soon; what is in flight is dropped."""
        self.is_stopped = True
        if self._run:
            self._run.stop()
            self._run.stop_now()

    def words(self) -> str:
        crawl = self._run.crawl if self._run else None
        visits = crawl.progress.visits if crawl else 0
        if self._wanted:
            return self._sampling_words(visits)
        if not visits:
            return f"asking {self.url} and its robots.txt"
        known = self._workspace.report.counts()
        return f"reading sitemaps and feeds: {visits:,} read, {sum(known.values()):,} URLs known"

    def _sampling_words(self, visits: int) -> str:
        done = min(self._sampled + visits, self._wanted)
        taken = time.monotonic() - self._sampling_since
        left = (self._wanted - done) * (taken / (done - 1) if done > 1 else self._delay)
        known = sum(self._workspace.report.counts().values())
        eta = f", about {human_seconds(left)} left" if left >= 1 else ""
        return f"sample page {done:,} of {self._wanted:,}: {known:,} URLs known{eta}"

    def _why_nothing(self) -> str:
        rows = list(self._workspace.pages())
        refused = next((row for row in reversed(rows) if row.verdict != "redirect"), None)
        return f"nothing of {self.url} could be read: {_reason(refused)}"


def _reason(row: PageRow | None) -> str:
    if row is None:
        return "it was not asked"
    return f"{row.verdict}: {row.reason}" if row.reason else str(row.verdict)


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
    from crawl4r.interfaces.cli.looking_progress import telling  # noqa: PLC0415 - loads rich
    from crawl4r.workspace import open_workspace  # noqa: PLC0415 - help goes without

    asked = {name: value for name, value in options.items() if name != "profile"}
    with tempfile.TemporaryDirectory(prefix="crawl4r-look-") as place:
        async with open_workspace(place, profile=options.get("profile"), **asked) as workspace:
            look = Look(url, workspace)
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
