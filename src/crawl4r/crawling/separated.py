"""Separated mode: one process discovers URLs, another fetches them, with the spool between them.

    discoverer: frontier ──> announcements ──> spool          (held back while the backlog is large)
    scraper:                                   spool ──> frontier, with the bookmark in one commit

Both are normal crawls. The discoverer keeps no bytes, the scraper follows no links.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from crawl4r import events
from crawl4r.archive.captures import Captures
from crawl4r.clock import epoch_of, iso_time
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.errors import InvalidUrl
from crawl4r.frontier.outbox import Announcement, Announcements
from crawl4r.frontier.port import Frontier
from crawl4r.frontier.schedule import Schedule
from crawl4r.frontier.spool import Bookmark, Discovery, SpoolReader, SpoolWriter
from crawl4r.frontier.spool_progress import SpoolProgress, backlog_of, mark_held, write_progress
from crawl4r.model import Found, FoundBy, UrlState, Visit
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.storage.crawls import STORE, CrawlNotes
from crawl4r.storage.database import Database
from crawl4r.storage.tables import Notes
from crawl4r.urls.canonical import canonicalize, split

BOOKMARK = "spool_bookmark"  # a note of the scraper's state.db
READ = "discoveries"  # a tally of the scraper's state.db
_BATCH = 1_000  # discoveries per commit
_LOOK_AGAIN = 0.2  # seconds
_GO_ON_AT = 0.5  # share of the largest backlog
_SLOWEST = 1.0  # seconds between two pages, just before the discoverer is held


class Announcer:
    """Writes the discoverer's visits to the spool, after each commit."""

    def __init__(self, announcements: Announcements, writer: SpoolWriter) -> None:
        self.announcements = announcements
        self._writer = writer
        announcements.number_from(writer.last_number)

    def admit(self, url: str, now: float) -> None:
        """Note a URL that the frontier admitted, to announce it after its visit."""
        self.announcements.note(url, now)

    def learn(self, visit: Visit, admitted: int) -> None:
        """See `keeper.Learner`."""
        self.announcements.release(visit)

    def pass_on(self) -> None:
        """Write all committed visits to the spool; durable on return."""
        while batch := self.announcements.after(self._writer.last_number, _BATCH):
            self._writer.append([_discovery_of(item) for item in batch])
        self.announcements.forget(self._writer.last_number)


def _discovery_of(item: Announcement) -> Discovery:
    metadata = {
        "number": item.number,
        "found_at": iso_time(item.at),
        "found_by": item.found_by,
        "rule": item.rule,
        "status_code": item.status,
        "content_length": item.bytes,
        "latency_ms": item.latency_ms,
    }
    if item.written:
        metadata["written"] = item.written
    if item.is_again:
        metadata["again"] = True
    return Discovery(item.url, item.page_type, item.depth, item.referrer, metadata)


class BackPressure:
    """Slows a discoverer down, and holds it, while its scraper is too far behind."""

    def __init__(self, spool: Path, pause_gate: PauseGate, most: Callable[[], int]) -> None:
        self._spool = spool
        self._reader = SpoolReader(spool / "discoveries")
        self._pause_gate = pause_gate
        self._most = most
        self.backlog = 0
        mark_held(spool, False)

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(_LOOK_AGAIN)

    def look(self) -> None:
        most = self._most()
        self.backlog = backlog_of(self._spool, self._reader)
        share = self.backlog / most
        if share >= 1:
            why = (
                f"the backlog of {self.backlog:,} discoveries is past spool.max_backlog ({most:,})"
            )
            if self._pause_gate.hold("backlog", why):
                mark_held(self._spool, True)
                events.emit(events.BACKLOG_FULL, 30, backlog=self.backlog, max_backlog=most)
        elif share <= _GO_ON_AT and self._pause_gate.let_go("backlog"):
            mark_held(self._spool, False)
            events.emit(events.BACKLOG_DRAINED, 30, backlog=self.backlog, max_backlog=most)
        self._pause_gate.gap = _SLOWEST * max(0.0, (share - _GO_ON_AT) / (1 - _GO_ON_AT)) ** 2


class SpoolSource(Struct, frozen=True):
    """Where discoveries come from, and until when."""

    folder: Path
    drained: str  # what becomes of segments that were read: archive, delete or keep
    expects_more: Callable[[], bool]  # False once no discoverer will add any


class SpoolFeed:
    """Adds discoveries to the frontier until no more follow."""

    def __init__(
        self,
        source: SpoolSource,
        database: Database,
        frontier: Frontier,
        captures: Captures,
        schedule: Schedule,
        judge: LinkJudge,
        *,
        wall: Callable[[], float],
        on_host: Callable[[str], None],
    ) -> None:
        """`on_host` hears the host and port of each discovery that the scope admits."""
        self._source = source
        self._reader = SpoolReader(source.folder / "discoveries")
        self._database = database
        self._notes = Notes(database)
        self._frontier = frontier
        self._captures = captures
        self._schedule = schedule
        self._judge = judge
        self._wall = wall
        self._on_host = on_host
        self.bookmark = Bookmark.from_text(self._notes.get(BOOKMARK))
        self._told: SpoolProgress | None = None
        schedule.is_fed = True

    async def follow(self) -> None:
        """Read while more discoveries may follow; then the crawl may end."""
        while True:
            # Asked before the look: a discoverer that has ended by then adds nothing after it.
            may_come = self._source.expects_more()
            is_idle = not self.take_some()
            self.publish()
            if is_idle and not may_come:
                break
            await asyncio.sleep(_LOOK_AGAIN if is_idle else 0)
        self._schedule.end_feed()
        while True:  # publish the progress for the writer until cancelled
            await asyncio.sleep(_LOOK_AGAIN)
            self.publish()

    def take_some(self) -> bool:
        """Add one batch of discoveries; False when there was none."""
        batch = self._reader.read(self.bookmark, _BATCH)
        if batch.bookmark == self.bookmark:
            return False
        hosts = self._add(batch.discoveries)
        if batch.skipped:
            events.emit(events.SPOOL_SKIPPED, 30, lines=batch.skipped, segment=batch.bookmark[0])
        self._notes.put(BOOKMARK, batch.bookmark.as_text())
        CrawlNotes(self._database, STORE).count(READ, len(batch.discoveries))
        self._database.commit()
        self.bookmark = batch.bookmark
        self._schedule.notice(hosts)
        self._put_drained_away()
        return True

    def _add(self, discoveries: Sequence[Discovery]) -> set[str]:
        hosts: set[str] = set()
        now = self._wall()
        for referrer, group in groupby(discoveries, key=lambda item: item.referrer):
            found = [item for discovery in group if (item := self._judged(discovery, hosts))]
            hosts |= self._frontier.add(found, self._id_of(referrer), now)
        return hosts

    def _judged(self, discovery: Discovery, hosts: set[str]) -> Found | None:
        """A discovery as a found URL. The discoverer applied the caps; other programs write seeds."""
        by = FoundBy.SPOOL if "number" in discovery.metadata else FoundBy.SEED
        found = self._judge.judge(discovery.url, None, discovery.depth, by)
        if found is None:
            return None
        if found.admitted:
            self._on_host(split(found.url).netloc)
        if found.admitted and discovery.metadata.get("again"):
            hosts |= self._again(found, discovery)
        page_type = found.page_type or discovery.page_type
        written = str(discovery.metadata.get("written", ""))
        return found._replace(groups=(), page_type=page_type, written=written or found.written)

    def _again(self, found: Found, discovery: Discovery) -> set[str]:
        """Requeue a known page, unless it was visited after the discoverer's request for it."""
        last = self._captures.last_visit(found.url)
        asked_at = epoch_of(discovery.metadata.get("found_at"))
        if last is None or asked_at is None or last >= asked_at:
            return set()
        states = [UrlState.DONE, UrlState.FAILED]
        return {found.host} if self._frontier.requeue(states, [found.url]) else set()

    def _id_of(self, referrer: str | None) -> int | None:
        if referrer is None:
            return None
        try:
            return self._frontier.id_of(canonicalize(referrer, None, self._judge.rules.canonical))
        except InvalidUrl:
            return None

    def publish(self) -> None:
        """Tell the writer of the spool how far this reader is."""
        progress = SpoolProgress(self.bookmark, self._frontier.count_unfinished())
        if progress != self._told:
            with contextlib.suppress(OSError):  # it is a copy; the next one may succeed
                write_progress(self._source.folder, progress)
                self._told = progress

    def _put_drained_away(self) -> None:
        if self._source.drained == "keep":
            return
        for segment in self._reader.drained(self.bookmark):
            with contextlib.suppress(OSError):  # it is passed over either way
                if self._source.drained == "delete":
                    segment.unlink()
                else:
                    place = self._source.folder / "archived"
                    place.mkdir(exist_ok=True)
                    segment.rename(place / segment.name)
