"""Both ledgers make the same rows of the same visits, column by column."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from crawl4r.crawling.ledger.port import Kept, Ledger, Taught
from crawl4r.model import Ending, Found, FoundBy, Lease, UrlState, Verdict
from tests.crawling.ledger.stores import PostgresStore, SqliteStore, Store, found, visited

EXAMPLES = int(os.environ.get("CRAWL4R_SEQUENCES", "40"))
URLS = [f"http://a.org/{number}" for number in range(8)]
TABLES = {
    "urls": (
        "SELECT u.crawl_id, u.url, u.state, u.priority, u.depth, u.found_by, u.found_at, r.url, u.rule,"
        " u.page_type, u.nofollow, u.redirects, u.attempts, u.due_at, u.verdict, u.reason, u.capture,"
        " u.content, u.written FROM urls u LEFT JOIN urls r ON r.id = u.referrer ORDER BY u.id"
    ),
    "groups": "SELECT crawl_id, key, admitted FROM groups WHERE admitted > 0 ORDER BY 1, 2",
    "tallies": "SELECT crawl_id, name, value FROM tallies WHERE crawl_id > 0 ORDER BY 1, 2",
    "pages": "SELECT url, capture, content FROM pages ORDER BY 1",
    "revisits": (
        "SELECT p.url, visits, changes, still, moving, visited_at, gone, lastmod FROM revisits r"
        " JOIN pages p ON {page_of} ORDER BY 1"
    ),
    "attempts": (
        "SELECT p.url, at, verdict, reason, status, latency_ms FROM attempts r"
        " JOIN pages p ON {page_of} ORDER BY 1, 2, 3"
    ),
}
ENDINGS = [
    (UrlState.DONE, Verdict.OK, 200),
    (UrlState.DONE, Verdict.OK, 200),
    (UrlState.DONE, Verdict.HTTP_ERROR, 404),
    (UrlState.DONE, Verdict.NOT_MODIFIED, 304),
    (UrlState.DONE, Verdict.SOFT_404, 200),
    (UrlState.DONE, Verdict.HTTP_ERROR, 503),
    (UrlState.NEEDS_BROWSER, Verdict.NEEDS_BROWSER, 200),
    (UrlState.FAILED, Verdict.NETWORK_ERROR, None),
    (UrlState.WAITING, Verdict.NETWORK_ERROR, None),
    (UrlState.REFUSED, Verdict.ROBOTS_DENIED, None),
    (UrlState.REFUSED, Verdict.CAPPED, None),
]
finds = st.builds(
    found,
    st.sampled_from([*URLS, "http://b.org/"]),
    st.integers(0, 3),
    st.sampled_from(
        [FoundBy.LINK, FoundBy.LINK, FoundBy.SITEMAP, FoundBy.PATTERN, FoundBy.PLACE, FoundBy.FEED]
    ),
    admitted=st.sampled_from([True, True, True, False]),
    rule=st.sampled_from(["", "scope: out", "depth 4", "a usual place: /sitemap.xml"]),
    page_type=st.sampled_from(["", "listing"]),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    nofollow=st.booleans(),
    groups=st.sampled_from([(), ("posts /x",), ("posts /x", "hosts a.org"), ("other",)]),
    redirects=st.integers(0, 2),
    lastmod=st.sampled_from([None, None, 7.0, 9.0]),
    written=st.sampled_from(["", "/%41"]),
)


@pytest.fixture
def both(tmp_path: Path, postgres_server: str, postgres_schema: str) -> Iterator[list[Any]]:
    with (
        closing(SqliteStore(tmp_path)) as sqlite,
        closing(PostgresStore(postgres_server, postgres_schema)) as postgres,
    ):
        yield [sqlite, postgres]


class Pair:
    """A worker of each store, which do the same."""

    def __init__(self, stores: list[Store]) -> None:
        self.stores = stores
        self.workers: list[Ledger] = []
        for store in stores:
            store.clear()
            store.begin_crawl(1)
            store.begin_crawl(2)
            self.workers.append(store.worker())

    def close(self) -> None:
        for store, worker in zip(self.stores, self.workers, strict=True):
            store.crash(worker)

    def ask(self, method: str, *values: Any) -> Any:
        one, other = (getattr(worker, method)(*values) for worker in self.workers)
        assert one == other
        return one

    def lease(self, crawl: int, most: int) -> list[tuple[Lease, Lease]]:
        one, other = (list(worker.lease(crawl, "a.org", most)) for worker in self.workers)
        assert [_told(lease) for lease in one] == [_told(lease) for lease in other]
        return list(zip(one, other, strict=True))

    def keep(self, unit: str, visits: list[tuple[Kept, Kept]], now: float) -> None:
        outcomes = []
        for place, worker in enumerate(self.workers):
            outcome = worker.keep(unit, [pair[place] for pair in visits], Taught(), now, 5.0)
            hosts = [tuple(each) for each in outcome.hosts]
            outcomes.append((list(outcome.captures), hosts, list(outcome.admitted), outcome.pages))
        assert outcomes[0] == outcomes[1]

    def compare(self) -> None:
        for name, sql in TABLES.items():
            one, other = (store.rows(sql.format(page_of=store.page_of)) for store in self.stores)
            assert one == other, name
        one, other = (
            [capture._replace(headers=[]) for capture in worker.captures_after(0, 999)]
            for worker in self.workers
        )
        assert one == other


def _told(lease: Lease) -> tuple[Any, ...]:
    """Everything but the id."""
    return tuple(getattr(lease, name) for name in Lease.__struct_fields__[1:])


def _visits(
    data: st.DataObject, crawl: int, leases: tuple[Lease, Lease], now: float
) -> tuple[Kept, Kept]:
    state, verdict, status = data.draw(st.sampled_from(ENDINGS))
    links = data.draw(st.lists(finds, max_size=5))
    facts: dict[str, Any] = {"status": status, "fetched_at": now} if status else {}
    if verdict is Verdict.OK:
        facts["sha256"] = data.draw(st.sampled_from(["aa" * 32, "bb" * 32]))
    blamed = data.draw(st.booleans())
    one, other = (
        visited(
            crawl, lease, state, verdict, links, now + 5 if state == "waiting" else None, **facts
        )
        for lease in leases
    )
    return _blame(one, blamed), _blame(other, blamed)


def _blame(kept: Kept, is_blamed: bool) -> Kept:
    ending: Ending = kept.visit.ending._replace(is_blamed=is_blamed, reason="a reason")
    visit = kept.visit
    changed = type(visit)(visit.lease, ending, visit.capture, None, visit.failure, visit.found)
    return Kept(kept.crawl, changed)


def _history(data: st.DataObject, pair: Pair) -> None:
    seeds: list[Found] = [found(url, 1) for url in URLS[:3]]
    for crawl in (1, 2):
        pair.ask("add", crawl, seeds + data.draw(st.lists(finds, max_size=6)), 1.0)
    pair.ask("claim", 9, 1.0)
    for turn in range(data.draw(st.integers(2, 5))):
        now = 10.0 + 10 * turn
        crawl = data.draw(st.sampled_from([1, 2]))
        leases = pair.lease(crawl, data.draw(st.integers(1, 4)))
        pair.keep(f"unit {turn}", [_visits(data, crawl, pairs, now) for pairs in leases], now)
        pair.ask("wake", crawl, now + 3)
        if data.draw(st.booleans()):
            pair.ask("requeue", crawl, [UrlState.DONE, UrlState.REFUSED, UrlState.FAILED])
        pair.compare()


def test_both_ledgers_make_the_same_rows(both: list[Store]) -> None:
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def try_history(data: st.DataObject) -> None:
        pair = Pair(both)
        try:
            _history(data, pair)
        finally:
            pair.close()

    try_history()
