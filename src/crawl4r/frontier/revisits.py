"""Record the visits to known pages, one row per page, and estimate their next changes.

A page gets a row at its second visit, or when a sitemap or feed states its last change: the first crawl
of a site writes no rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crawl4r.errors import StorageDamaged
from crawl4r.frontier.change_rate import ChangeRates, WatchedPage, learn
from crawl4r.storage.database import Database

# The time of the last visit, in a statement with the tables p and r; NULL before the first.
VISITED_AT = "coalesce(r.visited_at, (SELECT fetched_at FROM captures WHERE id = p.capture))"
_NOTE = """
INSERT INTO revisits (page_id, visits, changes, still, moving, visited_at, gone)
VALUES ((SELECT id FROM pages WHERE url = ?), 1, ?, ?, ?, ?, ?)
ON CONFLICT (page_id) DO UPDATE SET
    visits = visits + 1, changes = changes + excluded.changes, still = still + excluded.still,
    moving = moving + excluded.moving, visited_at = excluded.visited_at,
    gone = CASE WHEN excluded.gone THEN max(gone + 1, excluded.gone) ELSE 0 END
"""
_CORRECT = """
UPDATE revisits SET changes = changes - 1, still = still + ?1, moving = max(0, moving - ?1),
    corrected = ?2
WHERE page_id = (SELECT id FROM pages WHERE url = ?3) AND changes > 0 AND corrected < ?2
"""
# A pseudo-random sample, the same each time.
_SAMPLE = """
SELECT visits, changes, still, moving FROM revisits
WHERE visits > 0 AND (page_id * 2654435761) % 4294967296 < ?
"""
_PAGES = 1_000  # the size of the sample for the common rates
_UNLIKELY = 0.1  # factor of the probability when the site states no change


class Revisit(NamedTuple):
    """A visit to a page with an earlier answer."""

    url: str
    at: float  # epoch seconds
    gap: float  # seconds since the previous answer
    is_changed: bool
    gone: int  # answers 404 or 410 in a row, by this and the previous answer


class Revisits:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, visit: Revisit) -> None:
        gap = max(0.0, visit.gap)  # a clock may have been set back
        still, moving = (0.0, gap) if visit.is_changed else (gap, 0.0)
        self._database.write(
            _NOTE, (visit.url, visit.is_changed, still, moving, visit.at, visit.gone)
        )

    def correct(self, url: str, capture: int, gap: float) -> None:
        """Correct a visit: this capture had other bytes but the same text, so it was no change."""
        self._database.write(_CORRECT, (max(0.0, gap), capture, url))

    def rates(self) -> ChangeRates:
        """The change rates of this workspace, from a sample of its pages."""
        (row,) = self._database.read("SELECT count(*) FROM revisits WHERE visits > 0")
        part = min(1.0, _PAGES / row[0]) if row[0] else 1.0
        rows = self._database.read(_SAMPLE, (int(part * 2**32),))
        return learn([WatchedPage(*row) for row in rows])

    def outlook(self, url: str, now: float) -> dict[str, Any] | None:
        """The estimate for the next visit to a URL; None for one without an answer."""
        rows = self._database.read(
            "SELECT coalesce(r.visits, 0), coalesce(r.changes, 0), coalesce(r.still, 0),"
            f" coalesce(r.moving, 0), {VISITED_AT}, coalesce(r.gone, 0), r.lastmod FROM pages p"
            " LEFT JOIN revisits r ON r.page_id = p.id WHERE p.url = ? AND p.capture IS NOT NULL",
            (url,),
        )
        if not rows:
            return None
        try:
            return _tell(self.rates(), now, *rows[0])
        except (TypeError, ValueError, OverflowError) as problem:
            raise StorageDamaged(f"state.db: what is known of {url} is damaged") from problem


def _tell(
    rates: ChangeRates,
    now: float,
    visits: int,
    changes: int,
    still: float,
    moving: float,
    visited_at: float,
    gone: int,
    lastmod: float | None,
) -> dict[str, Any]:
    seconds = rates.seconds_between(changes, still, moving)
    score = score_of(rates, now, changes, still, moving, visited_at, gone, lastmod)
    return {
        "visits": visits,
        "changes": changes,
        "seconds_between_changes": round(seconds, 3),
        "probability": round(min(1.0, score), 6),
        "visited_at": visited_at,
        "due_at": visited_at + seconds,
        "gone": gone,
        "lastmod": lastmod,
    }


def score_of(
    rates: ChangeRates,
    now: float,
    changes: int | None,
    still: float | None,
    moving: float | None,
    visited_at: float,
    gone: int | None,
    lastmod: float | None,
) -> float:
    """The value of a visit: the probability that the page has changed; plus 1 if the site states a
    change, or if a first 404 or 410 needs a second one."""
    chance = rates.chance(changes or 0, still or 0.0, moving or 0.0, now - visited_at)
    if gone == 1 or (lastmod is not None and lastmod > visited_at):
        return 1.0 + chance
    return chance * _UNLIKELY if gone or lastmod is not None else chance
