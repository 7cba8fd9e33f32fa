"""What would a crawl of this site take? An estimate from what it names and a sample of its pages."""

from __future__ import annotations

import csv
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from crawl4r.discovery.links.link_judge import LISTED
from crawl4r.discovery.traps.guard import TrapGuard, TrapRules
from crawl4r.discovery.traps.url_shapes import shape_of
from crawl4r.model import LISTING, Verdict
from crawl4r.reports.estimate import Estimate, SampledPage, estimate
from crawl4r.reports.url_story import PageRow
from crawl4r.urls.canonical import split
from crawl4r.urls.robots import RobotsFile
from crawl4r.workspace.map_run import MappedUrl

CANDIDATES = 5_000  # URLs that a few pages are drawn from
_FOLDERS = 12  # shown
_LISTS = frozenset(["sitemap", "feed", "common-crawl"])


class Sample(NamedTuple):
    """What a look at a site's pages saw."""

    rows: Sequence[PageRow]
    links: Mapping[str, Sequence[str]]  # what each visited page links to, in its order
    sayings: Mapping[str, int]  # what some pages say, as a fingerprint
    delay: float  # seconds between two requests to a host
    traps: TrapRules | None
    robots: Mapping[str, RobotsFile]  # by origin
    agents: Sequence[str]
    caps: Mapping[str, int]  # of URLs, by the name of the cap
    groups_of: Callable[[str], Sequence[str]]  # what a URL counts against: a cap's name and more


def stratum_of(url: str) -> str:
    """What a URL has in common with its like: folder, parameters, whether its name has a number."""
    shape = shape_of(url)
    name = "" if shape.path.endswith("/") or not shape.segments else shape.segments[-1]
    number = "#" if any(sign.isdigit() for sign in name) else ""
    return f"{shape.netloc}{shape.folder}{number}?{'&'.join(shape.names)}"


def choose(
    candidates: Sequence[str], visited: Iterable[str], most: int, chance: random.Random
) -> list[str]:
    """URLs to visit next: at random, and more of a shape that has many and was visited little."""
    strata: dict[str, list[str]] = defaultdict(list)
    for url in candidates:
        strata[stratum_of(url)].append(url)
    for urls in strata.values():
        chance.shuffle(urls)
    sizes = {name: math.sqrt(len(urls)) for name, urls in strata.items()}
    seen = Counter(stratum_of(url) for url in visited)
    chosen: list[str] = []
    while strata and len(chosen) < most:
        name = max(strata, key=lambda each: sizes[each] / (seen[each] + 1))
        chosen.append(strata[name].pop())
        seen[name] += 1
        if not strata[name]:
            del strata[name]
    return chosen


def links_in(file: Path) -> dict[str, list[str]]:
    """The rows of an edges.csv by page, each target once."""
    links: dict[str, dict[str, None]] = defaultdict(dict)
    if file.exists():
        with file.open(encoding="utf-8", newline="") as lines:
            for source, target, *_ in csv.reader(lines):
                links[source][target] = None
    return {source: list(targets) for source, targets in links.items()}


def plan_of(url: str, named: Sequence[MappedUrl], sample: Sample) -> dict[str, Any]:
    """Pages, hours, bytes, traps; each with what it rests on."""
    visited = [row for row in _in_order(sample.rows) if row.verdict == Verdict.OK]
    known = _Known(named, sample)
    found = estimate(known.pages, known.sampled, stratum_of)
    mean = sum(row.bytes or 0 for row in visited) / len(visited) if visited else 0.0
    return {
        "url": url,
        "pages": {
            "low": found.low,
            "estimate": found.likely,
            "high": found.high,
            "at_least": len(known.pages),
            "basis": _basis(found, known),
        },
        "hours": round(found.likely * sample.delay / 3600, 2),
        "delay_s": sample.delay,
        "bytes": round(found.likely * mean),
        "sampled": len(visited),
        "sources": dict(Counter(item.source for item in named)),
        "folders": _folders(known.pages),
        "refused_by_robots": known.denied,
        "capped": known.capped,
        "copies": known.copies,
        "traps": {"urls_refused": known.trapped, "excludes": known.excludes()},
    }


class _Known:
    """The URLs that a crawl would visit: without traps, and without what robots.txt denies."""

    def __init__(self, named: Sequence[MappedUrl], sample: Sample) -> None:
        self._sample = sample
        # What a link named first has a date when a sitemap, or a feed, named it too.
        on_lists = {item.url for item in named if item.source in _LISTS or item.lastmod}
        self.denied = self.trapped = self.capped = 0
        self._admitted: Counter[str] = Counter()  # by group
        self._guard = (
            TrapGuard(sample.traps, datetime.now(UTC).date()) if sample.traps is not None else None
        )
        self._judged: dict[str, bool] = {}
        self._contents: set[str | int | None] = set()
        self.copies = 0  # pages of the sample that say what another one says
        self._in_scope = {row.url for row in sample.rows if _may_be_page(row)} | on_lists
        self.pages: dict[str, bool] = {}
        for url in on_lists:
            self._admit(url, is_listed=True)
        self.sampled = [self._page(row) for row in _in_order(sample.rows)]

    def _page(self, row: PageRow) -> SampledPage:
        self.pages.setdefault(row.url, False)
        targets = [
            url
            for url in self._sample.links.get(row.url, ())
            if url in self._in_scope and url != row.url
        ]
        fresh = [url for url in targets if url not in self._judged and url not in self.pages]
        names = {url for url in targets if self._admit(url, is_listed=False)}
        content = self._sample.sayings.get(row.url) or row.sha256
        is_new = row.verdict == Verdict.OK and content not in self._contents
        self._contents.add(content)
        self.copies += row.verdict == Verdict.OK and not is_new
        if self._guard:
            self._guard.observe(row.url, is_new, [url for url in fresh if url in names])
        return SampledPage(row.url, is_new, names)

    def _admit(self, url: str, *, is_listed: bool) -> bool:
        if url in self.pages:
            return True
        if url not in self._judged:
            self._judged[url] = self._is_let_in(url, is_listed=is_listed)
            if self._judged[url]:
                self.pages[url] = is_listed
        return self._judged[url]

    def _is_let_in(self, url: str, *, is_listed: bool) -> bool:
        parts = split(url)
        robots = self._sample.robots.get(parts.origin)
        if robots and not robots.judge(parts.path, self._sample.agents).allowed:
            self.denied += 1
            return False
        if self._guard and not is_listed:
            if self._guard.judge(url):
                self.trapped += 1
                return False
            self._guard.admit(url)
        return self._has_room(url)

    def _has_room(self, url: str) -> bool:
        groups = self._sample.groups_of(url)
        for key in groups:
            most = self._sample.caps.get(key.partition(" ")[0])
            if most is not None and self._admitted[key] >= most:
                self.capped += 1
                return False
        self._admitted.update(groups)
        return True

    def excludes(self) -> list[dict[str, str]]:
        """Patterns for --deny, with their reasons."""
        found = self._guard.suggest_excludes() if self._guard else []
        return [{"deny": each.pattern, "why": each.reason} for each in found]


def _may_be_page(row: PageRow) -> bool:
    return row.reason == LISTED or row.captured_at is not None


def _in_order(rows: Iterable[PageRow]) -> Iterator[PageRow]:
    """The visits, as they were made; sitemaps and feeds are no pages."""
    visits = [
        row
        for row in rows
        if row.captured_at is not None and row.page_type != LISTING and row.found_by != "feed-link"
    ]
    return iter(sorted(visits, key=lambda row: row.captured_at or 0.0))


def _basis(found: Estimate, known: _Known) -> str:
    if not known.sampled:
        return "no page could be read"
    listed = sum(known.pages.values())
    pages = f"{len(known.sampled):,} pages, drawn at random after the first"
    if len(known.pages) <= len(known.sampled):
        return "every page was read"
    share = len(known.pages) / (len(known.pages) + found.unseen)
    words = f"{pages}: about {share:.0%} of the site's URLs are known by now"
    return f"{words}, {listed:,} of them from sitemaps or feeds" if listed else words


def _folders(urls: Iterable[str]) -> list[dict[str, Any]]:
    """Where the URLs are, numbers and the like in names taken as equal."""
    shapes = (shape_of(url) for url in urls)
    counts = Counter(f"{shape.netloc}{shape.folder}" for shape in shapes)
    return [{"folder": name, "urls": count} for name, count in counts.most_common(_FOLDERS)]
