"""The politeness receipt: all requests to a host as plain data for its owner. Read-only.

One ordered stream of requests updates figures of fixed size, so that a million requests take a few
seconds and little memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from crawl4r.archive.requests import Requests
from crawl4r.errors import StorageDamaged
from crawl4r.model import Verdict
from crawl4r.reports.host.figures import Gaps, Peak, Timeline
from crawl4r.reports.host.refusals import RefusedAnswers
from crawl4r.reports.host.requests import KINDS, HostName, HostRequests
from crawl4r.reports.host.robots import AskedDelay, delays_asked, longest_delay
from crawl4r.reports.host.tally import HostTally
from crawl4r.reports.host.verdict import notes_on, verdict_on
from crawl4r.storage.database import Database

_DENIAL = re.compile(r"robots\.txt: (.*?)(?: \(line (\d+)\))?", re.DOTALL)
_CONTACT = re.compile(r"https?://[^\s)]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PATHS_SHOWN = 15
_ERRORS_SHOWN = 25
_LINES_SHOWN = 50
_BARS = 48  # bars of the histogram of gaps


class HostReporter:
    """Reports on the hosts of one workspace. `agents` are our product tokens in robots.txt."""

    def __init__(self, database: Database, agents: Sequence[str]) -> None:
        self._database = database
        self._agents = agents

    def report(
        self, host: str, since: float | None = None, until: float | None = None
    ) -> dict[str, Any]:
        """All requests to the host in a period. Raises UsageError for an unknown host."""
        name = HostName.parse(host)
        requests = HostRequests(self._database, name, since, until)
        asked = delays_asked(self._database, name.name, self._agents, name.origins)
        tally = HostTally(longest_delay(asked))
        try:
            for batch in requests.batches():
                tally.take(batch)
        except (
            TypeError,
            ValueError,
        ) as problem:  # an invalid number, or headers that are no JSON
            raise StorageDamaged(
                f"{self._database.path}: a request of {name} is damaged"
            ) from problem
        told = {"host": str(name), "agents": self._who(tally), **_told(tally)}
        told["period"] |= {"since": since, "until": until}
        told["robots"] |= self._robots(asked, requests)
        if since is not None or tally.requests[None]:  # there may be earlier or unrecorded requests
            told["robots"]["was_first"] = None
        told["now"] = self._now(requests)
        told["verdict"] = verdict_on(told)
        told["notes"] = notes_on(told, paths_are_exact=tally.paths.are_exact)
        return told

    def _who(self, tally: HostTally) -> list[dict[str, Any]]:
        """The user agents of the requests for pages; without any, that of the newest run."""
        numbers = {number: count for number, count in tally.requests.items() if number}
        if not numbers:
            ((newest,),) = self._database.read("SELECT max(id) FROM requests")
            numbers = {newest: 0} if newest else {}
        counts: Counter[str] = Counter()
        for number, count in numbers.items():
            lines = Requests(self._database).headers(number) or []
            line = next((line for line in lines if line.lower().startswith("user-agent:")), "")
            counts[line.partition(":")[2].strip()] += count
        return [
            {"user_agent": agent, "contact": _contact_in(agent), "requests": count}
            for agent, count in counts.most_common()
        ]

    def _robots(self, asked: Sequence[AskedDelay], requests: HostRequests) -> dict[str, Any]:
        condition, values = requests.of_urls("u")
        rows = self._database.read(
            "SELECT u.verdict, u.reason, count(DISTINCT u.url),"
            " count(DISTINCT CASE WHEN p.capture IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM attempts a WHERE a.page_id = p.id) THEN u.url END)"
            " FROM urls u LEFT JOIN pages p ON p.url = u.url"
            f" WHERE {condition} AND u.verdict IN ('robots-denied', 'robots-unreachable')"
            " GROUP BY u.verdict, u.reason ORDER BY 3 DESC, 2",
            values,
        )
        lines = [row[1:] for row in rows if row[0] == Verdict.ROBOTS_DENIED]
        not_judged = sum(row[2] for row in rows if row[0] == Verdict.ROBOTS_UNREACHABLE)
        return {
            "files": [_file_words(item) for item in asked],
            "crawl_delay_s": longest_delay(asked),
            "urls_denied": sum(urls for _, urls, _ in lines),
            "urls_not_judged": not_judged,
            "lines": [_line_words(*row) for row in lines[:_LINES_SHOWN]],
        }

    def _now(self, requests: HostRequests) -> dict[str, Any]:
        """The stored state of the host; times are epoch seconds, 0 for none."""
        rows = self._database.read(
            "SELECT max(next_at), max(delay), max(failures), max(open_until) FROM hosts"
            f" WHERE id IN ({requests.host_ids})"
        )
        names = ("next_at", "slowed_to_s", "failures", "breaker_open_until")
        return dict(zip(names, rows[0], strict=True))


def _contact_in(agent: str) -> str | None:
    match = _CONTACT.search(agent)
    return match.group() if match else None


def _file_words(item: AskedDelay) -> dict[str, Any]:
    record = item.record
    return {
        "origin": record.origin,
        "outcome": record.outcome,
        "status": record.status,
        "fetched_at": record.fetched_at,
        "crawl_delay_s": item.seconds,
    }


def _line_words(reason: str | None, urls: int, never: int) -> dict[str, Any]:
    match = _DENIAL.fullmatch(reason or "")
    rule, line = match.groups() if match else (reason or "", None)
    return {
        "rule": rule,
        "line": int(line) if line else None,
        "urls": urls,
        "never_requested": never,
    }


def _told(tally: HostTally) -> dict[str, Any]:
    """The figures of the stream, under the keys that scripts use."""
    errors = tally.errors.most_common(_ERRORS_SHOWN)
    return {
        "period": {
            "first_at": min(tally.first.values(), default=None),
            "last_at": max(tally.last.values(), default=None),
        },
        "requests": {
            "total": tally.kinds.total(),
            "kinds": {kind: tally.kinds[kind] for kind in KINDS},
            "statuses": {
                "none" if status is None else str(status): count
                for status, count in sorted(tally.statuses.items(), key=_by_status)
            },
            "bytes": tally.bytes,
            "unsent": tally.unsent,
            "of_an_older_format": tally.requests[None],
        },
        "at_once": tally.at_once.most,
        "gaps": _gaps(tally.gaps),
        "most": {"minute": _peak(tally.minute), "day": _peak(tally.day)},
        "refusals": _refusals(tally.refusals),
        "robots": {
            "asked": tally.kinds["robots"],
            "first_asked_at": tally.first.get("robots"),
            "last_asked_at": tally.last.get("robots"),
            "was_first": tally.robots_came_first,
        },
        "paths": [{"path": p, "requests": n} for p, n in tally.paths.most(_PATHS_SHOWN)],
        "errors": [
            {"verdict": verdict, "reason": reason, "requests": count}
            for (verdict, reason), count in errors
        ],
        "latency": _latency(tally.timeline),
        "over_time": {
            "bucket_s": tally.timeline.seconds,
            "buckets": [moment._asdict() for moment in tally.timeline.moments()],
        },
    }


def _by_status(item: tuple[int | None, int]) -> int:
    return item[0] or 1000  # requests without an answer come last


def _gaps(gaps: Gaps) -> dict[str, Any]:
    return {
        "count": gaps.count,
        "min_s": _rounded(gaps.shortest, 6),
        "p01_s": _rounded(gaps.quantile(0.01), 6),
        "median_s": _rounded(gaps.quantile(0.5), 6),
        "under_crawl_delay": gaps.under_asked,  # None without a crawl-delay
        "histogram": [
            {"from_s": round(start, 5), "to_s": round(end, 5), "gaps": count}
            for start, end, count in gaps.counts.bars(_BARS)
        ],
    }


def _peak(peak: Peak) -> dict[str, Any]:
    return {"requests": peak.most, "at": peak.at}


def _refusals(refusals: RefusedAnswers) -> dict[str, Any]:
    newest = refusals.newest()
    return {
        "count": refusals.count,
        "with_retry_after": refusals.with_retry_after,
        "came_back_early": refusals.came_back_early,
        "longest_asked_s": _rounded(refusals.longest_asked, 3),
        "shortest_stay_s": _rounded(refusals.shortest_stay, 3),
        "newest": [
            {
                "at": refusal.at,
                "status": refusal.status,
                "asked_s": _rounded(refusal.asked, 3),
                "stayed_away_s": _rounded(refusal.stayed_away, 3),
            }
            for refusal in newest
        ],
    }


def _latency(timeline: Timeline) -> dict[str, Any]:
    longest = timeline.longest_ms
    median, p95 = (timeline.latencies.quantile(share) for share in (0.5, 0.95))
    return {
        "median_ms": None if median is None else round(min(median, longest), 1),
        "p95_ms": None if p95 is None else round(min(p95, longest), 1),
        "max_ms": longest,
    }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
