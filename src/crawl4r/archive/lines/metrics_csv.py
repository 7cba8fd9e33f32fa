"""logs/<role>_metrics.csv: counts of durable data over time, a row for each number.

Tallies grow over the life of the workspace, gauges show its current state. Both are read from state.db
after a commit, so they count only durable data. At any time all `ended_` rows add up to `visits`, and
so do those of `visit_classes.ANSWERED`; the gauges add up to `known`.
"""

from __future__ import annotations

from pathlib import Path

from crawl4r.archive.visit_classes import ANSWERED, ENDED, RETRIES, VISITS
from crawl4r.clock import iso_time
from crawl4r.formats.csv_line import lines_of
from crawl4r.storage.crawls import count_urls
from crawl4r.storage.database import Database
from crawl4r.storage.line_file import LineFile
from crawl4r.storage.tables import Notes

HEADER = lines_of([("timestamp", "metric", "value")])
# Only verdicts that occurred have rows.
TALLIES = (VISITS, RETRIES, "pages", "bytes", *ANSWERED)
# By state. The last gauge ends a group of rows; all gauges add up to `known`.
GAUGES = {
    "needs_browser": "needs-browser",
    "pending": "pending",
    "waiting": "waiting",
    "failed": "failed",
    "refused": "refused",
    "in_flight": "leased",
}
_LAST = f",{list(GAUGES)[-1]},".encode()
# Counts of pending, waiting and leased URLs use the frontier's own small indexes. The indexes for the
# other states are created only for these frequent counts.
_INDEXES = [
    f"CREATE INDEX IF NOT EXISTS urls_{state} ON urls(id) WHERE state = '{GAUGES[state]}'"
    for state in ("failed", "refused", "needs_browser")
]


class MetricsLog:
    """Append with `write`. Opening the file cuts a torn group of rows."""

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
        """The number of URLs by state."""
        known = count_urls(self._database)
        counts = {name: self._count(state) for name, state in GAUGES.items()}
        return {"known": known, "done": known - sum(counts.values()), **counts}

    def _count(self, state: str) -> int:
        # The state is part of the statement, because SQLite chooses no partial index by a parameter.
        (row,) = self._database.read(f"SELECT count(*) FROM urls WHERE state = '{state}'")
        return int(row[0])


def _ends_a_group(line: bytes) -> bool:
    _, name, value = line.partition(_LAST)
    return bool(name) and value.isdigit()
