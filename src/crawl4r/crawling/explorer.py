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
        self._began_at = wall()
        self._hosts: dict[str, _Host] = {}

    def explore(self, host: str) -> set[str]:
        """Put what is best tried next into the frontier; the hosts that then have something."""
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
        """Sitemaps that were read long ago, once a run; what they name and we know is not asked for."""
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
        """Also those that the scope refuses: `why` tells of them, and they are not asked for."""
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
        """One place in scope that was not tried yet, unless too many were in vain."""
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
        """The one listing elsewhere: the settings name it."""
        url = results_url(self._rules.common_crawl, host_pattern(split(known.origin).netloc))
        by, rule = FoundBy.COMMON_CRAWL, "the Common Crawl index"
        found = Found(url, split(url).host, 0, by, admitted=True, rule=rule, page_type=LISTING)
        yield _Try(found, "index")

    def _listing(
        self, url: str, base: str | None, why: str, by: FoundBy = FoundBy.SITEMAP
    ) -> Found | None:
        return self._judge().judge_listing(url, base, 0, by, why)

    def _guess(self, url: str, by: FoundBy, why: str) -> Found | None:
        """A page that nobody named: only where the scope lets it in."""
        found = self._judge().judge(url, None, 1, by)
        return found._replace(rule=why) if found is not None and found.admitted else None

    def _known(self, host: str) -> _Host | None:
        """What is known of a host; its URLs are looked through once."""
        if host in self._hosts:
            return self._hosts[host]
        rows = self._database.stream(
            "SELECT u.url FROM urls u JOIN hosts h ON h.id = u.host_id"
            " WHERE h.name = ? AND u.verdict = 'ok' AND u.page_type != ?",
            (host, LISTING),
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
