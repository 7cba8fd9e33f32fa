"""Which known pages are visited again, when there is time for some of them only?

Those that are likeliest to have changed; and, so that nobody is forgotten, a share of those that were
not visited for longest.
"""

from __future__ import annotations

from crawl4r.frontier.guesses import is_in_vain
from crawl4r.frontier.refusals import NOT_AGAIN
from crawl4r.frontier.revisits import VISITED_AT, Revisits, score_of
from crawl4r.storage.database import Database
from crawl4r.storage.tables import Notes

_BEGUN = "revisit_round"  # a note: when the round that is under way began
_BY_AGE = 10  # one visit in so many goes to what was not visited for longest
_DONE = (
    "u.state = 'done' AND (u.verdict IS NULL OR u.verdict NOT IN ('out-of-scope', 'capped'))"
    f" AND coalesce(u.reason, '') NOT GLOB '{NOT_AGAIN}*' AND NOT {is_in_vain('u')}"
)
_WAITING = "u.state IN ('pending', 'waiting') AND u.capture IS NOT NULL"
# SQLite sorts beyond its cache in a file, and keeps no more rows than are wanted.
_QUEUE = """
UPDATE urls SET state = 'pending', attempts = 0 WHERE id IN (
    SELECT u.id FROM urls u LEFT JOIN revisits r ON r.url_id = u.id WHERE {done}
    ORDER BY {order} LIMIT ?)
"""
_LIKELIEST = _QUEUE.format(
    done=_DONE,
    order=f"score(r.changes, r.still, r.moving, {VISITED_AT}, r.gone, r.lastmod) DESC,"
    f" {VISITED_AT}, u.id",
)
_OLDEST = _QUEUE.format(done=_DONE, order=f"{VISITED_AT}, u.id")


class RevisitRound:
    """A refresh with a budget. Nothing here is durable before the owner commits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._notes = Notes(database)

    def known(self) -> int:
        """How many pages there are to choose from, those that wait already included."""
        return self._count(_DONE) + self._count(_WAITING)

    def begin(self, most: int, now: float) -> int:
        """Queue pages until `most` wait; how many were added.

        A round that was cut short goes on instead, and none are.
        """
        left = self._count(_WAITING)
        if left and self._notes.get(_BEGUN):
            return 0
        room = max(0, most - left)
        by_age = -(-room // _BY_AGE) if room > 1 else 0
        rates = Revisits(self._database).rates()
        self._database.define("score", 6, lambda *row: score_of(rates, now, *row))
        added = self._database.write(_LIKELIEST, (room - by_age,)).rowcount
        added += self._database.write(_OLDEST, (by_age,)).rowcount
        self._notes.put(_BEGUN, str(now))
        return added

    def end(self) -> None:
        """What is left of the round is left for good: the next one chooses anew."""
        self._notes.forget(_BEGUN)

    def _count(self, which: str) -> int:
        (row,) = self._database.read(f"SELECT count(*) FROM urls u WHERE {which}")
        return int(row[0])
