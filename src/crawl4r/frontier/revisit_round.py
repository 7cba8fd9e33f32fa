"""Choose the known pages to visit again with a limited budget.

The choice takes the pages that most probably changed, and a share of the pages with the oldest visits,
so that every page gets its turn.
"""

from __future__ import annotations

from crawl4r.frontier.guesses import is_in_vain
from crawl4r.frontier.refusals import NOT_AGAIN
from crawl4r.frontier.revisits import VISITED_AT, Revisits, score_of
from crawl4r.storage.crawls import CrawlNotes
from crawl4r.storage.database import Database

_SEEN_AT = f"coalesce({VISITED_AT}, u.found_at)"
_BEGUN = "revisit_round"  # a note: the begin of the current round
_BY_AGE = 10  # one visit in so many goes to the page with the oldest visit
_DONE = (
    "u.crawl_id = ?1 AND u.state = 'done'"
    " AND (u.verdict IS NULL OR u.verdict NOT IN ('out-of-scope', 'capped'))"
    f" AND coalesce(u.reason, '') NOT GLOB '{NOT_AGAIN}*' AND NOT {is_in_vain('u')}"
)
_WAITING = "u.crawl_id = ?1 AND u.state IN ('pending', 'waiting') AND u.capture IS NOT NULL"
# SQLite sorts large sets in a file, and keeps only the wanted rows.
_QUEUE = """
UPDATE urls SET state = 'pending', attempts = 0 WHERE id IN (
    SELECT u.id FROM urls u LEFT JOIN pages p ON p.url = u.url
    LEFT JOIN revisits r ON r.page_id = p.id WHERE {done}
    ORDER BY {order} LIMIT ?2)
"""
_LIKELIEST = _QUEUE.format(
    done=_DONE,
    order=f"score(r.changes, r.still, r.moving, {_SEEN_AT}, r.gone, r.lastmod) DESC,"
    f" {_SEEN_AT}, u.id",
)
_OLDEST = _QUEUE.format(done=_DONE, order=f"{_SEEN_AT}, u.id")


class RevisitRound:
    """A crawl's refresh with a budget. Changes become durable when the owner commits."""

    def __init__(self, database: Database, crawl: int) -> None:
        self._database = database
        self._crawl = crawl
        self._notes = CrawlNotes(database, crawl)

    def known(self) -> int:
        """The number of pages to choose from, including pending ones."""
        return self._count(_DONE) + self._count(_WAITING)

    def begin(self, most: int, now: float) -> int:
        """Queue pages until `most` wait; returns the number of added pages.

        If an interrupted round exists, it continues and no page is added.
        """
        left = self._count(_WAITING)
        if left and self._notes.get(_BEGUN):
            return 0
        room = max(0, most - left)
        by_age = -(-room // _BY_AGE) if room > 1 else 0
        rates = Revisits(self._database).rates()
        self._database.define("score", 6, lambda *row: score_of(rates, now, *row))
        added = self._database.write(_LIKELIEST, (self._crawl, room - by_age)).rowcount
        added += self._database.write(_OLDEST, (self._crawl, by_age)).rowcount
        self._notes.put(_BEGUN, str(now))
        return added

    def end(self) -> None:
        """Drop the rest of the round; the next one chooses again."""
        self._notes.forget(_BEGUN)

    def _count(self, which: str) -> int:
        (row,) = self._database.read(f"SELECT count(*) FROM urls u WHERE {which}", (self._crawl,))
        return int(row[0])
