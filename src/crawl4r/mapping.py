"""Which URLs does a site name, and where? Sitemaps, feeds and its first page are read, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from crawl4r.crawl_run import CrawlRun
from crawl4r.model import LISTING, FoundBy
from crawl4r.reading import LISTED
from crawl4r.rules import ReadingRules
from crawl4r.settings import Settings
from crawl4r.state.database import Database

_NAMED = f"""
SELECT u.url, u.found_by, r.url, v.lastmod FROM urls u LEFT JOIN urls r ON r.id = u.referrer
LEFT JOIN revisits v ON v.url_id = u.id
WHERE u.rule = '{LISTED}' OR (u.state = 'done' AND u.verdict = 'ok' AND u.page_type != '{LISTING}'
    AND u.found_by != '{FoundBy.FEED_LINK}')
ORDER BY u.id
"""


class MappedUrl(NamedTuple):
    url: str
    source: str  # sitemap, feed, link, common-crawl ... or seed
    named_by: str | None  # the document
    lastmod: float | None  # epoch seconds


class MapRun(CrawlRun):
    """A crawl that visits only what names other URLs."""

    def _rules(self) -> ReadingRules:
        return replace(super()._rules(), lists_only=True)


def map_settings(settings: Settings, common_crawl: str = "") -> Settings:
    """The same, for a look at what is named: nothing is guessed, nothing is made of pages."""
    explore = replace(
        settings.explore,
        enabled=True,
        archives=False,
        pagination=False,
        common_crawl=common_crawl or settings.explore.common_crawl,
    )
    return replace(settings.without_content(), explore=explore)


def mapped(database: Database) -> Iterator[MappedUrl]:
    """What a finished `MapRun` has found, in the order of discovery."""
    for row in database.stream(_NAMED):
        yield MappedUrl(*row)
