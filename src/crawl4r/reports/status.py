"""The progress, speed and remaining time of a crawl. Read-only.

`counts` reads every URL, `glance` at most a few thousand rows, so `glance` can run every two seconds
beside a crawl.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crawl4r.archive.documents import Documents
from crawl4r.model import REJECTED, UrlState, Verdict
from crawl4r.reports.host.robots import delays_asked, longest_delay
from crawl4r.reports.url_story import Reporter
from crawl4r.storage.crawls import CrawlNotes, count_urls
from crawl4r.storage.database import Database
from crawl4r.storage.lock import holder_of
from crawl4r.storage.tables import BYTES, IMPORTED_BYTES, IMPORTED_PAGES, PAGES, Notes
from crawl4r.urls.policy import CrawlLimits

_WORKS = ("crawl", "index")
_WINDOWS = {"last_minute": 60.0, "last_5_minutes": 300.0}  # seconds
_ETA_WINDOW = "last_5_minutes"
_LOOKED_AT = 4_000  # captures read of a window; of more than that an even sample
_ENDINGS_SHOWN = 12
_HOSTS_SHOWN = 20
_UNFINISHED = (UrlState.PENDING, UrlState.LEASED, UrlState.WAITING)
_PAGES = frozenset([Verdict.OK, *REJECTED])  # as in the keeper
# The hosts with the most URLs or with failures, and the one that takes longest because of its delay.
_HOSTS = f"""
WITH waiting AS MATERIALIZED (
    SELECT host_id, count(*) AS n FROM urls WHERE state = 'pending' GROUP BY host_id
), known AS MATERIALIZED (
    SELECT h.name, h.next_at, h.delay, h.failures, h.open_until, coalesce(w.n, 0) AS n
    FROM hosts h LEFT JOIN waiting w ON w.host_id = h.id WHERE w.n OR h.failures
)
SELECT * FROM (SELECT * FROM known ORDER BY n DESC, name LIMIT {_HOSTS_SHOWN})
UNION SELECT * FROM (SELECT * FROM known ORDER BY n * max(delay, ?) DESC LIMIT 1)
ORDER BY n DESC, name
"""


def processes_in(workspace: Path) -> list[dict[str, Any]]:
    """The running processes of a workspace with start times. A crawl that indexes counts twice."""
    found = []
    for work in _WORKS:
        if pid := holder_of(workspace, work):
            with contextlib.suppress(FileNotFoundError):  # just ended and reset
                since = (
                    (workspace / f"{work}.lock").stat().st_mtime
                )  # the time at which its holder wrote it
                found.append({"work": work, "pid": pid, "since": since})
    return found


class Run(NamedTuple):
    """The facts about the running or next crawl that a glance needs."""

    since: float | None  # epoch seconds; None without a running crawl
    delay: float  # configured seconds between two requests to a host
    agents: Sequence[str]  # our product tokens in robots.txt
    is_held: bool = False  # paused, or waiting for the network
    limits: CrawlLimits = CrawlLimits()
    crawl: int = 0  # which crawl the limits belong to


class Overview:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._reporter = Reporter(database)
        self._documents = Documents(database)
        self._notes = Notes(database)

    def counts(self, crawl: int | None = None) -> dict[str, Any]:
        """Counts over all rows, of all crawls or of one; takes a second for a million URLs."""
        guesses = self._reporter.guesses(crawl)
        found = self._reporter.counts(crawl)
        urls = {state: n - guesses.failed_by_state.get(state, 0) for state, n in found.items()}
        return {
            "urls": {state: count for state, count in urls.items() if count},
            "known": sum(urls.values()),
            "done": urls.get(UrlState.DONE, 0),
            "pending": sum(urls.get(state, 0) for state in _UNFINISHED),
            "failed": urls.get(UrlState.FAILED, 0),
            "refused": urls.get(UrlState.REFUSED, 0),
            "guesses": {
                "asked": guesses.asked,
                "failed": guesses.failed,
                "probes": guesses.probes,
            },
            "documents": self._documents.count(),
            "endings": [
                {"verdict": verdict, "reason": reason, "urls": count}
                for verdict, reason, count in self._reporter.endings(crawl)[:_ENDINGS_SHOWN]
            ],
        }

    def glance(self, now: float, run: Run) -> dict[str, Any]:
        """The current state of the crawl, from indexes and the newest captures."""
        last = self._one("SELECT max(id) FROM captures") or 0
        frontier = self._frontier()
        rates = {
            name: self._rate(max(now - seconds, run.since or 0.0), now, last)
            for name, seconds in _WINDOWS.items()
        }
        hosts = self._hosts(now, run)
        per_second = rates[_ETA_WINDOW]["captures_a_minute"] / 60
        is_known = run.since is not None and per_second > 0 and not run.is_held
        ends = self._ends(now, run, rates[_ETA_WINDOW]) if is_known else {}
        return {
            "pages": self._notes.tally(PAGES),
            "bytes": self._notes.tally(BYTES),
            "captures": self._one("SELECT count(*) FROM captures"),
            "last_capture_at": self._fetched_at(last) if last else None,
            "frontier": frontier,
            "hosts": hosts,
            "rates": rates
            | {"since_start": self._rate(run.since, now, last) if run.since else None},
            "eta": _eta(frontier, hosts, per_second, ends) if is_known else None,
        }

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        rows = self._database.read(sql, values)
        return rows[0][0] if rows else None

    def _ends(self, now: float, run: Run, rate: dict[str, float]) -> dict[str, float]:
        """Seconds until each limit is reached at the current speed, by option."""
        ends = {}
        tallies = CrawlNotes(self._database, run.crawl).tallies()
        for option, most, kept, imported, pace in (
            ("--max-pages", run.limits.max_pages, PAGES, IMPORTED_PAGES, "pages_a_minute"),
            ("--max-bytes", run.limits.max_bytes, BYTES, IMPORTED_BYTES, "bytes_a_minute"),
        ):
            if most is not None and rate[pace] > 0:
                left = most - tallies.get(kept, 0) + tallies.get(imported, 0)
                ends[option] = max(0.0, left / rate[pace] * 60)
        if run.limits.max_seconds is not None and run.since is not None:
            ends["--max-seconds"] = max(0.0, run.since + run.limits.max_seconds - now)
        return ends

    def _frontier(self) -> dict[str, int]:
        """Counts of URLs by state."""
        known = count_urls(self._database)
        # Not as a parameter, because SQLite would then not use the partial index of that state.
        counts = {
            state.value: self._one(f"SELECT count(*) FROM urls WHERE state = '{state.value}'")
            for state in _UNFINISHED
        }
        return {"known": known, **counts, "finished": known - sum(counts.values())}

    def _hosts(self, now: float, run: Run) -> list[dict[str, Any]]:
        rows = self._database.read(_HOSTS, (run.delay,))
        return [
            {
                "host": name,
                "pending": pending,
                "waits_s": max(0.0, round(max(next_at, open_until) - now, 1)),
                "next_at": max(next_at, open_until) or None,
                "delay_s": round(max(run.delay, delay, self._asked_delay(name, run.agents)), 3),
                "failures": failures,
                "breaker": "open" if open_until > now else "closed",
            }
            for name, next_at, delay, failures, open_until, pending in rows
        ]

    def _asked_delay(self, host: str, agents: Sequence[str]) -> float:
        return longest_delay(delays_asked(self._database, host, agents)) or 0.0

    def _rate(self, since: float, now: float, last: int) -> dict[str, float]:
        """The rates per minute since a time."""
        first = self._first_after(since, last)
        count = last - first + 1
        step = max(1, count // _LOOKED_AT)
        numbers = json.dumps([*range(first, last + 1, step)])
        rows = self._database.read(
            "SELECT c.verdict, c.bytes FROM json_each(?) AS wanted JOIN captures c"
            " ON c.id = wanted.value",
            (numbers,),
        )
        pages = sum(verdict in _PAGES for verdict, _ in rows)
        minutes = max(now - since, 1.0) / 60
        share = count / len(rows) / minutes if rows else 0.0  # of the sample
        return {
            "captures_a_minute": round(len(rows) * share, 1),
            "pages_a_minute": round(pages * share, 1),
            "bytes_a_minute": round(sum(size for _, size in rows) * share),
        }

    def _first_after(self, moment: float, last: int) -> int:
        """The first capture at or after a time, by bisection: ids grow with time."""
        low, high = 1, last + 1
        while low < high:
            middle = (low + high) // 2
            if self._fetched_at(middle) < moment:
                low = middle + 1
            else:
                high = middle
        return low

    def _fetched_at(self, number: int) -> float:
        found = self._one(
            "SELECT fetched_at FROM captures WHERE id >= ? ORDER BY id LIMIT 1", (number,)
        )
        return float(found)


def _eta(
    frontier: dict[str, int],
    hosts: Sequence[dict[str, Any]],
    per_second: float,
    ends: dict[str, float],
) -> dict[str, Any]:
    """Estimate the remaining time for the known URLs, by the current speed, the slowest host and the
    limits in `ends`. `limited_by` names the deciding host or option."""
    unfinished = sum(frontier[state] for state in _UNFINISHED)
    by_rate = unfinished / per_second
    slowest = max(hosts, key=_seconds_of, default=None)
    by_host = _seconds_of(slowest) if slowest else 0.0
    seconds, limited_by = by_rate, None
    if slowest and by_host > by_rate:
        seconds, limited_by = by_host, slowest["host"]
    first = min(ends, key=ends.__getitem__, default=None)
    if first is not None and ends[first] < seconds:
        seconds, limited_by = ends[first], first
    return {"seconds": round(seconds), "limited_by": limited_by}


def _seconds_of(host: dict[str, Any]) -> float:
    return float(host["waits_s"] + host["pending"] * host["delay_s"])
