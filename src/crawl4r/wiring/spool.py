"""The composition root of separated mode: places its files and connects its parts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from crawl4r.crawling.loop import Crawl
from crawl4r.crawling.separated import Announcer, SpoolFeed, SpoolSource
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.frontier.outbox import Announcements
from crawl4r.frontier.priority import PRIORITIES
from crawl4r.frontier.spool import SpoolWriter
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.politeness.shared_host_lock import HostLock
from crawl4r.settings.load import Settings
from crawl4r.wiring.parts import Parts, spool_folder


def shared_budgets(workspace: Path, settings: Settings) -> HostBudgets:
    """Host budgets that both processes share."""
    host_lock = HostLock(spool_folder(workspace) / "hosts")
    return HostBudgets(settings.politeness.host_rules(), host_lock)


def build_announcer(
    parts: Parts, crawl: int, settings: Settings, spool: Path, stack: contextlib.AsyncExitStack
) -> Announcer:
    writer = SpoolWriter(spool / "discoveries", settings.spool.segment_mb * 1024**2)
    stack.callback(writer.close)
    return Announcer(Announcements(parts.database, crawl), writer)


def build_feed(
    parts: Parts,
    number: int,
    settings: Settings,
    crawl: Crawl,
    *,
    expects_more: Callable[[], bool],
    on_host: Callable[[str], None],
) -> SpoolFeed:
    return SpoolFeed(
        SpoolSource(spool_folder(parts.path), settings.spool.drained, expects_more),
        parts.database,
        SqliteFrontier(parts.database, number, PRIORITIES[settings.strategy]),
        parts.captures,
        crawl.schedule,
        LinkJudge(settings.reading_rules([])),
        wall=parts.clock.wall,
        on_host=on_host,
    )
