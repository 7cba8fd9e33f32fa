"""Write what visits gave: captures with their numbers, endings, attempts, and what was learned."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from crawl4r.archive.captures import CapturedAnswer, with_wait
from crawl4r.crawling.ledger.port import Kept, Taught
from crawl4r.crawling.ledger.postgres.links import key_of
from crawl4r.crawling.ledger.postgres.session import as_rows
from crawl4r.crawling.ledger.seen_again import revisit_in
from crawl4r.frontier.kept import IS_KEPT
from crawl4r.frontier.refusals import NOT_AGAIN
from crawl4r.model import Capture, UrlState, Verdict

if TYPE_CHECKING:
    import psycopg

_ENDINGS = """
wanted as materialized (
    select * from json_to_recordset(%s::json) as w (id bigint, state text, verdict text, reason text,
        due_at float8, capture bigint, content bigint, blame integer))
"""
_MORE_PAGES = """
select a.crawl_id, sum(a.is_kept::int - b.is_kept::int)::bigint from after a join before b using (id)
group by a.crawl_id having sum(a.is_kept::int - b.is_kept::int) <> 0
"""
_BEFORE = f"before as (select u.id, {IS_KEPT} as is_kept from urls u join wanted w using (id))"
# A URL with an answer keeps it: a rule only prevents another visit.
_REFUSE = f"""
with {_ENDINGS}, {_BEFORE}, after as (
    update urls u set state = case when u.capture is null then 'refused' else 'done' end,
        verdict = coalesce((select c.verdict from captures c where c.number = u.capture), w.verdict),
        reason = case when u.capture is null then '' else '{NOT_AGAIN}' end || w.reason,
        due_at = null, attempts = 0
    from wanted w where u.id = w.id returning u.id, u.crawl_id, {IS_KEPT} as is_kept)
{_MORE_PAGES}
"""
_SETTLE = f"""
with {_ENDINGS}, {_BEFORE}, kept as (
    insert into captures select * from json_populate_recordset(null::captures, %s::json)),
known as (
    insert into pages select * from json_populate_recordset(null::pages, %s::json) order by 1
    on conflict (key) do update set capture = excluded.capture,
        content = coalesce(excluded.content, pages.content)),
after as (
    update urls u set state = w.state, verdict = w.verdict, reason = w.reason, due_at = w.due_at,
        capture = coalesce(w.capture, u.capture), content = coalesce(w.content, u.content),
        attempts = case when w.state in ('waiting', 'failed') then u.attempts + w.blame else 0 end
    from wanted w where u.id = w.id returning u.id, u.crawl_id, {IS_KEPT} as is_kept)
{_MORE_PAGES}
"""
# Its row is locked until the commit, so that numbers grow in the order of commits.
_NUMBERS = "update capture_numbers set last = last + %s returning last"
_CONFIRMED = """
select w.place, encode(c.sha256, 'hex')
from json_to_recordset(%s::json) as w (place integer, content bigint, page uuid)
join captures c on c.number = coalesce(w.content, (select p.content from pages p where p.key = w.page))
"""
# An overloaded or blocking host tells nothing about the page.
_ANSWERS_BEFORE = """
select w.place, a.fetched_at, a.status, a.verdict, encode(a.sha256, 'hex'), a.location
from json_to_recordset(%s::json) as w (place integer, page uuid), lateral (
    select * from captures c where c.page = w.page
        and c.status < 500 and c.status not in (408, 425, 429) and c.verdict <> 'blocked'
    order by c.fetched_at desc, c.number desc limit 1) a
"""
_NOTE_REVISITS = """
insert into revisits as r (page, visits, changes, still, moving, visited_at, gone)
select w.page, 1, w.is_changed::int, case when w.is_changed then 0 else w.gap end,
    case when w.is_changed then w.gap else 0 end, w.at, w.gone
from json_to_recordset(%s::json)
    as w (page uuid, is_changed boolean, gap float8, at float8, gone integer)
on conflict (page) do update set visits = r.visits + 1, changes = r.changes + excluded.changes,
    still = r.still + excluded.still, moving = r.moving + excluded.moving,
    visited_at = excluded.visited_at,
    gone = case when excluded.gone > 0 then greatest(r.gone + 1, excluded.gone) else 0 end
"""
_ATTEMPTS = """
with tried as materialized (
    select * from json_to_recordset(%s::json) as t (page uuid, url text, host text, at float8,
        verdict text, reason text, status integer, latency_ms integer)),
known as (
    insert into pages (key, url, host) select distinct page, url, host from tried order by 1
    on conflict do nothing)
insert into attempts select page, at, verdict, reason, status, latency_ms from tried
"""
_MEMORIES = """
insert into hosts (name, next_at, delay, failures, openings, open_until)
select m.host, m.next_at, m.delay, m.failures, m.openings, m.open_until
from json_to_recordset(%s::json) as m (host text, next_at float8, delay float8, failures integer,
    openings integer, open_until float8) order by 1
on conflict (name) do update set next_at = excluded.next_at, delay = excluded.delay,
    failures = excluded.failures, openings = excluded.openings, open_until = excluded.open_until
"""
_ROBOTS = """
insert into robots select r.origin, r.outcome, r.status, decode(r.body, 'base64'), r.fetched_at,
    r.expires_at
from json_to_recordset(%s::json) as r (origin text, outcome text, status integer, body text,
    fetched_at float8, expires_at float8) order by 1
on conflict (origin) do update set outcome = excluded.outcome, status = excluded.status,
    body = excluded.body, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at
"""
_LESSONS = """
insert into lessons select * from json_populate_recordset(null::lessons, %s::json) order by 1, 2, 3, 4
on conflict (crawl_id, host, kind, key) do update set lesson = excluded.lesson
"""
_FORGET_LESSONS = """
delete from lessons l using json_populate_recordset(null::lessons, %s::json) w
where (l.crawl_id, l.host, l.kind, l.key) = (w.crawl_id, w.host, w.kind, w.key)
"""
_TALLIES = """
insert into tallies select * from json_populate_recordset(null::tallies, %s::json) order by 1, 2
on conflict (crawl_id, name) do update set value = tallies.value + excluded.value
"""


def refuse(connection: psycopg.Connection[Any], visits: Iterable[Kept]) -> Counter[int]:
    """End the leases of refused URLs; returns by crawl how many pages it has now that it had not."""
    endings = [
        _ending_row(kept, None) for kept in visits if kept.visit.ending.state is UrlState.REFUSED
    ]
    return _pages(connection.execute(_REFUSE, (as_rows(endings),)) if endings else ())


def settle(
    connection: psycopg.Connection[Any], visits: Sequence[Kept], captures: Sequence[Capture | None]
) -> tuple[list[int], Counter[int]]:
    """Number and record the captures and end the other leases; returns the numbers, and the pages."""
    count = sum(capture is not None for capture in captures)
    last = count and connection.execute(_NUMBERS, (count,)).fetchall()[0][0]
    numbers = list(range(last - count + 1, last + 1))
    left = iter(numbers)
    endings, rows = [], []
    pages: dict[str, dict[str, Any]] = {}
    for kept, capture in zip(visits, captures, strict=True):
        number = next(left) if capture else None
        content = number if capture and capture.verdict is Verdict.OK else None
        if kept.visit.ending.state is not UrlState.REFUSED:
            endings.append(_ending_row(kept, number, content))
        if capture:
            row = _capture_row(capture, number)
            rows.append(row)
            before = pages.get(row["page"], {"content": None})
            pages[row["page"]] = {
                "key": row["page"],
                "url": capture.url,
                "host": kept.visit.lease.host,
                "capture": number,
                "content": content or before["content"],
            }
    parameters = (as_rows(endings), as_rows(rows), as_rows(pages.values()))
    return numbers, _pages(connection.execute(_SETTLE, parameters))


def _pages(rows: Iterable[tuple[int, int]]) -> Counter[int]:
    return Counter(dict(rows))


def _ending_row(kept: Kept, capture: int | None, content: int | None = None) -> dict[str, Any]:
    ending = kept.visit.ending
    return {
        "id": ending.url_id,
        "state": ending.state,
        "verdict": ending.verdict,
        "reason": ending.reason,
        "due_at": ending.due_at,
        "capture": capture or ending.capture,  # an answer of another crawl has a number already
        "content": content or ending.content,
        "blame": int(ending.is_blamed),
    }


def _capture_row(capture: Capture, number: int | None) -> dict[str, Any]:
    row = capture._asdict()
    del row["url"], row["id"]
    row["number"] = number
    row["page"] = key_of(capture.url)
    row["crawl_id"] = row.pop("crawl")
    row["sha256"] = f"\\x{capture.sha256}" if capture.sha256 else None
    row["headers"] = json.dumps(capture.headers)  # in ASCII: a header may hold any byte
    return row


def captures_in(
    connection: psycopg.Connection[Any], visits: Sequence[Kept]
) -> list[Capture | None]:
    """The capture of each visit: of its crawl, and a 304 with the hash that it confirms."""
    captures = [
        capture._replace(crawl=kept.crawl) if (capture := kept.visit.capture) else None
        for kept in visits
    ]
    unnamed = [
        {"place": place, "content": visits[place].visit.lease.content, "page": key_of(capture.url)}
        for place, capture in enumerate(captures)
        if capture and capture.verdict is Verdict.NOT_MODIFIED and capture.sha256 is None
    ]
    if unnamed:
        for place, sha256 in connection.execute(_CONFIRMED, (as_rows(unnamed),)):
            capture = captures[place]
            captures[place] = capture and capture._replace(sha256=sha256)
    return captures


def note_revisits(
    connection: psycopg.Connection[Any], visits: Sequence[Kept], captures: Sequence[Capture | None]
) -> None:
    """Learn change rates from pages with this and an earlier answer; before the captures are added."""
    known = [
        {"place": place, "page": key_of(capture.url)}
        for place, capture in enumerate(captures)
        if capture and visits[place].visit.lease.was_answered
    ]
    if not known:
        return
    rows: dict[str, dict[str, Any]] = {}
    for place, at, status, verdict, *said in connection.execute(_ANSWERS_BEFORE, (as_rows(known),)):
        capture = captures[place]
        assert capture is not None
        before = CapturedAnswer(at, status, Verdict(verdict), *said)
        if revisit := revisit_in(visits[place].visit, capture, before):
            page = key_of(revisit.url)
            # Two crawls that visit a page at the same time see one change of it.
            rows[page] = {
                "page": page,
                "is_changed": revisit.is_changed,
                "gap": max(0.0, revisit.gap),  # a clock may have been set back
                "at": revisit.at,
                "gone": revisit.gone,
            }
    connection.execute(_NOTE_REVISITS, (as_rows(rows.values()),))


def add_attempts(
    connection: psycopg.Connection[Any], visits: Iterable[Kept], offset: float, now: float
) -> None:
    """Record visits without an answer; see `Captures.add_attempts`."""
    rows = [
        {
            "page": key_of(kept.visit.lease.url),
            "url": kept.visit.lease.url,
            "host": kept.visit.lease.host,
            "at": failure.sent_at + offset if failure.sent_at else now,
            "verdict": failure.verdict,
            "reason": with_wait(failure),
            "status": failure.status,
            "latency_ms": round(failure.latency * 1000),
        }
        for kept in visits
        if (failure := kept.visit.failure)
    ]
    if rows:
        connection.execute(_ATTEMPTS, (as_rows(rows),))


def learn(connection: psycopg.Connection[Any], taught: Taught) -> None:
    """Store what was learned of hosts; of two findings about the same, the last."""
    if memories := {memory.host: memory for memory in taught.hosts}:
        connection.execute(_MEMORIES, (as_rows(memories.values()),))
    if robots := {record.origin: record for record in taught.robots}:
        connection.execute(_ROBOTS, (as_rows(robots.values()),))
    lessons: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    newest = {(each.crawl, each.host, each.kind, each.key): each.value for each in taught.lessons}
    for (crawl, host, kind, key), value in newest.items():
        row = {"crawl_id": crawl, "host": host, "kind": kind, "key": key}
        lessons[value is None].append(row | {"lesson": json.dumps(value)})
    for is_over, sql in ((True, _FORGET_LESSONS), (False, _LESSONS)):
        if rows := lessons[is_over]:
            connection.execute(sql, (as_rows(rows),))


def count(connection: psycopg.Connection[Any], tallies: Iterable[tuple[int, str, int]]) -> None:
    """Add to totals. Their rows are locked until the commit: this comes last."""
    more: Counter[tuple[int, str]] = Counter()
    for crawl, name, value in tallies:
        more[crawl, name] += value
    rows = [
        {"crawl_id": crawl, "name": name, "value": value} for (crawl, name), value in more.items()
    ]
    if rows:
        connection.execute(_TALLIES, (as_rows(rows),))
