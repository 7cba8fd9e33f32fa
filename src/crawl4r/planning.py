"""What would a crawl of this site take? An estimate from what it names and a sample of its pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from crawl4r.discovery.url_shapes import shape_of
from crawl4r.mapping import MappedUrl
from crawl4r.reporting import PageRow

_LEAST_COVERED = 0.5  # of a site, that its sitemaps are believed to name at least
_FOLDERS = 12  # shown


class Sample(NamedTuple):
    """What a short crawl saw."""

    rows: Sequence[PageRow]
    delay: float  # seconds between two requests to a host
    suggestions: Sequence[tuple[str, str]]  # patterns for --deny, with their reasons


def plan_of(url: str, named: Sequence[MappedUrl], sample: Sample) -> dict[str, Any]:
    """Pages, hours, bytes, traps; each with what it rests on."""
    visited = [row for row in sample.rows if row.verdict == "ok"]
    in_scope = {row.url for row in sample.rows if row.state != "refused"}
    # What a link named first has a date when a sitemap, or a feed, named it too.
    by_sitemap = {item.url for item in named if item.source == "sitemap" or item.lastmod}
    known = in_scope | {item.url for item in named}
    estimate, basis = _pages(visited, known, by_sitemap)
    mean = sum(row.bytes or 0 for row in visited) / len(visited) if visited else 0.0
    trapped = [row for row in sample.rows if (row.reason or "").startswith("trap: ")]
    return {
        "url": url,
        "pages": {"estimate": estimate, "at_least": len(known), "basis": basis},
        "hours": round(estimate * sample.delay / 3600, 2),
        "delay_s": sample.delay,
        "bytes": round(estimate * mean),
        "sampled": len(visited),
        "sources": dict(Counter(item.source for item in named)),
        "folders": _folders(known),
        "refused_by_robots": sum(row.verdict == "robots-denied" for row in sample.rows),
        "traps": {
            "urls_refused": len(trapped),
            "excludes": [{"deny": pattern, "why": why} for pattern, why in sample.suggestions],
        },
    }


def _pages(visited: Sequence[PageRow], known: set[str], by_sitemap: set[str]) -> tuple[int, str]:
    """A sitemap that names what links lead to is believed; else it is told from what the sample met."""
    if not visited:
        return len(known), "no page could be read"
    covered = sum(row.url in by_sitemap for row in visited) / len(visited)
    if len(by_sitemap) > len(visited):
        # First pages are lists, which sitemaps leave out; deeper ones are mostly what they name.
        estimate = len(by_sitemap) / max(covered, _LEAST_COVERED)
        basis = f"sitemaps, which name {covered:.0%} of the sampled pages"
        return max(len(known), round(estimate)), basis
    if len(known) <= len(visited):
        return len(known), "every page was read"
    # Each page that was read led to so many others; those that are known will lead on, ever less.
    found = len(known) / len(visited)
    return round(len(known) * (1 + found / 2)), "links of the sampled pages; it may well be more"


def _folders(urls: Iterable[str]) -> list[dict[str, Any]]:
    """Where the URLs are, numbers and the like in names taken as equal."""
    shapes = (shape_of(url) for url in urls)
    counts = Counter(f"{shape.netloc}{shape.folder}" for shape in shapes)
    return [{"folder": name, "urls": count} for name, count in counts.most_common(_FOLDERS)]
