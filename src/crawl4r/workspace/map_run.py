"""Which URLs does a site name, and where? Sitemaps, feeds and its first page are read, nothing else.

A `MapRun` may also be given some of the pages that were named: it visits these and writes down what
they name. So a sample of a site is visited as politely as by a crawl.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from crawl4r.discovery.links.link_judge import LISTED
from crawl4r.model import LISTING, FoundBy, Visit
from crawl4r.settings.load import Settings
from crawl4r.storage.crawls import count_urls
from crawl4r.storage.database import Database
from crawl4r.urls.policy import LinkRules
from crawl4r.workspace.crawl_plan import CrawlPlan
from crawl4r.workspace.run import CrawlRun

_NAMED = f"""
SELECT u.url, u.found_by, r.url, v.lastmod FROM urls u LEFT JOIN urls r ON r.id = u.referrer
LEFT JOIN pages p ON p.url = u.url LEFT JOIN revisits v ON v.page_id = p.id
WHERE u.rule = '{LISTED}' OR (u.state = 'done' AND u.verdict = 'ok' AND u.page_type != '{LISTING}'
    AND u.found_by != '{FoundBy.FEED_LINK}')
ORDER BY u.id
"""
_NOT_VISITED = f"""
SELECT url FROM urls WHERE rule = '{LISTED}' AND state = 'refused'
ORDER BY (id * 2654435761 + ?) % 4294967296 LIMIT ?
"""
_TRIES = 1  # after the first one: a person waits
_PATIENCE = 1.0  # seconds until then


class MappedUrl(NamedTuple):
    url: str
    source: str  # sitemap, feed, link, common-crawl ... or seed
    referrer: str | None  # the document that names it
    lastmod: float | None  # epoch seconds


class _ListPlan(CrawlPlan):
    def rules(self) -> LinkRules:
        return replace(super().rules(), lists_only=True)


class MapRun(CrawlRun):
    """A crawl that visits its seeds and what names other URLs.

    `sayings` has a fingerprint of what a page says, where its address may be one of many for it.
    """

    plan_kind = _ListPlan

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.sayings: dict[str, int] = {}

    async def _on_kept(self, visit: Visit) -> None:
        if visit.words:
            self.sayings[visit.lease.url] = visit.words
        await super()._on_kept(visit)


def map_settings(
    settings: Settings, common_crawl: str = "", *, with_links: bool = False
) -> Settings:
    """The same, for a look at what is named: nothing is guessed, nothing is made of pages.

    `with_links`: logs/edges.csv is written, with every link of every page that is visited.
    """
    explore = replace(
        settings.explore,
        enabled=True,
        archives=False,
        pagination=False,
        common_crawl=common_crawl or settings.explore.common_crawl,
    )
    return replace(
        settings.without_content(),
        explore=explore,
        fetch=replace(settings.fetch, retries=_TRIES, backoff_base=_PATIENCE),
        resilience=replace(settings.resilience, store_patience=0.0),
        limits=replace(settings.limits, pages=None, bytes=None),
        logs=replace(settings.logs, enabled=with_links, pages=False, metrics=False),
    )


def sample_settings(settings: Settings) -> Settings:
    """Those of `map_settings`, for a visit of pages: sitemaps and feeds were read before."""
    return replace(settings, explore=replace(settings.explore, enabled=False))


def mapped(database: Database) -> Iterator[MappedUrl]:
    """What a finished `MapRun` has found, in the order of discovery."""
    for row in database.stream(_NAMED):
        yield MappedUrl(*row)


def not_visited(database: Database, most: int, seed: int) -> list[str]:
    """URLs that were named and not visited, drawn at random; the same draw for the same seed."""
    return [row[0] for row in database.read(_NOT_VISITED, (seed, most))]


def urls_found(database: Database) -> int:
    """How many URLs are known, in scope or not."""
    return count_urls(database)
