"""The ledger in PostgreSQL, for workers on many machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import json as quick_json

from crawl4r.crawling.ledger.held import HeldHosts, hosts_of
from crawl4r.crawling.ledger.port import ClaimLost, HostClaim, Kept, KeptUnit, Taught
from crawl4r.crawling.ledger.postgres import keeping
from crawl4r.crawling.ledger.postgres.adding import add_mentions, mentions_of
from crawl4r.crawling.ledger.postgres.links import CrawlRules
from crawl4r.crawling.ledger.postgres.rows import CAPTURES_AFTER, LEASE, capture_of, lease_of
from crawl4r.crawling.ledger.postgres.session import Session
from crawl4r.frontier.guesses import is_in_vain
from crawl4r.frontier.kept import IS_KEPT
from crawl4r.model import Capture, Found, HostMemory, Lease, UrlState
from crawl4r.storage.tables import PAGES

if TYPE_CHECKING:
    import psycopg

UNITS_LAST = 3_600.0  # seconds that a unit is known after it was kept
# The hosts that are ours in the epochs that JSON names. Until the commit no other worker takes them.
_FENCE = """
select name from hosts where owner = %s and name in (select w.key from json_each_text(%s::json) w)
    and epoch = (%s::json ->> name)::bigint order by name for no key update
"""
_CLAIMS_OVER = """
select name from hosts where until > 0 and until <= %s order by name for update skip locked
"""
_END_CLAIMS = "update hosts set until = 0, epoch = epoch + 1 where name = any(%s)"
_END_LEASES = "update urls set state = 'pending' where state = 'leased' and host = any(%s)"
# A loose scan: jumps from host to host in the index of pending URLs, until there are enough. The lock
# in the lateral part keeps the planner from reading all hosts first.
_CLAIM = f"""
with recursive pending (host) as (
    (select u.host from urls u where u.state = 'pending' order by u.host limit 1)
    union all
    select (select u.host from urls u where u.state = 'pending' and u.host > p.host
            order by u.host limit 1)
    from pending p where p.host is not null
),
free as (
    select one.* from pending p, lateral (
        select h.name, h.owner <> '' as is_inherited from hosts h
        where h.name = p.host and h.until = 0 and (exists (
            select from crawls c, lateral (
                select from urls u
                where u.host = h.name and u.crawl_id = c.id and u.state = 'pending' limit 1) any_url
            where c.state = 'running' and c.id <> all(%(known)s))
        or exists (
            select from urls u join crawls c on c.id = u.crawl_id
            where u.host = h.name and u.state = 'pending' and u.capture is not null and {IS_KEPT}
            and c.state = 'running' and c.id = any(%(known)s)))
        for update skip locked) one
    limit %(most)s
)
update hosts h set owner = %(owner)s, epoch = h.epoch + 1, until = %(until)s
from free f where h.name = f.name
returning h.name, h.epoch, f.is_inherited, h.next_at, h.delay, h.failures, h.openings, h.open_until
"""
_RUNNING = "select id from crawls where state = 'running'"
_LET_GO = "update hosts set until = 0, owner = '' where name = any(%s)"
_RELEASE = "update urls set state = 'pending' where id = any(%s) and host = any(%s)"
_REQUEUE = f"""
update urls set state = 'pending', attempts = 0 where crawl_id = %s and state = any(%s)
    and (verdict is null or verdict not in ('out-of-scope', 'capped')) and not {is_in_vain()}
"""
_ONLY_KNOWN = f"(%s or (u.capture is not null and {IS_KEPT}))"
_WAKE = f"""
update urls u set state = 'pending'
where u.crawl_id = %s and u.state = 'waiting' and u.due_at <= %s and {_ONLY_KNOWN} returning u.host
"""
_NEXT_DUE = f"""
select min(u.due_at) from urls u where u.crawl_id = %s and u.state = 'waiting' and {_ONLY_KNOWN}
"""
_UNFINISHED = """
select (select count(*) from urls where crawl_id = %(crawl)s and state = 'pending')
    + (select count(*) from urls where crawl_id = %(crawl)s and state = 'leased')
    + (select count(*) from urls where crawl_id = %(crawl)s and state = 'waiting')
"""


class PostgresLedger:
    """See `port.Ledger`. A keep is one transaction, and locks as late as it can what others need."""

    def __init__(
        self,
        dsn: str,
        rules_of: Callable[[int], CrawlRules],
        owner: str,
        claim_seconds: float,
        schema: str = "crawl4r_engine",
    ) -> None:
        """`rules_of` gives the rules of a crawl. `owner` is a name that no other worker has, nor had.

        Raises UsageError without psycopg, WorkspaceError for tables of a newer crawl4r, and, as every
        method, StorageError when the server does not answer or refuses.
        """
        self._session = Session(dsn, schema)
        self._rules_of = rules_of
        self._owner = owner
        self._claim_seconds = claim_seconds
        self._held = HeldHosts()
        self._pruned_at = 0.0

    def close(self) -> None:
        """Close the connection. Claims last until they are over."""
        self._session.close()

    def claim(self, most: int, now: float) -> Sequence[HostClaim]:
        until = now + self._claim_seconds

        def work(connection: psycopg.Connection[Any]) -> list[Any]:
            over = connection.execute(_CLAIMS_OVER, (now,)).fetchall()
            if (
                over
            ):  # in statements of their own, which see what the last owner did before the lock
                names = [name for (name,) in over]
                connection.execute(_END_LEASES, (names,))
                connection.execute(_END_CLAIMS, (names,))
            self._prune_units(connection, now)
            running = [crawl for (crawl,) in connection.execute(_RUNNING)]
            known = [crawl for crawl in running if self._rules_of(crawl).keeps_to_known]
            values = {"most": most, "owner": self._owner, "until": until, "known": known}
            return connection.execute(_CLAIM, values).fetchall()

        claims = []
        for name, epoch, is_inherited, *memory in sorted(self._session.transact(work)):
            self._held.take(name, epoch)
            known = HostMemory(name, *memory) if any(memory) else None
            claims.append(HostClaim(name, epoch, until, known, is_inherited))
        return claims

    def _prune_units(self, connection: psycopg.Connection[Any], now: float) -> None:
        if now - self._pruned_at > UNITS_LAST / 4:
            connection.execute("delete from units where at < %s", (now - UNITS_LAST,))
            self._pruned_at = now

    def _ours(self, connection: psycopg.Connection[Any], epochs: dict[str, int]) -> list[str]:
        """Those of the hosts whose claim is not over; it cannot end before the commit."""
        if not epochs:
            return []
        wanted = json.dumps(epochs)
        return [name for (name,) in connection.execute(_FENCE, (self._owner, wanted, wanted))]

    def renew(self, hosts: Iterable[str], now: float) -> set[str]:
        epochs = self._held.epochs(hosts)

        def work(connection: psycopg.Connection[Any]) -> set[str]:
            ours = self._ours(connection, epochs)
            until = now + self._claim_seconds
            connection.execute("update hosts set until = %s where name = any(%s)", (until, ours))
            return set(ours)

        ours = self._session.transact(work)
        self._held.drop(epochs.keys() - ours)
        return ours

    def let_go(self, hosts: Iterable[str], memories: Iterable[HostMemory] = ()) -> None:
        epochs, known = self._held.epochs(hosts), list(memories)

        def work(connection: psycopg.Connection[Any]) -> None:
            ours = self._ours(connection, epochs)
            connection.execute(_END_LEASES, (ours,))
            keeping.learn(connection, Taught([each for each in known if each.host in ours]))
            connection.execute(_LET_GO, (ours,))

        self._session.transact(work)
        self._held.drop(epochs)

    def lease(self, crawl: int, host: str, most: int) -> Sequence[Lease]:
        epochs = self._held.epochs([host])
        is_any = not self._rules_of(crawl).keeps_to_known

        def work(connection: psycopg.Connection[Any]) -> list[Lease] | None:
            if not self._ours(connection, epochs):
                return None
            rows = connection.execute(LEASE, (crawl, host, is_any, most))
            return [lease_of(host, row) for row in rows]

        leases = self._session.transact(work, is_quick=True)
        if leases is None:
            self._held.drop([host])
            raise ClaimLost([host])
        self._held.note_leases(leases)
        return leases

    def release(self, leases: Iterable[Lease]) -> None:
        live = self._held.still_leased(leases)
        epochs = self._held.epochs({lease.host for lease in live})

        def work(connection: psycopg.Connection[Any]) -> None:
            ours = self._ours(connection, epochs)
            connection.execute(_RELEASE, ([lease.url_id for lease in live], ours))

        self._session.transact(work, is_quick=True)
        self._held.end(live)

    def keep(
        self, unit: str, visits: Sequence[Kept], taught: Taught, now: float, offset: float
    ) -> KeptUnit:
        epochs = self._held.epochs(hosts_of(visits, taught.hosts))

        def work(connection: psycopg.Connection[Any]) -> KeptUnit:
            ours = self._ours(connection, epochs)
            # Asked under the lock of the hosts: a COMMIT whose answer was lost is over by now.
            asked = connection.execute("select outcome from units where unit = %s", (unit,))
            if known := asked.fetchone():
                return quick_json.decode(known[0], type=KeptUnit)
            self._held.check(visits, taught.hosts, ours)
            kept = self._keep(connection, visits, taught, now, offset)
            row = (unit, quick_json.encode(kept).decode(), now)
            connection.execute("insert into units values (%s, %s, %s)", row)
            return kept

        kept = self._session.transact(work)
        self._held.end(kept.visit.lease for kept in visits)
        return kept

    def _keep(
        self,
        connection: psycopg.Connection[Any],
        visits: Sequence[Kept],
        taught: Taught,
        now: float,
        offset: float,
    ) -> KeptUnit:
        captures = keeping.captures_in(connection, visits)
        keeping.note_revisits(connection, visits, captures)
        pages = keeping.refuse(connection, visits)
        keeping.add_attempts(connection, visits, offset, now)
        mentions = [
            mention
            for place, kept in enumerate(visits)
            for mention in mentions_of(kept.crawl, place, kept.visit.lease.url_id, kept.visit.found)
        ]
        added = add_mentions(connection, mentions, self._rules_of, now)
        keeping.learn(connection, taught)
        numbers, more = keeping.settle(connection, visits, captures)
        pages.update(more)
        new_pages = {crawl: count for crawl, count in pages.items() if count}
        tallies = [(crawl, PAGES, count) for crawl, count in new_pages.items()]
        keeping.count(connection, [*taught.tallies, *tallies])
        admitted = [added.admitted[place] for place in range(len(visits))]
        return KeptUnit(numbers, sorted(added.hosts), admitted, new_pages)

    def add(self, crawl: int, found: Iterable[Found], now: float) -> set[str]:
        mentions = mentions_of(crawl, 0, None, found)

        def work(connection: psycopg.Connection[Any]) -> set[str]:
            added = add_mentions(connection, mentions, self._rules_of, now)
            return {host for _, host in added.hosts}

        return self._session.transact(work)

    def requeue(self, crawl: int, states: Sequence[UrlState]) -> int:
        values = (crawl, [state.value for state in states])
        return self._session.transact(lambda c: c.execute(_REQUEUE, values).rowcount)

    def wake(self, crawl: int, now: float) -> tuple[set[str], float | None]:
        is_any = not self._rules_of(crawl).keeps_to_known

        def work(connection: psycopg.Connection[Any]) -> tuple[set[str], float | None]:
            woken = {host for (host,) in connection.execute(_WAKE, (crawl, now, is_any))}
            ((due,),) = connection.execute(_NEXT_DUE, (crawl, is_any)).fetchall()
            return woken, due

        return self._session.transact(work)

    def unfinished(self, crawl: int) -> int:
        return int(self._session.read(_UNFINISHED, {"crawl": crawl})[0][0])

    def captures_after(self, number: int, most: int) -> Sequence[Capture]:
        rows = self._session.read(CAPTURES_AFTER, (number, most))
        return [capture_of(row) for row in rows]
