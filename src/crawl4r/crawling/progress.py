"""The progress of a running crawl, for people and programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct, field

from crawl4r import events
from crawl4r.frontier.guesses import was_in_vain
from crawl4r.model import UrlState, Verdict, Visit

_LOG_NAMES = {
    UrlState.DONE: events.PAGE_KEPT,
    UrlState.NEEDS_BROWSER: events.PAGE_SHELVED,
    UrlState.REFUSED: events.PAGE_REFUSED,
    UrlState.WAITING: events.PAGE_RETRIED,
    UrlState.FAILED: events.PAGE_FAILED,
}


class CrawlProgress(Struct):
    """Counts of durable visits. It may be read at any time."""

    started_at: float
    visits: int = 0
    pages: int = 0
    bytes: int = 0
    retries: int = 0
    asked: int = 0  # visits with a request
    shared: int = 0  # answers of other crawls of the store
    guesses_in_vain: int = 0  # not counted in the verdicts
    verdicts: Counter[str] = field(default_factory=Counter)

    def report(self, visit: Visit) -> None:
        """Count a durable visit, and log its line."""
        self.visits += 1
        if was_in_vain(visit.lease, visit.ending):
            self.guesses_in_vain += 1
        else:
            self.verdicts[visit.ending.verdict.value] += 1
        if visit.ending.state is UrlState.WAITING:
            self.retries += 1
        was_sent = visit.failure is not None and visit.failure.sent_at > 0
        self.asked += visit.capture is not None or was_sent
        self.pages += visit.ending.verdict is Verdict.OK
        self.shared += visit.capture is None and visit.ending.capture is not None
        if visit.capture:
            self.bytes += visit.capture.bytes
        if events.is_enabled(20):
            _log_visit(visit)


def _log_visit(visit: Visit) -> None:
    capture, ending = visit.capture, visit.ending
    fields: dict[str, Any] = {
        "url": visit.lease.url,
        "verdict": ending.verdict.value,
        "depth": visit.lease.depth,
    }
    if ending.reason:
        fields["reason"] = ending.reason
    if capture:
        fields |= {"status": capture.status, "bytes": capture.bytes, "ms": capture.latency_ms}
    if visit.found:
        fields["new_links"] = len(visit.found)
    events.emit(_LOG_NAMES[ending.state], **fields)
