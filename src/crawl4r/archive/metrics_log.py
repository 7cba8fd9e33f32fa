"""logs/<role>_metrics.csv: what is durable at a moment, a row for each number.

Tallies grow over the life of the workspace and gauges say how it stands. Both are read from state.db
after a commit: what a crash would take away is never counted.
"""

from __future__ import annotations

from pathlib import Path

from crawl4r.archive.csv_cells import iso_time, lines_of
from crawl4r.archive.line_file import LineFile
from crawl4r.state.database import Database
from crawl4r.state.records import Notes

HEADER = lines_of([("timestamp", "metric", "value")])
TALLIES = (
    "pages", "bytes", "status_2xx", "status_3xx", "status_4xx", "status_5xx", "not_modified",
    "no_answer",
)  # fmt: skip
# By the state that they count. The last one ends a group of rows.
GAUGES = {
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
    f"CREATE INDEX IF NOT EXISTS urls_{state} ON urls(id) WHERE state = '{state}'"
    for state in ("failed", "refused")
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
        stamp = iso_time(now)
        rows = [(stamp, name, self._notes.tally(name)) for name in TALLIES]
        rows += [(stamp, name, self._count(state)) for name, state in GAUGES.items()]
        self._file.append(lines_of(rows))

    def close(self) -> None:
        self._file.close()

    def _count(self, state: str) -> int:
        # The state stands in the statement: a parameter would hide from SQLite which index fits.
        (row,) = self._database.read(f"SELECT count(*) FROM urls WHERE state = '{state}'")
        return int(row[0])


def _ends_a_group(line: bytes) -> bool:
    _, name, value = line.partition(_LAST)
    return bool(name) and value.isdigit()
