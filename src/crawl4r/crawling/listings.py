"""Read documents that only name URLs: sitemaps, feeds, result pages of an index. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import NamedTuple

from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.formats.dates import load_mail_dates
from crawl4r.formats.media_kind import Kind, kind_of
from crawl4r.model import LISTING, Found, FoundBy, Lease

_SITEMAP_ROOTS = (b"<urlset", b"<sitemapindex")
_ROOT_WITHIN = 4096  # bytes


class _Named(NamedTuple):
    """A URL in a listing."""

    url: str
    lastmod: float | None
    by: FoundBy
    is_listing: bool = False  # the URL is a listing itself


def is_listing(lease: Lease, content_type: str, body: bytes) -> bool:
    """Whether a body that is no HTML may be a listing."""
    if lease.page_type == LISTING:
        return True
    kind = kind_of(content_type, body)
    if kind is Kind.FEED or content_type == "application/feed+json":
        return True
    return kind is Kind.XML and any(root in body[:_ROOT_WITHIN] for root in _SITEMAP_ROOTS)


class Listing(NamedTuple):
    """The judged URLs of a listing, and its problems."""

    found: list[Found]
    problem: str = ""


def load_formats() -> None:
    """Import the parsers of listings. The crawl's own process does not need them."""
    for name in ("common_crawl", "feed", "sitemap"):
        import_module(f"crawl4r.discovery.listings.{name}")
    load_mail_dates()


def read_listing(lease: Lease, content_type: str, body: bytes, judge: LinkJudge) -> Listing:
    """Read a sitemap, a feed or a result page of an index."""
    from crawl4r.discovery.listings.common_crawl import read_results  # noqa: PLC0415 - see `load_formats`
    from crawl4r.discovery.listings.feed import read_feed_links  # noqa: PLC0415
    from crawl4r.discovery.listings.sitemap import read_sitemap  # noqa: PLC0415

    if lease.by == FoundBy.COMMON_CRAWL:
        page = read_results(body)
        named = [_Named(each.url, None, FoundBy.COMMON_CRAWL) for each in page.entries]
        return Listing(_judged(named, lease, judge), page.problem)
    sitemap = read_sitemap(body, lease.url)
    if sitemap.kind in {"index", "urlset", "text"}:
        is_index = sitemap.kind == "index"
        named = [
            _Named(entry.url, entry.lastmod, FoundBy.SITEMAP, is_index) for entry in sitemap.entries
        ]
        return Listing(_judged(named, lease, judge), sitemap.problem)
    feed = read_feed_links(body, lease.url, content_type)
    named = [_Named(entry.url, entry.published, FoundBy.FEED) for entry in feed.entries]
    if feed.next:
        named.append(_Named(feed.next, None, FoundBy.FEED, is_listing=True))
    return Listing(_judged(named, lease, judge), feed.problem or sitemap.problem)


def _judged(named: Iterable[_Named], lease: Lease, judge: LinkJudge) -> list[Found]:
    return list(_each_judged(named, lease, judge))


def _each_judged(named: Iterable[_Named], lease: Lease, judge: LinkJudge) -> Iterator[Found]:
    for item in named:
        if item.is_listing:
            why = f"named by {lease.url}"
            found = judge.judge_listing(item.url, lease.url, lease.depth, item.by, why)
        else:
            found = judge.judge(item.url, lease.url, lease.depth + 1, item.by)
        if found is not None:
            yield found._replace(lastmod=item.lastmod)
