"""One run of either side of separated mode, held like any other crawl."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from crawl4r.crawling.loop import Crawl, EndedBy
from crawl4r.crawling.separated import BackPressure, SpoolFeed
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.settings.load import Settings
from crawl4r.storage.lock import holder_of
from crawl4r.wiring.crawl import BuiltCrawl
from crawl4r.wiring.parts import Parts, discoverer_folder, spool_folder
from crawl4r.wiring.spool import build_announcer, build_feed
from crawl4r.workspace.crawl_plan import FedPlan
from crawl4r.workspace.run import CrawlRun, RunContext


class DiscoverRun(CrawlRun):
    """Finds URLs and announces them in the spool; the bytes of pages are not kept."""

    role = "discover"

    def __init__(
        self,
        parts: Parts,
        settings: Settings,
        seeds: tuple[str, ...],
        budgets: HostBudgets,
        *,
        workspace: Path,
        refresh: bool = False,
        retry_failed: bool = False,
        reopen: Callable[[], Parts] | None = None,
    ) -> None:
        """`parts` are of the discoverer's own folder in the workspace."""
        super().__init__(
            parts,
            settings.without_content(),
            seeds,
            budgets,
            refresh=refresh,
            retry_failed=retry_failed,
            context=RunContext(reopen=reopen),
        )
        self.control_folder = workspace
        self._spool = spool_folder(workspace)
        self.pressure = BackPressure(
            self._spool, self.pause_gate, lambda: self.settings.spool.max_backlog
        )

    def reload(self, settings: Settings) -> None:
        super().reload(settings.without_content())

    async def _build(self, stack: contextlib.AsyncExitStack) -> BuiltCrawl:
        announcer = build_announcer(self.parts, self.record.id, self.settings, self._spool, stack)
        self._order = replace(self._order, announcer=announcer)
        return await super()._build(stack)

    def _beside(self, crawl: Crawl) -> list[Coroutine[Any, Any, None]]:
        return [*super()._beside(crawl), self.pressure.watch()]


class ScrapeRun(CrawlRun):
    """Fetches and keeps what the spool names, until nothing adds to it any more."""

    role = "scrape"
    plan_kind = FedPlan

    def __init__(
        self,
        parts: Parts,
        settings: Settings,
        budgets: HostBudgets,
        *,
        expects_more: Callable[[], bool] | None = None,
        refresh: bool = False,
        retry_failed: bool = False,
        reopen: Callable[[], Parts] | None = None,
    ) -> None:
        """`expects_more` is asked beside whether a discoverer runs."""
        self._expects_more = expects_more
        super().__init__(
            parts,
            settings,
            (),
            budgets,
            refresh=refresh,
            retry_failed=retry_failed,
            context=RunContext(reopen=reopen),
        )
        self.feed: SpoolFeed | None = None

    def may_get_more(self) -> bool:
        if self._expects_more and self._expects_more():
            return True
        return holder_of(discoverer_folder(self.parts.path)) is not None

    def _beside(self, crawl: Crawl) -> list[Coroutine[Any, Any, None]]:
        self.feed = build_feed(
            self.parts,
            self.record.id,
            self.settings,
            crawl,
            expects_more=self.may_get_more,
            on_host=self._meet_host,
        )
        return [*super()._beside(crawl), self.feed.follow()]

    async def _visit_all(self) -> EndedBy:
        ended = await super()._visit_all()
        assert self.feed is not None
        self.feed.publish()  # the last commits came after its last look
        return ended

    def _meet_host(self, netloc: str) -> None:
        """Redirects may lead to whatever host the spool has named."""
        if netloc not in self.plan.hosts and not self.settings.scope.hosts:
            assert self.crawl is not None
            self.crawl.visitor.judge.rescope(self.plan.meet(self.parts, netloc))
