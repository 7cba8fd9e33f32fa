"""logs/<role>_metrics.csv: what is durable at a moment, a row for each number.

Tallies grow over the life of the workspace and gauges say how it stands. Both are read from state.db
after a commit: what a crash would take away is never counted. All `ended_` rows of a moment add up to
`visits`, and so do those of `visit_classes.ANSWERED`; the gauges add up to `known`.
"""

from __future__ import annotations

from pathlib import Path

from crawl4r.archive.visit_classes import ANSWERED, ENDED, RETRIES, VISITS
from crawl4r.clock import iso_time
from crawl4r.formats.csv_line import lines_of
from crawl4r.storage.database import Database
from crawl4r.storage.line_file import LineFile
from crawl4r.storage.tables import Notes

HEADER = lines_of([("timestamp", "metric", "value")])
# Of the many ways in which visits end, those have rows that happened.
TALLIES = (VISITS, RETRIES, "pages", "bytes", *ANSWERED)
# By the state that they count. The last one ends a group of rows; all of them add up to `known`.
GAUGES = {
    "needs_browser": "needs-browser",
    "pending": "pending",
    "waiting": "waiting",
    "failed": "failed",
    "refused": "refused",
    "in_flight": "leased",
}
_LAST = f",{list(GAUGES)[-1]},".encode()
# Counting pending, waiting and leased URLs reads the frontier's own small indexes. Only who counts the
# others every few seconds needs the like for them, and so only then they are made.
_INDEXES = [
    f"CREATE INDEX IF NOT EXISTS urls_{state} ON urls(id) WHERE state = '{GAUGES[state]}'"
    for state in ("failed", "refused", "needs_browser")
]


class MetricsLog:
    """Append with `write`. On opening, a torn group of rows is cut."""

    def __init__(self, path: Path, database: Database) -> None:
        self._database = database
        self._notes = Notes(database)
        for index in _INDEXES:
            database.write(index)
        database.commit()
        self._file = LineFile(path, HEADER)
        _, end = self._file.last_line(_ends_a_group)
        self._file.cut(end)

    def write(self, now: float) -> None:
        """Commit, and add a row for each metric; `now` is in epoch seconds."""
        self._database.commit()
        stamp, tallies = iso_time(now), self._notes.tallies()
        rows = [(stamp, name, tallies.get(name, 0)) for name in TALLIES]
        rows += [(stamp, name, tallies[name]) for name in ENDED if name in tallies]
        rows += [(stamp, name, count) for name, count in self._gauges().items()]
        self._file.append(lines_of(rows))

    def close(self) -> None:
        self._file.close()

    def _gauges(self) -> dict[str, int]:
        """Of the URLs; they are numbered and never deleted, so the last number counts them."""
        (row,) = self._database.read("SELECT coalesce(max(id), 0) FROM urls")
        known = int(row[0])
        counts = {name: self._count(state) for name, state in GAUGES.items()}
        return {"known": known, "done": known - sum(counts.values()), **counts}

    def _count(self, state: str) -> int:
        # The state stands in the statement: a parameter would hide from SQLite which index fits.
        (row,) = self._database.read(f"SELECT count(*) FROM urls WHERE state = '{state}'")
        return int(row[0])


def _ends_a_group(line: bytes) -> bool:
    _, name, value = line.partition(_LAST)
    return bool(name) and value.isdigit()
