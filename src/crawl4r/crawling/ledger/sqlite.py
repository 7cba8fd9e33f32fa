"""The ledger in state.db. Workers on one machine have a connection each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from msgspec import json as quick_json

from crawl4r.archive.captures import Captures
from crawl4r.crawling.ledger.held import HeldHosts, hosts_of
from crawl4r.crawling.ledger.port import ClaimLost, HostClaim, Kept, KeptUnit, Taught
from crawl4r.crawling.ledger.seen_again import revisit_in
from crawl4r.errors import StorageError
from crawl4r.frontier.port import Frontier
from crawl4r.frontier.revisits import Revisits
from crawl4r.model import Capture, Ending, Found, HostMemory, Lease, UrlState, Verdict
from crawl4r.storage.crawls import CrawlNotes, CrawlState
from crawl4r.storage.database import Database
from crawl4r.storage.host_lessons import Lessons
from crawl4r.storage.tables import PAGES, HostMemories, RobotsRecords

UNITS_LAST = 3_600.0  # seconds that a unit is known after it was kept
_HOSTS_AT_ONCE = 100
_CLAIMS_OVER = "SELECT host_id FROM claims WHERE until > 0 AND until <= ?"
_END_CLAIMS = """
UPDATE claims SET until = 0, epoch = epoch + 1 WHERE host_id IN (SELECT value FROM json_each(?))
"""
# Leases of every crawl, by the index of all leases, which are few.
_END_LEASES = """
UPDATE urls SET state = 'pending' WHERE id IN (
    SELECT u.id FROM crawls c JOIN urls u ON u.crawl_id = c.id AND u.state = 'leased'
    WHERE u.host_id IN (SELECT value FROM json_each(?)))
"""
_RUNNING = f"SELECT id FROM crawls WHERE state = '{CrawlState.RUNNING}' ORDER BY id"
_FREE = """
SELECT h.id, h.name, coalesce(c.owner, '') != '', h.next_at, h.delay, h.failures, h.openings,
    h.open_until
FROM json_each(?) w JOIN hosts h ON h.name = w.value LEFT JOIN claims c ON c.host_id = h.id
WHERE coalesce(c.until, 0) = 0
"""
_TAKE = """
INSERT INTO claims (host_id, owner, epoch, until) VALUES (?, ?, 1, ?)
ON CONFLICT (host_id) DO UPDATE
    SET owner = excluded.owner, epoch = epoch + 1, until = excluded.until
RETURNING epoch
"""
# Those of the named hosts that are ours in the named epoch.
_OURS = """
FROM json_each(?) w JOIN hosts h ON h.name = w.key JOIN claims c ON c.host_id = h.id
WHERE c.epoch = w.value AND c.owner = ?
"""
_FENCE = f"SELECT 1, outcome FROM units WHERE unit = ? UNION ALL SELECT 0, h.name {_OURS}"
_RENEW = f"UPDATE claims SET until = ? WHERE host_id IN (SELECT h.id {_OURS})"
_LET_GO = """
UPDATE claims SET until = 0, owner = '' WHERE host_id IN (SELECT value FROM json_each(?))
"""


class SqliteLedger:
    """See `port.Ledger`. Each method decides and writes in one transaction of the only writer."""

    def __init__(
        self,
        database: Database,
        frontier_of: Callable[[int], Frontier],
        owner: str,
        claim_seconds: float,
    ) -> None:
        """`frontier_of` gives the frontier of a crawl, always the same one. `owner` is a name that no
        other worker has, nor had."""
        self._database = database
        self._frontier_of = frontier_of
        self._owner = owner
        self._claim_seconds = claim_seconds
        self._held = HeldHosts()
        self._captures = Captures(database)
        self._revisits = Revisits(database)
        self._memories = HostMemories(database)
        self._robots = RobotsRecords(database)
        self._pruned_at = 0.0

    def end_all_claims(self) -> int:
        """End the claims and leases of dead workers at once; returns the number of leases.

        For the only worker of a store, before it claims its first host.
        """
        with self._deciding():
            self._database.write("UPDATE claims SET until = 0, epoch = epoch + 1 WHERE until > 0")
            crawls = self._database.read("SELECT id FROM crawls")
            return sum(self._frontier_of(crawl).recover() for (crawl,) in crawls)

    def claim(self, most: int, now: float) -> Sequence[HostClaim]:
        with self._deciding():
            self._end_claims_over(now)
            claims: list[HostClaim] = []
            for (crawl,) in self._database.read(_RUNNING):
                for rows in self._free_hosts(self._frontier_of(crawl)):
                    claims += (self._take(row, now) for row in rows[: most - len(claims)])
                    if len(claims) >= most:
                        break
            self._prune_units(now)
        return claims

    def _end_claims_over(self, now: float) -> None:
        over = self._database.read(_CLAIMS_OVER, (now,))
        if over:
            hosts = json.dumps([row[0] for row in over])
            self._database.write(_END_LEASES, (hosts,))
            self._database.write(_END_CLAIMS, (hosts,))

    def _free_hosts(self, frontier: Frontier) -> Iterator[list[Any]]:
        """Rows of hosts with pending URLs and no owner, some at a time."""
        after = ""
        while names := frontier.hosts_pending(after, _HOSTS_AT_ONCE):
            after = names[-1]
            yield self._database.read(_FREE, (json.dumps(names),))

    def _take(self, row: Sequence[Any], now: float) -> HostClaim:
        host_id, name, is_inherited, *memory = row
        until = now + self._claim_seconds
        ((epoch,),) = self._database.write(_TAKE, (host_id, self._owner, until)).fetchall()
        self._held.take(name, epoch)
        known = HostMemory(name, *memory) if any(memory) else None
        return HostClaim(name, epoch, until, known, bool(is_inherited))

    def _prune_units(self, now: float) -> None:
        if now - self._pruned_at > UNITS_LAST / 4:
            self._pruned_at = now
            self._database.write("DELETE FROM units WHERE at < ?", (now - UNITS_LAST,))

    def renew(self, hosts: Iterable[str], now: float) -> set[str]:
        epochs = self._held.epochs(hosts)
        with self._deciding():
            ours = self._ours(epochs)
            until = now + self._claim_seconds
            self._database.write(_RENEW, (until, json.dumps(epochs), self._owner))
        self._held.drop(epochs.keys() - ours.keys())
        return set(ours)

    def let_go(self, hosts: Iterable[str], memories: Iterable[HostMemory] = ()) -> None:
        epochs = self._held.epochs(hosts)
        with self._deciding():
            ours = self._ours(epochs)
            numbers = json.dumps(list(ours.values()))
            self._database.write(_END_LEASES, (numbers,))
            self._database.write(_LET_GO, (numbers,))
            self._memories.save(memory for memory in memories if memory.host in ours)
        self._held.drop(epochs)

    def _ours(self, epochs: dict[str, int]) -> dict[str, int]:
        """The numbers of those hosts whose claim is not over."""
        sql = f"SELECT h.name, h.id {_OURS}"
        return dict(self._database.read(sql, (json.dumps(epochs), self._owner)))

    def lease(self, crawl: int, host: str, most: int) -> Sequence[Lease]:
        with self._deciding(is_synced=False):
            if not self._ours(self._held.epochs([host])):
                self._held.drop([host])
                raise ClaimLost([host])
            leases = self._frontier_of(crawl).lease(host, most)
        self._held.note_leases(leases)
        return leases

    def release(self, leases: Iterable[Lease]) -> None:
        live = self._held.still_leased(leases)
        with self._deciding(is_synced=False):
            ours = self._ours(self._held.epochs({lease.host for lease in live}))
            self._set_pending([lease for lease in live if lease.host in ours])
        self._held.end(live)

    def _set_pending(self, leases: Sequence[Lease]) -> None:
        rows = [(UrlState.PENDING.value, lease.url_id) for lease in leases]
        self._database.write_many("UPDATE urls SET state = ? WHERE id = ?", rows)

    def keep(
        self, unit: str, visits: Sequence[Kept], taught: Taught, now: float, offset: float
    ) -> KeptUnit:
        epochs = self._held.epochs(hosts_of(visits, taught.hosts))
        with self._deciding():
            fence = self._database.read(_FENCE, (unit, json.dumps(epochs), self._owner))
            if fence and fence[0][0]:
                kept = quick_json.decode(fence[0][1], type=KeptUnit)
            else:
                self._held.check(visits, taught.hosts, (name for _, name in fence))
                kept = self._keep(visits, taught, now, offset)
                row = (unit, quick_json.encode(kept).decode(), now)
                self._database.write("INSERT INTO units VALUES (?, ?, ?)", row)
        self._held.end(kept.visit.lease for kept in visits)
        return kept

    def _keep(self, visits: Sequence[Kept], taught: Taught, now: float, offset: float) -> KeptUnit:
        numbers: list[int] = []
        endings: dict[int, list[Ending]] = defaultdict(list)
        for kept in visits:
            endings[kept.crawl].append(self._record(kept, numbers))
        pages: dict[int, int] = {}
        for crawl, ended in endings.items():
            frontier = self._frontier_of(crawl)
            url_ids = [ending.url_id for ending in ended]
            before = frontier.count_kept(url_ids)
            frontier.settle(ended)
            if more := frontier.count_kept(url_ids) - before:
                pages[crawl] = more
        self._captures.add_attempts((kept.visit for kept in visits), offset, now)
        hosts: dict[tuple[int, str], None] = {}
        admitted = [self._add_links(kept, hosts, now) for kept in visits]
        self._learn(taught)
        for crawl, more in pages.items():
            CrawlNotes(self._database, crawl).count(PAGES, more)
        return KeptUnit(numbers, sorted(hosts), admitted, pages)

    def _record(self, kept: Kept, numbers: list[int]) -> Ending:
        """Add the capture of a visit, if it has one; returns the ending that names it."""
        visit, capture = kept.visit, kept.visit.capture
        if capture is None:
            return visit.ending
        capture = capture._replace(crawl=kept.crawl)
        if capture.verdict is Verdict.NOT_MODIFIED and capture.sha256 is None:
            earlier = self._captures.sha256_before(capture.url, visit.lease.content)
            capture = capture._replace(sha256=earlier)
        if visit.lease.was_answered:
            before = self._captures.answer_before(capture.url)
            if revisit := revisit_in(visit, capture, before):
                self._revisits.note(revisit)
        number = self._captures.add(capture)
        numbers.append(number)
        content = number if capture.verdict is Verdict.OK else visit.ending.content
        return visit.ending._replace(capture=number, content=content)

    def _add_links(self, kept: Kept, hosts: dict[tuple[int, str], None], now: float) -> int:
        if not kept.visit.found:
            return 0
        frontier = self._frontier_of(kept.crawl)
        before = frontier.admitted
        for host in frontier.add(kept.visit.found, kept.visit.lease.url_id, now):
            hosts[kept.crawl, host] = None
        return frontier.admitted - before

    def _learn(self, taught: Taught) -> None:
        if taught.hosts:
            self._memories.save(taught.hosts)
        for record in taught.robots:
            self._robots.put(record)
        for lesson in taught.lessons:
            lessons = Lessons(self._database, lesson.crawl)
            if lesson.value is None:
                lessons.forget(lesson.host, lesson.kind, lesson.key)
            else:
                lessons.put(lesson.host, lesson.kind, lesson.key, lesson.value)
        for crawl, name, more in taught.tallies:
            CrawlNotes(self._database, crawl).count(name, more)

    def add(self, crawl: int, found: Iterable[Found], now: float) -> set[str]:
        with self._deciding():
            return self._frontier_of(crawl).add(found, None, now)

    def requeue(self, crawl: int, states: Sequence[UrlState]) -> int:
        with self._deciding():
            return self._frontier_of(crawl).requeue(states)

    def wake(self, crawl: int, now: float) -> tuple[set[str], float | None]:
        with self._deciding():
            return self._frontier_of(crawl).wake(now)

    def unfinished(self, crawl: int) -> int:
        return self._frontier_of(crawl).count_unfinished()

    def captures_after(self, number: int, most: int) -> Sequence[Capture]:
        return list(islice(self._captures.after(number), most))

    @contextmanager
    def _deciding(self, *, is_synced: bool = True) -> Iterator[None]:
        try:
            with self._database.transaction(is_synced=is_synced):
                yield
        except StorageError as problem:
            # The frontiers remember numbers of rows, which may have been undone.
            self._database.abandon(problem)
            raise
