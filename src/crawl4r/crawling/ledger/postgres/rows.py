"""Leases and captures as PostgreSQL has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from crawl4r.errors import StorageDamaged
from crawl4r.frontier.kept import IS_KEPT
from crawl4r.model import Capture, Lease, Validators, Verdict

LEASE = f"""
with best as (
    select u.id, u.url, u.depth, u.page_type, r.url as referrer, u.attempts, u.redirects, u.found_by,
        u.written, u.nofollow, c.etag, c.last_modified, {IS_KEPT} as is_kept,
        p.capture is not null as was_answered, c.number,
        u.content is not distinct from p.content as is_read, u.priority
    from urls u left join urls r on r.id = u.referrer left join pages p on p.key = u.key
    left join captures c on c.number = p.content
    where u.crawl_id = %s and u.host = %s and u.state = 'pending'
        and (%s or (u.capture is not null and {IS_KEPT}))
    order by u.priority, u.id limit %s
),
taken as (
    update urls u set state = 'leased' from best b where u.id = b.id and u.state = 'pending'
    returning u.id
)
select b.* from best b join taken using (id) order by b.priority, b.id
"""
CAPTURES_AFTER = """
select p.url, c.fetched_at, c.status, c.verdict, c.reason, encode(c.sha256, 'hex'), c.bytes,
    c.content_type, c.encoding, c.headers, c.etag, c.last_modified, c.page_type, c.depth, c.referrer,
    c.latency_ms, c.retries, c.proxy, c.http_version, c.address, c.location, c.request, c.crawl_id,
    c.number
from captures c join pages p on p.key = c.page where c.number > %s order by c.number limit %s
"""


def lease_of(host: str, row: Sequence[Any]) -> Lease:
    url_id, url, depth, page_type, referrer, attempts, redirects, by, written, *rest = row
    nofollow, etag, modified, is_kept, was_answered, content, is_read, priority = rest
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
        validators=Validators(etag, modified) if etag or modified else None,
        written=written,
        nofollow=nofollow,
        is_revisit=is_kept,
        was_answered=was_answered,
        content=content,
        priority=priority,
        is_read=is_read,
    )


def capture_of(row: Sequence[Any]) -> Capture:
    fields = list(row)
    try:
        fields[3] = Verdict(fields[3])
        fields[9] = [(str(name), str(value)) for name, value in json.loads(fields[9])]
    except (ValueError, TypeError) as problem:
        raise StorageDamaged(f"PostgreSQL: capture {row[-1]} of {row[0]} is damaged") from problem
    return Capture(*fields)
