"""What to ask a host for when its links run dry: sitemaps, further pages of lists, archives.

Nothing is fetched here. What is worth a try goes to the frontier like any URL, with its own kind of
discovery, and so is as polite, as durable and as well explained. What became of it is learnt, a host:
what yielded nothing is not tried for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from crawl4r import events
from crawl4r.archive.captures import Captures
from crawl4r.discovery.archives import (
    PatternRecord,
    archive_places,
    sitemap_places,
    worth_trying,
)
from crawl4r.discovery.common_crawl import host_pattern, results_url
from crawl4r.discovery.date_paths import DatePaths
from crawl4r.discovery.page_lists import PageLists
from crawl4r.errors import InvalidUrl
from crawl4r.frontier.port import Frontier
from crawl4r.model import EXPLORED, LISTING, Found, FoundBy, UrlState, Verdict, Visit
from crawl4r.reading import LinkJudge
from crawl4r.state.database import Database
from crawl4r.state.lessons import Lessons
from crawl4r.state.records import RobotsRecords
from crawl4r.urls.canonical import AS_WRITTEN, canonicalize, split
from crawl4r.urls.robots import RobotsFile

_MOST_NAMED = 50  # sitemaps of one robots.txt
_PLACES_IN_VAIN = 4  # usual places, until a host is believed to have none
_AT_ONCE = 8  # guesses of a kind, before it is looked at what they gave
_HOSTS_AT_HAND = 500
_NEW_LINKS = 3  # that the page before had not; its pager changes anyway
_PAGES_IN_VAIN = 50  # of one list, that named nothing new
_ASKED = "asked"  # the kind of lesson that names the pattern of a URL on its way


class ExploringRules(Struct, frozen=True):
    """What may be tried."""

    sitemaps: bool = True
    pagination: bool = True
    archives: bool = True
    common_crawl: str = ""  # the address of an index that speaks the CDX API
    again_after: float = 24 * 3600.0  # seconds, then sitemaps are read again


class _Try(NamedTuple):
    """Something to ask for, and what will be believed more or less by what comes of it."""

    found: Found
    pattern: str


class _Host(Struct):
    """What the URLs of a host say about those it may have besides."""

    origin: str
    dates: DatePaths
    lists: PageLists


class Explorer:
    """Asked when a host has nothing left; told what came of what it proposed."""

    def __init__(
        self,
        database: Database,
        frontier: Frontier,
        rules: ExploringRules,
        judge: Callable[[], LinkJudge],
        wall: Callable[[], float],
    ) -> None:
        self._database = database
        self._frontier = frontier
        self._captures = Captures(database)
        self._robots = RobotsRecords(database)
        self._lessons = Lessons(database)
        self._rules = rules
        self._judge = judge
        self._wall = wall
        self._hosts: dict[str, _Host] = {}

    def explore(self, host: str) -> set[str]:
        """Put what is best tried next into the frontier; the hosts that then have something."""
        known = self._known(host)
        if known is None:
            return set()
        for name, propose in self._ways():
            tries = list(propose(host, known))
            hosts = self._frontier.add([each.found for each in tries], None, self._wall())
            hosts |= self._read_again(tries)
            if hosts:
                for each in tries:
                    self._lessons.put(host, _ASKED, each.found.url, each.pattern)
                self._database.commit()
                events.emit(events.HOST_EXPLORED, host=host, by=name, urls=len(tries))
                return hosts
        return set()

    def _read_again(self, tries: Iterable[_Try]) -> set[str]:
        """Sitemaps that were read long ago; what they name and we know is not asked for again."""
        too_old = self._wall() - self._rules.again_after
        hosts = set()
        for found, _ in tries:
            last = self._captures.last_visit(found.url) if found.page_type == LISTING else None
            if last is not None and last < too_old:
                states = [UrlState.DONE, UrlState.FAILED]
                hosts |= {found.host} if self._frontier.requeue(states, [found.url]) else set()
        return hosts

    def _ways(self) -> Iterator[tuple[str, Callable[[str, _Host], Iterable[_Try]]]]:
        rules = self._rules
        if rules.sitemaps:
            yield "sitemaps of robots.txt", self._named_sitemaps
            yield "usual sitemaps", self._usual_sitemaps
        if rules.pagination:
            yield "pagination", self._next_pages
        if rules.archives:
            yield "usual archives", self._usual_archives
            yield "date patterns", self._dated_archives
        if rules.common_crawl:
            yield "common crawl", self._index

    def heed(self, visit: Visit, admitted: int) -> None:
        """A visit has ended, and brought so many new URLs."""
        known = self._hosts.get(visit.lease.host)
        if known and visit.ending.verdict is Verdict.OK:
            known.dates.add(visit.lease.url)
            known.lists.add(visit.lease.url)
        if visit.lease.by in EXPLORED:
            self._learn(visit, admitted)

    def _learn(self, visit: Visit, admitted: int) -> None:
        by, url, host = visit.lease.by, visit.lease.url, visit.lease.host
        pattern = self._lessons.get(host, _ASKED, url)
        if pattern is None or visit.ending.state is UrlState.WAITING:
            return
        lesson = self._lessons.get(host, by, pattern) or {"tried": 0, "yielded": 0}
        has_yielded = admitted > 0
        if by == FoundBy.PAGINATION:
            has_yielded = _goes_on(lesson, visit, admitted)
        lesson["tried"] += 1
        lesson["yielded"] += has_yielded
        self._lessons.put(host, by, pattern, lesson)
        self._lessons.forget(host, _ASKED, url)

    def _named_sitemaps(self, host: str, known: _Host) -> Iterator[_Try]:
        record = self._robots.get(known.origin)
        for text in RobotsFile(record.body).sitemaps[:_MOST_NAMED] if record else ():
            try:
                url = canonicalize(text, known.origin + "/", AS_WRITTEN)
            except InvalidUrl:
                continue
            yield _Try(_listing(url, FoundBy.SITEMAP, "named by robots.txt"), "robots.txt")

    def _usual_sitemaps(self, host: str, known: _Host) -> Iterator[_Try]:
        if any(True for _ in self._named_sitemaps(host, known)):
            return
        for url, pattern in self._places(host, sitemap_places(known.origin), FoundBy.SITEMAP):
            yield _Try(_listing(url, FoundBy.SITEMAP, f"a usual place: {pattern}"), pattern)

    def _usual_archives(self, host: str, known: _Host) -> Iterator[_Try]:
        for url, pattern in self._places(host, archive_places(known.origin), FoundBy.PLACE):
            yield from self._guess(url, FoundBy.PLACE, pattern, "a usual place:")

    def _places(self, host: str, urls: list[str], by: FoundBy) -> Iterator[tuple[str, str]]:
        """One place that was not tried yet, unless too many were in vain."""
        records = self._records(host, by)
        in_vain = sum(not record.yielded for record in records.values())
        if in_vain >= _PLACES_IN_VAIN or any(record.yielded for record in records.values()):
            return
        for url, pattern in worth_trying(urls, records):
            if pattern not in records and self._frontier.id_of(url) is None:
                yield url, pattern
                return

    def _next_pages(self, host: str, known: _Host) -> Iterator[_Try]:
        records = self._records(host, FoundBy.PAGINATION)
        proposals = known.lists.propose(
            records, lambda url: self._frontier.id_of(url) is not None, _AT_ONCE
        )
        for url, pattern in proposals:
            yield from self._guess(url, FoundBy.PAGINATION, pattern, "one past the last page of")

    def _dated_archives(self, host: str, known: _Host) -> Iterator[_Try]:
        records = self._records(host, FoundBy.PATTERN)
        for url, pattern in known.dates.propose(self._wall(), _AT_ONCE, records):
            known.dates.add(url, exists=False)
            yield from self._guess(url, FoundBy.PATTERN, pattern, "the date pattern")

    def _index(self, host: str, known: _Host) -> Iterator[_Try]:
        url = results_url(self._rules.common_crawl, host_pattern(split(known.origin).netloc))
        yield _Try(_listing(url, FoundBy.COMMON_CRAWL, "the Common Crawl index"), "index")

    def _guess(self, url: str, by: FoundBy, pattern: str, why: str) -> Iterator[_Try]:
        """A page that nobody named: only where the scope lets it in."""
        found = self._judge().judge(url, None, 1, by)
        if found is not None and found.admitted:
            yield _Try(found._replace(rule=f"{why} {pattern}"), pattern)

    def _known(self, host: str) -> _Host | None:
        """What is known of a host; its URLs are looked through once."""
        if host in self._hosts:
            return self._hosts[host]
        rows = self._database.stream(
            "SELECT u.url FROM urls u JOIN hosts h ON h.id = u.host_id"
            " WHERE h.name = ? AND u.verdict = 'ok'",
            (host,),
        )
        known = None
        for (url,) in rows:
            if known is None:
                origin = split(url).origin
                known = _Host(origin, DatePaths(origin), PageLists())
            known.dates.add(url)
            known.lists.add(url)
        if known:
            if len(self._hosts) >= _HOSTS_AT_HAND:
                self._hosts.pop(next(iter(self._hosts)))
            self._hosts[host] = known
        return known

    def _records(self, host: str, by: FoundBy) -> Mapping[str, PatternRecord]:
        return {
            key: PatternRecord(key, lesson["tried"], lesson["yielded"])
            for key, lesson in self._lessons.of(host, by).items()
        }


def _goes_on(lesson: dict[str, Any], visit: Visit, admitted: int) -> bool:
    """Whether a page of a list has what the one before had not; then the next is worth a try.

    All its links may be known already, from elsewhere. But a list that only ever brings what is
    known is not followed for ever.
    """
    before, links = set(lesson.get("links", ())), set(visit.links)
    lesson["links"] = sorted(links)
    lesson["vain"] = 0 if admitted else lesson.get("vain", 0) + 1
    is_page = visit.ending.verdict is Verdict.OK
    return is_page and lesson["vain"] < _PAGES_IN_VAIN and len(links - before) >= _NEW_LINKS


def _listing(url: str, by: FoundBy, rule: str) -> Found:
    return Found(url, split(url).host, 0, by, admitted=True, rule=rule, page_type=LISTING)
