"""Add found URLs to the table `urls`, with a handful of statements however many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from crawl4r.crawling.ledger.postgres.links import (
    Admitted,
    CrawlRules,
    Group,
    LinkChanges,
    LinkMention,
    Name,
    UrlRow,
    groups_to_lock,
    key_of,
)
from crawl4r.crawling.ledger.postgres.session import as_rows
from crawl4r.frontier.guesses import is_guess

if TYPE_CHECKING:
    import psycopg

_READ = """
select w.place, u.id, u.state, u.verdict, u.depth, u.found_by, u.rule
from unnest(%s::bigint[], %s::uuid[]) with ordinality as w (crawl_id, key, place)
join urls u on u.crawl_id = w.crawl_id and u.key = w.key
"""
_KNOWN_COLUMNS = ("state", "verdict", "depth", "found_by", "rule")
# Locks the rows until the end of the transaction, so that the places below a cap are given once.
_LOCK_GROUPS = """
insert into groups select w.crawl_id, w.key, 0
from json_to_recordset(%s::json) as w (crawl_id bigint, key text) order by 1, 2
on conflict (crawl_id, key) do update set admitted = groups.admitted
returning crawl_id, key, admitted
"""
_COUNT_GROUPS = """
insert into groups select w.crawl_id, w.key, w.more
from json_to_recordset(%s::json) as w (crawl_id bigint, key text, more bigint) order by 1, 2
on conflict (crawl_id, key) do update set admitted = groups.admitted + excluded.admitted
"""
# Rows are written in one order by all workers, who may add the same ones: else each of two could wait
# for the other. Their ids still grow in the order of the mentions.
_HOSTS = """
with new as materialized (
    select nextval('urls_id_seq') as number, n.* from json_populate_recordset(null::urls, %s::json) n),
hosts_too as (
    insert into hosts (name) select distinct host from new where state = 'pending' order by 1
    on conflict do nothing)
"""
_COLUMNS = (
    "crawl_id, key, url, host, state, priority, depth, found_by, found_at, referrer, rule, page_type,"
    " nofollow, redirects, written, verdict, reason"
)
_INSERT = f"""
{_HOSTS}
insert into urls (id, {_COLUMNS}) select number, {_COLUMNS} from new order by crawl_id, key
on conflict (crawl_id, key) do nothing returning crawl_id, replace(key::text, '-', '')
"""
_AGAIN = f"""
{_HOSTS}
update urls u set state = n.state, priority = n.priority, depth = n.depth, found_by = n.found_by,
    referrer = n.referrer, rule = n.rule, page_type = n.page_type, written = n.written,
    verdict = null, reason = null
from new n where u.id = n.id and (
    (u.state = 'refused' and u.verdict in ('out-of-scope', 'capped'))
    or (u.state = 'pending' and n.depth < u.depth))
"""
_NAMED = f"""
update urls u set found_by = n.found_by, referrer = n.referrer, rule = n.rule
from json_populate_recordset(null::urls, %s::json) n where u.id = n.id and {is_guess("u")}
"""
_NOTE_LASTMOD = """
with said as materialized (
    select * from json_to_recordset(%s::json) as s (key uuid, url text, host text, lastmod float8)),
known as (
    insert into pages (key, url, host) select key, url, host from said order by key
    on conflict do nothing)
insert into revisits (page, lastmod) select key, lastmod from said order by key
on conflict (page) do update set lastmod = excluded.lastmod
"""


class Added(Struct):
    """What mentions added."""

    admitted: Counter[int] = field(default_factory=Counter)  # by place
    hosts: set[tuple[int, str]] = field(default_factory=set)


def add_mentions(
    connection: psycopg.Connection[Any],
    mentions: Sequence[LinkMention],
    rules_of: Callable[[int], CrawlRules],
    now: float,
) -> Added:
    """Apply the mentions in their order, as `port.Frontier.add` describes it."""
    added = Added()
    left = mentions
    while left:
        changes = _changes(connection, left, rules_of, now)
        missed = _insert(connection, changes.new())
        _update(connection, changes)
        admitted = [each for each in changes.admitted if each.mention.name not in missed]
        for mention, _ in admitted:
            added.admitted[mention.place] += 1
            added.hosts.add((mention.crawl, mention.found.host))
        _count(connection, admitted)
        # Another worker has added them since they were looked up: now they are known.
        left = [mention for mention in left if mention.name in missed]
    _note_lastmod(connection, mentions)
    return added


def _changes(
    connection: psycopg.Connection[Any],
    mentions: Sequence[LinkMention],
    rules_of: Callable[[int], CrawlRules],
    now: float,
) -> LinkChanges:
    rows = _read(connection, {mention.name for mention in mentions})
    counts: dict[Group, int] = {}
    if groups := groups_to_lock(mentions, rows, rules_of):
        asked = as_rows({"crawl_id": crawl, "key": key} for crawl, key in groups)
        locked = connection.execute(_LOCK_GROUPS, (asked,)).fetchall()
        counts = {(crawl, key): admitted for crawl, key, admitted in locked}
        # What other workers counted before they gave the lock away is not to be counted again.
        rows = _read(connection, {mention.name for mention in mentions})
    changes = LinkChanges(rows, counts, rules_of, now)
    for mention in mentions:
        changes.apply(mention)
    return changes


def _read(connection: psycopg.Connection[Any], names: Collection[Name]) -> dict[Name, UrlRow]:
    wanted = list(names)
    crawls = "{" + ",".join(str(crawl) for crawl, _ in wanted) + "}"
    keys = "{" + ",".join(key for _, key in wanted) + "}"
    rows = {}
    for place, number, *values in connection.execute(_READ, (crawls, keys)):
        rows[wanted[place - 1]] = UrlRow(number, dict(zip(_KNOWN_COLUMNS, values, strict=True)))
    return rows


def _insert(connection: psycopg.Connection[Any], new: Sequence[UrlRow]) -> set[Name]:
    """Add rows; returns the names of those that are there already."""
    if not new:
        return set()
    cursor = connection.execute(_INSERT, (as_rows(row.values for row in new),))
    if cursor.rowcount == len(new):
        return set()
    names = {(row.values["crawl_id"], row.values["key"]) for row in new}
    return names - set(cursor.fetchall())


def _update(connection: psycopg.Connection[Any], changes: LinkChanges) -> None:
    for change, sql in (("again", _AGAIN), ("named", _NAMED)):
        if rows := changes.of(change):
            values = as_rows(row.values | {"id": row.id} for row in rows)
            connection.execute(sql, (values,))


def _count(connection: psycopg.Connection[Any], admitted: Iterable[Admitted]) -> None:
    more: Counter[Group] = Counter()
    for mention, groups in admitted:
        more.update((mention.crawl, group) for group in groups)
    if more:
        rows = ({"crawl_id": crawl, "key": key, "more": n} for (crawl, key), n in more.items())
        connection.execute(_COUNT_GROUPS, (as_rows(rows),))


def _note_lastmod(connection: psycopg.Connection[Any], mentions: Iterable[LinkMention]) -> None:
    """Note when pages changed, as sitemaps and feeds say; the last word counts."""
    said = {
        mention.key: {
            "key": mention.key,
            "url": mention.found.url,
            "host": mention.found.host,
            "lastmod": mention.found.lastmod,
        }
        for mention in mentions
        if mention.found.lastmod is not None
    }
    if said:
        connection.execute(_NOTE_LASTMOD, (as_rows(said.values()),))


def mentions_of(
    crawl: int, place: int, referrer: int | None, found: Iterable[Any]
) -> list[LinkMention]:
    return [LinkMention(crawl, key_of(item.url), place, referrer, item) for item in found]
