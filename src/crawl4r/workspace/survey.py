"""A survey of a site: the URLs that it names, and a sample of its pages as a crawl would see them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import asdict

from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.discovery.traps.guard import TrapRules
from crawl4r.errors import PageUnavailable
from crawl4r.reports.url_story import PageRow
from crawl4r.urls.canonical import split
from crawl4r.urls.robots import RobotsFile
from crawl4r.wiring.frontier import caps_of
from crawl4r.workspace.map_run import (
    MappedUrl,
    MapRun,
    map_settings,
    mapped,
    not_visited,
    sample_settings,
    urls_found,
)
from crawl4r.workspace.plan import CANDIDATES, Sample, choose, links_in
from crawl4r.workspace.workspace import Workspace

_EDGES = Path("logs", "edges.csv")
_SEED = 1  # of what is drawn: two plans of a site that stays as it is agree
# Pages between two looks at what they name; the last for all that follow.
_ROUNDS = (5, 10, 15, 20)


class SurveyProgress(NamedTuple):
    """How far a survey is."""

    url: str
    visits: int  # documents that were read by now
    known: int  # URLs
    sampled: int = 0  # pages of the sample that were visited by now
    wanted: int = 0  # pages to sample; 0 while sitemaps and feeds are read
    seconds_left: float = 0.0


class Survey:
    """A survey of one site. `stop` ends it with what is known by then."""

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
        settings = map_settings(self._workspace.settings, common_crawl, with_links=with_links)
        self._workspace.settings = settings
        await self._visit((self.url,))
        named = list(mapped(self._workspace.database))
        if not named and not self.is_stopped:
            raise PageUnavailable(self._why_nothing())
        return named

    async def sample(self, pages: int) -> Sample:
        """Visit so many pages in all, drawn at random from those that are known."""
        workspace, chance = self._workspace, random.Random(_SEED)
        workspace.settings = sample_settings(workspace.settings)
        self._wanted, self._sampling_since = pages, time.monotonic()
        self._sampled, rounds = 1, list(_ROUNDS)
        while self._sampled < pages and not self.is_stopped:
            room = min(rounds.pop(0) if len(rounds) > 1 else rounds[0], pages - self._sampled)
            visited = [row.url for row in workspace.pages("done")]
            chosen = choose(
                not_visited(workspace.database, CANDIDATES, _SEED), visited, room, chance
            )
            if not chosen:
                break
            await self._visit(tuple(chosen))
            self._sampled += len(chosen)
        return self._what_was_seen()

    def _what_was_seen(self) -> Sample:
        workspace, rows = self._workspace, list(self._workspace.pages())
        links = links_in(workspace.path / _EDGES)
        judge = LinkJudge(workspace.settings.reading_rules(workspace.scope_hosts()))
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
            lambda url: judge.groups(url, page_type=""),
        )

    def _trap_rules(self) -> TrapRules | None:
        rules = asdict(self._workspace.settings.limits.traps)
        return TrapRules(**rules) if rules.pop("enabled") else None

    def _robots(self, rows: Iterable[PageRow]) -> dict[str, RobotsFile]:
        """The rules of the origins that were asked, where they are obeyed."""
        if not self._workspace.settings.robots_rules().obey:
            return {}
        origins = {split(row.url).origin for row in rows if row.captured_at is not None}
        bodies = {origin: self._workspace.robots_body(origin) for origin in origins}
        return {origin: RobotsFile(body) for origin, body in bodies.items() if body is not None}

    async def _visit(self, urls: tuple[str, ...]) -> None:
        workspace = self._workspace
        settings = workspace.settings
        self._run = MapRun(workspace.parts, settings, urls, workspace.budgets_for(settings))
        await self._run.finish()
        self._sayings |= self._run.sayings
        if self._run.crawl:
            delays = [budget.delay for budget in self._run.crawl.visitor.budgets]
            self._delay = max(self._delay, *delays, 0.0)

    def stop(self) -> None:
        """End soon; what is in flight is dropped."""
        self.is_stopped = True
        if self._run:
            self._run.stop()
            self._run.stop_now()

    def progress(self) -> SurveyProgress:
        crawl = self._run.crawl if self._run else None
        visits = crawl.progress.visits if crawl else 0
        known = urls_found(self._workspace.database)
        if not self._wanted:
            return SurveyProgress(self.url, visits, known)
        done = min(self._sampled + visits, self._wanted)
        taken = time.monotonic() - self._sampling_since
        left = (self._wanted - done) * (taken / (done - 1) if done > 1 else self._delay)
        return SurveyProgress(self.url, visits, known, done, self._wanted, left)

    def _why_nothing(self) -> str:
        rows = list(self._workspace.pages())
        refused = next((row for row in reversed(rows) if row.verdict != "redirect"), None)
        return f"nothing of {self.url} could be read: {_reason(refused)}"


def _reason(row: PageRow | None) -> str:
    if row is None:
        return "it was not asked"
    return f"{row.verdict}: {row.reason}" if row.reason else str(row.verdict)
