"""Make the results of a group of visits durable, all or none.

The order matters: sync the page bytes; then record the captures, end the leases and add the links in
one transaction; then write the lines of the logs. After a crash before the commit the URLs are fetched
again; after a crash behind it nothing is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import Captures
from crawl4r.archive.lines.capture_log import CaptureLog
from crawl4r.archive.visit_classes import tally
from crawl4r.clock import Clock
from crawl4r.crawling.ledger.seen_again import revisit_in
from crawl4r.errors import Crawl4rError
from crawl4r.frontier.port import Frontier
from crawl4r.frontier.revisits import Revisits
from crawl4r.model import Capture, Verdict, Visit
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.storage.crawls import CrawlNotes
from crawl4r.storage.database import Database
from crawl4r.storage.tables import (
    BYTES,
    IMPORTED_BYTES,
    IMPORTED_PAGES,
    PAGES,
    HostMemories,
)

_PATIENCE = 0.05  # seconds a visit may wait for others to share its sync


class Learner(Protocol):
    """A part of the crawl that learns from each visit."""

    def learn(self, visit: Visit, admitted: int) -> None:
        """Learn from a visit that added `admitted` new URLs, in the transaction that keeps it."""


class CommitTargets(Struct, frozen=True):
    """The stores that one commit writes to."""

    database: Database
    frontier: Frontier
    captures: Captures
    blobs: Blobs
    logs: Sequence[CaptureLog]
    crawl: int
    notes: CrawlNotes
    hosts: HostMemories
    revisits: Revisits


class Keeper:
    """Collects visits into groups, so that many pages share one sync."""

    def __init__(
        self,
        targets: CommitTargets,
        budgets: HostBudgets,
        clock: Clock,
        *,
        group: int,
        learners: Sequence[Learner] = (),
        on_commit: Callable[[], None] | None = None,
    ) -> None:
        """At most `group` visits share a commit. `on_commit` is called after each."""
        self._learners = learners
        self._on_commit = on_commit
        self._targets = targets
        self._budgets = budgets
        self._group = group
        self._clock = clock.monotonic
        self._wall = clock.wall
        self._waiting: list[tuple[Visit, asyncio.Future[set[str]]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self.untold: list[Visit] = []  # durable visits whose waiting task was cancelled or failed
        self.pages = targets.notes.tally(PAGES)  # both totals count durable data
        self.bytes = targets.notes.tally(BYTES)
        self._imported_pages = targets.notes.tally(IMPORTED_PAGES)
        self._imported_bytes = targets.notes.tally(IMPORTED_BYTES)

    @property
    def fetched_pages(self) -> int:
        """The pages that crawls have fetched over all runs, without imports; max_pages limits them."""
        return self.pages - self._imported_pages

    @property
    def fetched_bytes(self) -> int:
        return self.bytes - self._imported_bytes

    async def keep(self, visit: Visit, in_flight: int) -> set[str]:
        """Return when the visit is durable, with the hosts that have new URLs.

        `in_flight`: the number of visits that can share the commit, including this one. Only the first
        visit of the group gets the hosts.
        """
        durable: asyncio.Future[set[str]] = asyncio.get_running_loop().create_future()
        self._waiting.append((visit, durable))
        count = len(self._waiting)
        if count >= min(self._group, in_flight):
            self.commit()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self.commit)
        try:
            return await durable
        except asyncio.CancelledError:
            if not durable.cancelled() and durable.exception() is None:
                self.untold.append(visit)
            raise

    def commit(self) -> None:
        """Commit all waiting visits now."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, []
        visits = [visit for visit, _ in waiting]
        lasting: list[Visit] = []
        try:
            hosts, recorded = self._write(visits)
            lasting = visits
            self._pass_on(recorded)
        except (Crawl4rError, OSError) as problem:
            self._targets.database.abandon(problem)
            self.untold += lasting
            _fail_all(waiting, problem)
            if not waiting:
                raise
            return
        for visit, durable in waiting:
            if durable.done():
                self.untold.append(visit)
            else:
                durable.set_result(hosts)
            hosts = set()

    def drop(self) -> None:
        """Drop the waiting visits after a failure of the crawl. The next run fetches them again."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._waiting.clear()

    def _write(self, visits: Sequence[Visit]) -> tuple[set[str], list[Capture]]:
        """All steps up to the commit; returns the hosts with new URLs, and the captures."""
        targets = self._targets
        now = self._wall()
        kept = [self._with_content(visit) for visit in visits if visit.capture]
        targets.blobs.flush()
        recorded: list[Capture] = []
        endings = [visit.ending for visit in visits if not visit.capture]
        for visit, capture in kept:
            if visit.lease.was_answered:
                self._note_revisit(visit, capture)
            number = targets.captures.add(capture)
            recorded.append(capture._replace(id=number))
            content = number if capture.verdict is Verdict.OK else visit.ending.content
            endings.append(visit.ending._replace(capture=number, content=content))
        url_ids = [ending.url_id for ending in endings]
        kept_before = targets.frontier.count_kept(url_ids)
        targets.frontier.settle(endings)
        pages = targets.frontier.count_kept(url_ids) - kept_before
        targets.captures.add_attempts(visits, now - self._clock(), now)
        hosts: set[str] = set()
        for visit in visits:
            before = targets.frontier.admitted
            if visit.found:
                hosts |= targets.frontier.add(visit.found, visit.lease.url_id, now)
            for learner in self._learners:
                learner.learn(visit, targets.frontier.admitted - before)
        size = self._count(visits, recorded, pages)
        if memories := self._budgets.remember(self._clock(), now):
            targets.hosts.save(memories)
        targets.database.commit()
        self.pages += pages
        self.bytes += size
        return hosts, recorded

    def _pass_on(self, recorded: Sequence[Capture]) -> None:
        """Write to the logs that follow the database. After a failure they catch up later."""
        if self._on_commit:
            self._on_commit()
        for log in self._targets.logs:
            log.add(recorded)

    def _with_content(self, visit: Visit) -> tuple[Visit, Capture]:
        capture = visit.capture
        assert capture is not None
        capture = capture._replace(crawl=self._targets.crawl)
        if capture.verdict is Verdict.NOT_MODIFIED:
            lease = visit.lease
            earlier = self._targets.captures.sha256_before(lease.url, lease.content)
            return visit, capture._replace(sha256=earlier)
        if visit.body is None:
            return visit, capture
        sha256, _ = self._targets.blobs.add(visit.body, capture.content_type)
        return visit, capture._replace(sha256=sha256)

    def _note_revisit(self, visit: Visit, capture: Capture) -> None:
        """Learn change rates from pages with this and an earlier answer."""
        before = self._targets.captures.answer_before(capture.url)
        if revisit := revisit_in(visit, capture, before):
            self._targets.revisits.note(revisit)

    def _count(self, visits: Sequence[Visit], recorded: Sequence[Capture], pages: int) -> int:
        """Add to the running totals in the same transaction; returns the kept bytes."""
        tallies = tally(visits)
        tallies[PAGES] = pages
        tallies[BYTES] = sum(capture.bytes for capture in recorded)
        for name, more in tallies.items():
            if more:
                self._targets.notes.count(name, more)
        return tallies[BYTES]


def _fail_all(
    waiting: Sequence[tuple[Visit, asyncio.Future[set[str]]]], problem: Exception
) -> None:
    for _, durable in waiting:
        if not durable.done():
            durable.set_exception(problem)
