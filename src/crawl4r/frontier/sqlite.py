"""The frontier of one crawl in state.db, where other crawls of the store have theirs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any

from crawl4r.frontier.guesses import is_guess, is_in_vain
from crawl4r.frontier.kept import IS_KEPT
from crawl4r.frontier.refusals import NOT_AGAIN
from crawl4r.model import GUESSED, Ending, Found, Lease, UrlState, Validators, Verdict, verdict_of
from crawl4r.storage.database import Database

_INSERT = """
INSERT INTO urls (crawl_id, url, host_id, state, priority, depth, found_by, found_at, referrer, rule,
                  page_type, nofollow, redirects, written, verdict, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (crawl_id, url) DO UPDATE SET
    state = excluded.state, priority = excluded.priority, depth = excluded.depth,
    found_by = excluded.found_by, referrer = excluded.referrer, rule = excluded.rule,
    page_type = excluded.page_type, written = excluded.written, verdict = NULL, reason = NULL
WHERE excluded.state = 'pending' AND (
    (urls.state = 'refused' AND urls.verdict IN ('out-of-scope', 'capped'))
    OR (urls.state = 'pending' AND excluded.depth < urls.depth))
"""
# A guess that a page names is no guess any more.
_NAME_GUESS = f"""
UPDATE urls SET found_by = ?1, referrer = ?2, rule = ?3
WHERE crawl_id = ?4 AND url = ?5 AND id IS NOT ?2 AND {is_guess()}
"""
_KNOWN = f"u.capture IS NOT NULL AND {IS_KEPT}"
_COUNT_KEPT = f"""
SELECT count(*) FROM json_each(?) AS wanted JOIN urls u ON u.id = wanted.value WHERE {IS_KEPT}
"""
_LEASE = f"""
SELECT u.id, u.url, u.depth, u.page_type, r.url, u.attempts, u.redirects, u.found_by, u.written,
       u.nofollow, c.etag, c.last_modified, {IS_KEPT}, p.capture IS NOT NULL, c.id,
       u.content IS p.content, u.priority
FROM urls u LEFT JOIN urls r ON r.id = u.referrer LEFT JOIN pages p ON p.url = u.url
LEFT JOIN captures c ON c.id = p.content
WHERE u.crawl_id = ? AND u.host_id = ? AND u.state = 'pending' AND {{which}}
ORDER BY u.priority, u.id LIMIT ?
"""
_SETTLE = """
UPDATE urls SET state = ?, verdict = ?, reason = ?, due_at = ?, capture = coalesce(?, capture),
    content = coalesce(?, content),
    attempts = CASE WHEN ?1 IN ('waiting', 'failed') THEN attempts + ? ELSE 0 END
WHERE id = ?
"""
# A URL with an answer keeps it: a rule only prevents another visit.
_REFUSE = f"""
UPDATE urls SET state = iif(capture IS NULL, 'refused', 'done'),
    verdict = coalesce((SELECT verdict FROM captures WHERE captures.id = urls.capture), ?),
    reason = iif(capture IS NULL, '', '{NOT_AGAIN}') || ?, due_at = NULL, attempts = 0
WHERE id = ?
"""
_CAP = re.compile(r"cap of (\d+) reached for (\S+)")
_WITH_A_PLACE = "SELECT url, page_type FROM urls WHERE crawl_id = ? AND state != 'refused'"
_LAST_FIRST = """
SELECT id, url, page_type FROM urls
WHERE crawl_id = ? AND state IN ('pending', 'waiting') AND capture IS NULL
ORDER BY priority DESC, id DESC
"""
_UNCOUNT = "UPDATE groups SET admitted = admitted - 1 WHERE crawl_id = ? AND key = ?"
_KNOW_PAGE = "INSERT OR IGNORE INTO pages (url, host_id) VALUES (?, ?)"
_NOTE_LASTMOD = """
INSERT INTO revisits (page_id, lastmod) SELECT id, ? FROM pages WHERE url = ?
ON CONFLICT (page_id) DO UPDATE SET lastmod = excluded.lastmod
"""
# A loose scan: jumps from host to host in the index instead of reading every pending URL.
_HOSTS_PENDING = """
WITH RECURSIVE next(id) AS (
    SELECT min(u.host_id) FROM urls u
    WHERE u.crawl_id = ?1 AND u.state = 'pending' AND {which} AND u.host_id > ?2
    UNION ALL
    SELECT (SELECT min(u.host_id) FROM urls u
            WHERE u.crawl_id = ?1 AND u.state = 'pending' AND {which} AND u.host_id > next.id)
    FROM next WHERE next.id IS NOT NULL
)
SELECT h.name FROM next JOIN hosts h ON h.id = next.id LIMIT ?3
"""


OnAdmitted = Callable[[str, float], None]


class SqliteFrontier:
    """See `port.Frontier`. `caps` has the maximum of admitted URLs by cap name. Every function in
    `on_admitted` is called with each URL that `add` admits, and the time."""

    def __init__(
        self,
        database: Database,
        crawl: int,
        priority: Callable[[int, float], float],
        caps: Mapping[str, int] | None = None,
        on_admitted: Sequence[OnAdmitted] = (),
    ) -> None:
        self._database = database
        self._crawl = crawl
        self._priority = priority
        self.caps = caps or {}
        self._on_admitted = on_admitted
        self.admitted = 0
        self.soonest: dict[str, float] = {}
        self.keeps_to_known = False
        self._host_id = lru_cache(maxsize=50_000)(self._look_up_host)

    def add(self, found: Iterable[Found], referrer: int | None, now: float) -> set[str]:
        hosts = set()
        for item in found:
            must_know = bool(item.groups) or bool(self._on_admitted)
            is_counted = must_know and self._is_pending(item.url)
            refusal = self._refusal(item, is_counted)
            state = UrlState.REFUSED if refusal else UrlState.PENDING
            priority = self._priority(item.depth, item.score)
            cursor = self._database.write(
                _INSERT,
                (
                    self._crawl,
                    item.url,
                    self._host_id(item.host),
                    state.value,
                    priority,
                    item.depth,
                    item.by,
                    now,
                    referrer,
                    item.rule,
                    item.page_type,
                    item.nofollow,
                    item.redirects,
                    item.written,
                    refusal[0].value if refusal else None,
                    refusal[1] if refusal else None,
                ),
            )
            if cursor.rowcount > 0 and not refusal:
                hosts.add(item.host)
                self.admitted += 1
                if priority < self.soonest.get(item.host, inf):
                    self.soonest[item.host] = priority
                if not is_counted:
                    self._count_groups(item.groups)
                    for hear in self._on_admitted:
                        hear(item.url, now)
            if not cursor.rowcount and item.admitted and item.by not in GUESSED:
                named = (item.by, referrer, item.rule, self._crawl, item.url)
                self._database.write(_NAME_GUESS, named)
            if item.lastmod is not None:
                self._database.write(_KNOW_PAGE, (item.url, self._host_id(item.host)))
                self._database.write(_NOTE_LASTMOD, (item.lastmod, item.url))
        return hosts

    def id_of(self, url: str) -> int | None:
        sql = "SELECT id FROM urls WHERE crawl_id = ? AND url = ?"
        rows = self._database.read(sql, (self._crawl, url))
        return int(rows[0][0]) if rows else None

    def _is_pending(self, url: str) -> bool:
        sql = "SELECT state FROM urls WHERE crawl_id = ? AND url = ?"
        rows = self._database.read(sql, (self._crawl, url))
        return bool(rows) and rows[0][0] == UrlState.PENDING

    def _refusal(self, item: Found, is_counted: bool) -> tuple[Verdict, str] | None:
        if not item.admitted:
            return verdict_of(item.rule), item.rule
        if is_counted:  # a URL that counts already, with a smaller depth
            return None
        for key in item.groups:
            maximum = self.caps.get(key.partition(" ")[0])
            if maximum is not None and self._admitted(key) >= maximum:
                return Verdict.CAPPED, f"cap of {maximum} reached for {key}"
        return None

    def _admitted(self, key: str) -> int:
        sql = "SELECT admitted FROM groups WHERE crawl_id = ? AND key = ?"
        rows = self._database.read(sql, (self._crawl, key))
        return int(rows[0][0]) if rows else 0

    def _count_groups(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._database.write(
                "INSERT INTO groups VALUES (?, ?, 1)"
                " ON CONFLICT DO UPDATE SET admitted = admitted + 1",
                (self._crawl, key),
            )

    def lease(self, host: str, most: int) -> list[Lease]:
        rows = self._database.read(self._only(_LEASE), (self._crawl, self._host_id(host), most))
        self.soonest.pop(host, None)
        if rows:
            self._set_state((UrlState.LEASED.value, row[0]) for row in rows)
        return [_lease_of(host, row) for row in rows]

    def settle(self, endings: Iterable[Ending]) -> None:
        refused, others = [], []
        for e in endings:
            if e.state is UrlState.REFUSED:
                refused.append((e.verdict.value, e.reason, e.url_id))
            else:
                word = (e.state.value, e.verdict.value, e.reason, e.due_at)
                others.append((*word, e.capture, e.content, e.is_blamed, e.url_id))
        self._database.write_many(_SETTLE, others)
        self._database.write_many(_REFUSE, refused)

    def count_kept(self, url_ids: Iterable[int]) -> int:
        return int(self._database.read(_COUNT_KEPT, (json.dumps([*set(url_ids)]),))[0][0])

    def still_caps(self, reason: str) -> bool:
        """Whether the cap of a refusal is not larger now."""
        match = _CAP.match(reason)
        most = self.caps.get(match[2]) if match else None
        return match is not None and most is not None and most <= int(match[1])

    def count_groups_again(self, groups_of: Callable[[str, str], Sequence[str]]) -> None:
        counts: Counter[str] = Counter()
        for url, page_type in self._database.stream(_WITH_A_PLACE, (self._crawl,)):
            counts.update(groups_of(url, page_type))
        self._database.write("DELETE FROM groups WHERE crawl_id = ?", (self._crawl,))
        rows = ((self._crawl, *count) for count in counts.items())
        self._database.write_many("INSERT INTO groups VALUES (?, ?, ?)", rows)

    def hold_to_caps(self, groups_of: Callable[[str, str], Sequence[str]]) -> int:
        sql = "SELECT key, admitted FROM groups WHERE crawl_id = ?"
        groups = self._database.read(sql, (self._crawl,))
        over = {
            key: admitted - most
            for key, admitted in groups
            if (most := self.caps.get(key.partition(" ")[0])) is not None and admitted > most
        }
        held = 0
        last_first = self._database.read(_LAST_FIRST, (self._crawl,)) if over else ()
        for url_id, url, page_type in last_first:
            keys = groups_of(url, page_type)
            full = next((key for key in keys if over.get(key, 0) > 0), None)
            if full is not None:
                most = self.caps[full.partition(" ")[0]]
                reason = f"cap of {most} reached for {full}"
                self._database.write(_REFUSE, (Verdict.CAPPED.value, reason, url_id))
                held += 1
                for key in keys:
                    over[key] = over.get(key, 0) - 1
                    self._database.write(_UNCOUNT, (self._crawl, key))
        return held

    def release(self, leases: Iterable[Lease]) -> None:
        self._set_state((UrlState.PENDING.value, lease.url_id) for lease in leases)

    def recover(self) -> int:
        return self._database.write(
            "UPDATE urls SET state = 'pending' WHERE crawl_id = ? AND state = 'leased'",
            (self._crawl,),
        ).rowcount

    def requeue(self, states: Sequence[UrlState], urls: Iterable[str] | None = None) -> int:
        sql = (
            "UPDATE urls SET state = 'pending', attempts = 0 WHERE crawl_id = ? AND state = ?"
            " AND (verdict IS NULL OR verdict NOT IN ('out-of-scope', 'capped'))"
        )
        if urls is None:
            sql = f"{sql} AND NOT {is_in_vain()}"
            rows: list[tuple[Any, ...]] = [(self._crawl, state.value) for state in states]
        else:
            sql = f"{sql} AND url = ?"
            rows = [(self._crawl, state.value, url) for url in urls for state in states]
        return sum(self._database.write(sql, row).rowcount for row in rows)

    def wake(self, now: float) -> tuple[set[str], float | None]:
        due = self._database.read(
            "SELECT u.id, h.name FROM urls u JOIN hosts h ON h.id = u.host_id "
            f"WHERE u.crawl_id = ? AND u.state = 'waiting' AND u.due_at <= ? AND {self._which()}",
            (self._crawl, now),
        )
        self._set_state((UrlState.PENDING.value, row[0]) for row in due)
        sql = (
            "SELECT min(due_at) FROM urls u"
            f" WHERE u.crawl_id = ? AND u.state = 'waiting' AND {self._which()}"
        )
        ((next_due,),) = self._database.read(sql, (self._crawl,))
        return {row[1] for row in due}, next_due

    def hosts_pending(self, after: str, most: int) -> Sequence[str]:
        start = self._host_id(after) if after else 0
        rows = self._database.read(self._only(_HOSTS_PENDING), (self._crawl, start, most))
        return [row[0] for row in rows]

    def has_pending(self, host: str) -> bool:
        sql = (
            "SELECT 1 FROM urls u"
            " WHERE u.crawl_id = ? AND u.host_id = ? AND u.state = 'pending' AND {which} LIMIT 1"
        )
        return bool(self._database.read(self._only(sql), (self._crawl, self._host_id(host))))

    def count_unfinished(self) -> int:
        rows = self._database.read(
            "SELECT (SELECT count(*) FROM urls WHERE crawl_id = ?1 AND state = 'pending')"
            " + (SELECT count(*) FROM urls WHERE crawl_id = ?1 AND state = 'leased')"
            " + (SELECT count(*) FROM urls WHERE crawl_id = ?1 AND state = 'waiting')",
            (self._crawl,),
        )
        return int(rows[0][0])

    def _which(self) -> str:
        return _KNOWN if self.keeps_to_known else "true"

    def _only(self, sql: str) -> str:
        return sql.format(which=self._which())

    def _set_state(self, rows: Iterable[tuple[str, int]]) -> None:
        self._database.write_many("UPDATE urls SET state = ? WHERE id = ?", rows)

    def _look_up_host(self, host: str) -> int:
        rows = self._database.read("SELECT id FROM hosts WHERE name = ?", (host,))
        if rows:
            return int(rows[0][0])
        cursor = self._database.write("INSERT INTO hosts (name) VALUES (?)", (host,))
        return int(cursor.lastrowid or 0)


def _lease_of(host: str, row: tuple[Any, ...]) -> Lease:
    url_id, url, depth, page_type, referrer, attempts, redirects, by, written, *rest = row
    nofollow, etag, modified, *known = rest
    return Lease(
        url_id=url_id,
        url=url,
        host=host,
        depth=depth,
        page_type=page_type,
        referrer=referrer,
        attempts=attempts,
        redirects=redirects,
        by=by,
        written=written,
        nofollow=bool(nofollow),
        validators=Validators(etag, modified) if etag or modified else None,
        is_revisit=bool(known[0]),
        was_answered=bool(known[1]),
        content=known[2],
        is_read=bool(known[3]),
        priority=known[4],
    )
