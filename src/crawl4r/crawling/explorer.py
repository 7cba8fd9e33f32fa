"""Explore a host without pending URLs: try sitemaps, further pages of lists, archives.

The explorer fetches nothing. It adds its proposals to the frontier like any URL, with their own kind of
discovery, so that they are as polite, durable and explained as links. It learns from the results of
each host, and drops patterns without success.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from crawl4r import events
from crawl4r.archive.captures import Captures
from crawl4r.discovery.guesses.date_paths import DatePaths
from crawl4r.discovery.guesses.usual_places import (
    PatternRecord,
    archive_places,
    sitemap_places,
    worth_trying,
)
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.discovery.listings.common_crawl import host_pattern, results_url
from crawl4r.discovery.pagination.lists import PageLists
from crawl4r.frontier.port import Frontier
from crawl4r.model import EXPLORED, LISTING, Found, FoundBy, UrlState, Verdict, Visit
from crawl4r.storage.database import Database
from crawl4r.storage.host_lessons import Lessons
from crawl4r.storage.tables import RobotsRecords
from crawl4r.urls.canonical import split
from crawl4r.urls.robots import RobotsFile

_MOST_NAMED = 50  # sitemaps of one robots.txt
_PLACES_IN_VAIN = 4  # failed usual places before a host counts as having none
_AT_ONCE = 8  # guesses of a kind before their results are needed
_HOSTS_AT_HAND = 500
_NEW_LINKS = 3  # links that the previous page lacked; the pager always changes
_PAGES_IN_VAIN = 50  # pages of one list without new links
_ASKED = "asked"  # the kind of lesson with the pattern of a pending guess


class ExploringRules(Struct, frozen=True):
    """The kinds of guesses that are allowed."""

    sitemaps: bool = True
    pagination: bool = True
    archives: bool = True
    common_crawl: str = ""  # the URL of an index with the CDX API
    again_after: float = 24 * 3600.0  # seconds until sitemaps are read again


class _Try(NamedTuple):
    """A URL to try, and the pattern that its result rates."""

    found: Found
    pattern: str


class _Host(Struct):
    """The date paths and lists of a host, learnt from its URLs."""

    origin: str
    dates: DatePaths
    lists: PageLists


class Explorer:
    """Proposes URLs when a host has none left, and learns from their results."""

    def __init__(
        self,
        database: Database,
        crawl: int,
        frontier: Frontier,
        rules: ExploringRules,
        judge: Callable[[], LinkJudge],
        wall: Callable[[], float],
    ) -> None:
        self._database = database
        self._crawl = crawl
        self._frontier = frontier
        self._captures = Captures(database)
        self._robots = RobotsRecords(database)
        self._lessons = Lessons(database)
        self._rules = rules
        self._judge = judge
        self._wall = wall
        self._began_at = wall()
        self._hosts: dict[str, _Host] = {}

    def explore(self, host: str) -> set[str]:
        """Add the best proposals to the frontier; returns the hosts with new URLs."""
        known = self._known(host)
        if known is None:
            return set()
        for name, propose in self._ways():
            tries = list(propose(host, known))
            hosts = self._frontier.add([each.found for each in tries], None, self._wall())
            asked_for = [each for each in tries if each.found.admitted]
            hosts |= self._read_again(asked_for)
            if hosts:
                for each in asked_for:
                    self._lessons.put(host, _ASKED, each.found.url, each.pattern)
                self._database.commit()
                events.emit(events.HOST_EXPLORED, host=host, by=name, urls=len(asked_for))
                return hosts
        return set()

    def _read_again(self, tries: Iterable[_Try]) -> set[str]:
        """Sitemaps that were read long ago, once per run; their known URLs are not requested again."""
        too_old = min(self._wall() - self._rules.again_after, self._began_at)
        hosts = set()
        for found, _ in tries:
            last = self._captures.last_visit(found.url) if found.is_listing else None
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

    def learn(self, visit: Visit, admitted: int) -> None:
        """See `keeper.Learner`."""
        known = self._hosts.get(visit.lease.host)
        is_page = visit.ending.verdict is Verdict.OK and visit.lease.page_type != LISTING
        if known and is_page:
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
        """Propose usual places of sitemaps. Those out of scope are only recorded, for `why`."""
        record = self._robots.get(known.origin)
        for text in RobotsFile(record.body).sitemaps[:_MOST_NAMED] if record else ():
            found = self._listing(text, known.origin + "/", "named by robots.txt")
            if found is not None:
                yield _Try(found, "robots.txt")

    def _usual_sitemaps(self, host: str, known: _Host) -> Iterator[_Try]:
        if any(each.found.admitted for each in self._named_sitemaps(host, known)):
            return
        yield from self._places(
            host,
            sitemap_places(known.origin),
            FoundBy.USUAL_SITEMAP,
            lambda url, pattern: self._listing(
                url, None, f"a usual place: {pattern}", FoundBy.USUAL_SITEMAP
            ),
        )

    def _usual_archives(self, host: str, known: _Host) -> Iterator[_Try]:
        yield from self._places(
            host,
            archive_places(known.origin),
            FoundBy.PLACE,
            lambda url, pattern: self._guess(url, FoundBy.PLACE, f"a usual place: {pattern}"),
        )

    def _places(
        self,
        host: str,
        urls: list[str],
        by: FoundBy,
        judged: Callable[[str, str], Found | None],
    ) -> Iterator[_Try]:
        """The next untried place in scope, unless too many failed."""
        records = self._records(host, by)
        in_vain = sum(not record.yielded for record in records.values())
        if in_vain >= _PLACES_IN_VAIN or any(record.yielded for record in records.values()):
            return
        for url, pattern in worth_trying(urls, records):
            if pattern in records or self._frontier.id_of(url) is not None:
                continue
            found = judged(url, pattern)
            if found is not None and found.admitted:
                yield _Try(found, pattern)
                return

    def _next_pages(self, host: str, known: _Host) -> Iterator[_Try]:
        records = self._records(host, FoundBy.PAGINATION)
        proposals = known.lists.propose(
            records, lambda url: self._frontier.id_of(url) is not None, _AT_ONCE
        )
        for url, pattern in proposals:
            found = self._guess(url, FoundBy.PAGINATION, f"one past the last page of {pattern}")
            if found is not None:
                yield _Try(found, pattern)

    def _dated_archives(self, host: str, known: _Host) -> Iterator[_Try]:
        records = self._records(host, FoundBy.PATTERN)
        for url, pattern in known.dates.propose(self._wall(), _AT_ONCE, records):
            known.dates.add(url, exists=False)
            found = self._guess(url, FoundBy.PATTERN, f"the date pattern {pattern}")
            if found is not None:
                yield _Try(found, pattern)

    def _index(self, host: str, known: _Host) -> Iterator[_Try]:
        """The index that the settings name, the only listing on another host."""
        url = results_url(self._rules.common_crawl, host_pattern(split(known.origin).netloc))
        by, rule = FoundBy.COMMON_CRAWL, "the Common Crawl index"
        found = Found(url, split(url).host, 0, by, admitted=True, rule=rule, page_type=LISTING)
        yield _Try(found, "index")

    def _listing(
        self, url: str, base: str | None, why: str, by: FoundBy = FoundBy.SITEMAP
    ) -> Found | None:
        return self._judge().judge_listing(url, base, 0, by, why)

    def _guess(self, url: str, by: FoundBy, why: str) -> Found | None:
        """A guessed page, if the scope admits it."""
        found = self._judge().judge(url, None, 1, by)
        return found._replace(rule=why) if found is not None and found.admitted else None

    def _known(self, host: str) -> _Host | None:
        """The knowledge about a host, learnt once from all its URLs."""
        if host in self._hosts:
            return self._hosts[host]
        rows = self._database.stream(
            "SELECT u.url FROM urls u JOIN hosts h ON h.id = u.host_id"
            " WHERE u.crawl_id = ? AND h.name = ? AND u.verdict = 'ok' AND u.page_type != ?",
            (self._crawl, host, LISTING),
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
    """Whether a page of a list has links that the previous one lacked; then the next is tried.

    All its links may be known from other pages. But a list that only brings known links is dropped
    after a while.
    """
    before, links = set(lesson.get("links", ())), set(visit.links)
    lesson["links"] = sorted(links)
    lesson["vain"] = 0 if admitted else lesson.get("vain", 0) + 1
    is_page = visit.ending.verdict is Verdict.OK
    return is_page and lesson["vain"] < _PAGES_IN_VAIN and len(links - before) >= _NEW_LINKS
