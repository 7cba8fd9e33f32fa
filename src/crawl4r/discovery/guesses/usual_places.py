"""What to try when a host runs dry: the places where sites keep their lists, and what trying taught.

A pattern is a text: the path of a place (`/archive`) or a template of `date_paths`. What it is worth
is counted by the caller, for a host or for all of them, in a `PatternRecord`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crawl4r.urls.canonical import split

# Best first: the names of the protocol's examples, then those of the common publishing systems.
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
TRIES = 3  # of a pattern, before it is given up


class PatternRecord(NamedTuple):
    """What became of the listings that a pattern proposed."""

    pattern: str
    tried: int = 0  # listings that were asked for
    yielded: int = 0  # those of them that named a URL nobody knew


class Proposal(NamedTuple):
    """A listing worth asking for, and the pattern that made it up."""

    url: str
    pattern: str


def sitemap_places(origin: str) -> list[str]:
    """Where a sitemap may be that robots.txt does not name, the likeliest first."""
    return _at(origin, _SITEMAPS)


def archive_places(origin: str) -> list[str]:
    """Pages that may list all the others, the likeliest first."""
    return _at(origin, _ARCHIVES)


def feed_places(origin: str) -> list[str]:
    """Where a feed may be that no page names, the likeliest first."""
    return _at(origin, _FEEDS)


def worth(record: PatternRecord | None) -> float:
    """How likely another try yields something, from 0 to 1: a half before the first one.

    The mean of a Beta distribution that began even, so one lucky or unlucky try decides nothing.
    """
    if record is None:
        return 0.5
    tried = max(record.tried, record.yielded, 0)
    return (max(0, record.yielded) + 1) / (tried + 2)


def tries_left(record: PatternRecord | None, most: int) -> int:
    """How many listings may be asked for at once: `most`, but few before the first success."""
    if record is None:
        return min(TRIES, most)
    return most if record.yielded > 0 else max(0, min(TRIES - record.tried, most))


def worth_trying(urls: Iterable[str], records: Mapping[str, PatternRecord]) -> list[Proposal]:
    """Places as proposals, the best first; those whose paths never yielded anything are left out."""
    proposals = [Proposal(url, split(url).path) for url in urls]
    chosen = [each for each in proposals if tries_left(records.get(each.pattern), 1)]
    return sorted(
        chosen, key=lambda each: -worth(records.get(each.pattern))
    )  # ties keep their order


def _at(origin: str, paths: Iterable[str]) -> list[str]:
    start = split(origin).origin
    return [start + path for path in paths]
