"""A worker in a process of its own that keeps pages as fast as it can, for tests of many writers.

python -m tests.crawling.ledger.writing DSN SCHEMA NUMBER PAGES
"""

from __future__ import annotations

import random
import sys
import time

from crawl4r.crawling.ledger.port import HostClaim, Taught
from crawl4r.crawling.ledger.postgres.ledger import PostgresLedger
from crawl4r.crawling.ledger.postgres.links import CrawlRules
from crawl4r.frontier.priority import breadth_first
from crawl4r.model import Found
from tests.crawling.ledger.stores import found, visited

WRITERS = 8
AT_ONCE = 16  # visits in a unit


class Writer:
    def __init__(self, dsn: str, schema: str, number: int, pages: int) -> None:
        rules = CrawlRules(breadth_first, {"few": 5})
        self._ledger = PostgresLedger(dsn, lambda _: rules, f"writer-{number}", 60.0, schema)
        self._number, self._pages = number, pages
        self._random = random.Random(number)
        self._units = 0

    def run(self) -> None:
        host = f"w{self._number}.org"
        seeds = [found(f"http://{host}/{n}", 9) for n in range(self._pages)]
        for start in range(0, len(seeds), 500):
            self._ledger.add(1, seeds[start : start + 500], time.time())
        while True:
            claims = self._ledger.claim(1, time.time())
            if not claims and not self._ledger.unfinished(1):
                return
            for claim in claims:
                self._visit(claim)
            if not claims:
                time.sleep(0.05)

    def _visit(self, claim: HostClaim) -> None:
        while leases := self._ledger.lease(1, claim.host, AT_ONCE):
            visits = [visited(1, lease, links=self._links(lease.url)) for lease in leases]
            self._units += 1
            unit = f"{self._number}-{self._units}"
            taught = Taught(tallies=[(1, "visits", len(visits))])
            self._ledger.keep(unit, visits, taught, time.time(), 0.0)
        self._ledger.let_go([claim.host])

    def _links(self, url: str) -> list[Found]:
        """URLs that other writers find, lease and name with smaller depths at the same time."""
        draw = self._random
        known = f"http://w{draw.randrange(WRITERS)}.org/{draw.randrange(self._pages)}"
        shared = f"http://s{draw.randrange(9)}.org/{draw.randrange(10 * self._pages)}"
        few = f"http://f.org/{draw.randrange(50)}"
        return [
            found(known, draw.randrange(9)),
            found(shared, 1, admitted=False, rule="scope: shared"),
            found(few, 2, groups=("few f.org",)),
            found(f"{url}?", 1, admitted=False, rule="scope: query"),
        ]


if __name__ == "__main__":
    dsn, schema, number, pages = sys.argv[1:]
    Writer(dsn, schema, int(number), int(pages)).run()
