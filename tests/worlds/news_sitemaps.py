"""What a news site says about itself to machines: robots.txt, sitemaps in sitemaps, a feed."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from datetime import datetime, timedelta
from email.utils import format_datetime
from xml.sax.saxutils import escape

from tests.worlds.answer import GZIP, TEXT, XML, Answer
from tests.worlds.news_lists import SECTIONS
from tests.worlds.news_stories import Newsroom, Story

INDEX = "/sitemaps/index.xml"
NEWEST = "/sitemaps/news.xml"
SECTION_MAP = "/sitemaps/sections.xml"
IN_FEED = 50
IS_NEWS = timedelta(days=2)  # older stories do not belong into a news sitemap
_NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)


class NewsMaps:
    """`at` answers for every sitemap; the index names a gzip index a year, which name the months."""

    def __init__(self, newsroom: Newsroom) -> None:
        self._newsroom = newsroom

    def paths(self) -> list[str]:
        months = [f"/sitemaps/{year}-{month:02}.xml.gz" for year, month in self._newsroom.months]
        return [INDEX, NEWEST, SECTION_MAP, *self._years(), *months]

    def at(self, path: str, origin: str) -> Answer | None:
        newest = self._newsroom.stories[0].published
        if path == INDEX:
            named = [NEWEST, SECTION_MAP, *self._years()]
            return Answer(_index(origin, [(name, newest) for name in named]), XML)
        if path == NEWEST:
            recent = [s for s in self._newsroom.stories if s.published > newest - IS_NEWS]
            return Answer(_urls([_entry(origin, story, is_news=True) for story in recent]), XML)
        if path == SECTION_MAP:
            places = ["/", *(section.first for section in SECTIONS)]
            return Answer(_urls([_loc(origin, place, newest) for place in places]), XML)
        packed = self._year(path, origin) or self._month(path, origin)
        # Without a time of packing, so that the bytes are the same each time.
        return Answer(gzip.compress(packed, mtime=0), GZIP) if packed else None

    def _years(self) -> dict[str, list[tuple[str, datetime]]]:
        """The sitemap of each year, and the monthly ones that it names."""
        years: dict[str, list[tuple[str, datetime]]] = {}
        for month, stories in self._newsroom.by_month.items():
            named = (f"/sitemaps/{month.year}-{month.number:02}.xml.gz", stories[0].published)
            years.setdefault(f"/sitemaps/{month.year}.xml.gz", []).append(named)
        return years

    def _year(self, path: str, origin: str) -> bytes:
        months = self._years().get(path)
        return _index(origin, months) if months else b""

    def _month(self, path: str, origin: str) -> bytes:
        for month, stories in self._newsroom.by_month.items():
            if path == f"/sitemaps/{month.year}-{month.number:02}.xml.gz":
                return _urls([_entry(origin, story) for story in stories])
        return b""


def robots_of(origin: str, *, names_sitemaps: bool) -> Answer:
    rules = "User-agent: *\nAllow: /\n"
    return Answer(
        (rules + (f"Sitemap: {origin}{INDEX}\n" if names_sitemaps else "")).encode(), TEXT
    )


def feed_of(newsroom: Newsroom, origin: str) -> Answer:
    items = "\n".join(
        f"<item><title>{escape(story.title)}</title><link>{origin}{story.path}</link>"
        f'<guid isPermaLink="true">{origin}{story.path}</guid>'
        f"<pubDate>{format_datetime(story.published, usegmt=True)}</pubDate></item>"
        for story in newsroom.stories[:IN_FEED]
    )
    channel = f"<title>The Daily World</title><link>{origin}/</link><description>News</description>"
    document = f'<rss version="2.0"><channel>{channel}\n{items}\n</channel></rss>\n'
    return Answer(f"{_DECLARATION}{document}".encode(), "application/rss+xml")


_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _index(origin: str, named: Iterable[tuple[str, datetime]]) -> bytes:
    entries = "\n".join(
        f"<sitemap><loc>{origin}{path}</loc><lastmod>{changed.isoformat()}</lastmod></sitemap>"
        for path, changed in named
    )
    return f"{_DECLARATION}<sitemapindex {_NAMESPACES}>\n{entries}\n</sitemapindex>\n".encode()


def _urls(entries: list[str]) -> bytes:
    urls = "\n".join(f"<url>{entry}</url>" for entry in entries)
    return f"{_DECLARATION}<urlset {_NAMESPACES}>\n{urls}\n</urlset>\n".encode()


def _loc(origin: str, path: str, changed: datetime) -> str:
    return f"<loc>{origin}{path}</loc><lastmod>{changed.isoformat()}</lastmod>"


def _entry(origin: str, story: Story, *, is_news: bool = False) -> str:
    entry = _loc(origin, story.path, story.published)
    if not is_news:
        return entry
    publication = "<news:name>The Daily World</news:name><news:language>en</news:language>"
    return (
        f"{entry}<news:news><news:publication>{publication}</news:publication>"
        f"<news:publication_date>{story.published.isoformat()}</news:publication_date>"
        f"<news:title>{escape(story.title)}</news:title></news:news>"
    )
