"""Propose listings for a host without pending URLs: the usual places, rated by earlier tries.

A pattern is the path of a place (`/archive`) or a template of `date_paths`. The caller counts the
successes of a pattern, for a host or for all hosts, in a `PatternRecord`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crawl4r.urls.canonical import split

# Best first: the names in the protocol's examples, then those of common content management systems.
_SITEMAPS = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/wp-sitemap.xml",
    "/sitemap.xml.gz",
    "/sitemaps.xml",
    "/sitemap/sitemap.xml",
    "/sitemap1.xml",
    "/news-sitemap.xml",
    "/sitemap.txt",
)
_ARCHIVES = (
    "/archive",
    "/archives",
    "/sitemap",
    "/all",
    "/news",
    "/blog",
    "/posts",
    "/articles",
    "/sitemap.html",
    "/archive.html",
    "/stories",
    "/publications",
    "/press",
    "/tags",
    "/categories",
)
_FEEDS = ("/feed", "/rss.xml", "/atom.xml", "/feed.xml", "/index.xml", "/rss", "/feed.json")
TRIES = 3  # tries of a pattern without success before it is dropped


class PatternRecord(NamedTuple):
    """The results of the listings that a pattern proposed."""

    pattern: str
    tried: int = 0  # requested listings
    yielded: int = 0  # requested listings that named a new URL


class Proposal(NamedTuple):
    """A listing to request, and the pattern that proposed it."""

    url: str
    pattern: str


def sitemap_places(origin: str) -> list[str]:
    """Usual places of a sitemap that robots.txt does not name, the likeliest first."""
    return _at(origin, _SITEMAPS)


def archive_places(origin: str) -> list[str]:
    """Usual places of pages that list all others, the likeliest first."""
    return _at(origin, _ARCHIVES)


def feed_places(origin: str) -> list[str]:
    """Usual places of a feed that no page names, the likeliest first."""
    return _at(origin, _FEEDS)


def worth(record: PatternRecord | None) -> float:
    """The chance from 0 to 1 that the next try succeeds; 0.5 before the first one.

    It is the mean of a Beta distribution with a uniform prior, so a single try changes it little.
    """
    if record is None:
        return 0.5
    tried = max(record.tried, record.yielded, 0)
    return (max(0, record.yielded) + 1) / (tried + 2)


def tries_left(record: PatternRecord | None, most: int) -> int:
    """How many listings to request at once: `most`, but fewer before the first success."""
    if record is None:
        return min(TRIES, most)
    return most if record.yielded > 0 else max(0, min(TRIES - record.tried, most))


def worth_trying(urls: Iterable[str], records: Mapping[str, PatternRecord]) -> list[Proposal]:
    """Places as proposals, the best first, without those that failed every try."""
    proposals = [Proposal(url, split(url).path) for url in urls]
    chosen = [each for each in proposals if tries_left(records.get(each.pattern), 1)]
    return sorted(chosen, key=lambda each: -worth(records.get(each.pattern)))  # the sort is stable


def _at(origin: str, paths: Iterable[str]) -> list[str]:
    start = split(origin).origin
    return [start + path for path in paths]
