"""Count a host's requests in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from crawl4r.reports.host.figures import AtOnce, Gaps, Peak, Timeline, under_way_for
from crawl4r.reports.host.refusals import RETRY_AFTER, RefusedAnswers, refusals_in
from crawl4r.reports.host.requests import UNSENT, RequestBatch

_MOST_REASONS = 500  # distinct reasons
_MOST_PATHS = 4096  # paths with a counter
_ELSE = ("", "other reasons")


class Paths:
    """Requests by the first part of the path. With very many parts, rare ones are dropped."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.are_exact = True

    def take(self, urls: Iterable[str]) -> None:
        self._counts.update(map(_first_part, urls))
        if len(self._counts) > _MOST_PATHS:
            self._counts = Counter(dict(self._counts.most_common(_MOST_PATHS // 2)))
            self.are_exact = False

    def most(self, count: int) -> list[tuple[str, int]]:
        return self._counts.most_common(count)


def _first_part(url: str) -> str:
    """`/docs/` for `https://example.org/docs/a/b?c`; for a URL without folders its path."""
    start = url.find("/", 8)  # after the scheme
    end = url.find("/", start + 1)
    part = url[start : end + 1] if end > 0 else url[start:]
    return part if "?" not in part else part.partition("?")[0]


class HostTally:
    """All counts of the stream."""

    def __init__(self, crawl_delay: float | None) -> None:
        self.gaps = Gaps(crawl_delay)
        self.at_once = AtOnce()
        self.minute, self.day = Peak(60), Peak(86_400)
        self.timeline = Timeline()
        self.refusals = RefusedAnswers()
        self.paths = Paths()
        self.kinds: Counter[str] = Counter()
        self.statuses: Counter[int | None] = Counter()
        self.requests: Counter[int | None] = Counter()  # by the id of their headers
        self.errors: Counter[tuple[str, str]] = Counter()
        self.bytes = 0
        self.unsent = 0
        self.first: dict[str, float] = {}  # the first and the last time of each kind
        self.last: dict[str, float] = {}

    def take(self, batch: RequestBatch) -> None:
        self._count_errors(batch)
        if unsent := batch.kind.count(UNSENT):
            self.unsent += unsent
            batch = batch.without(UNSENT)
        if not batch.at:
            return
        at, latency_ms = np.array(batch.at, np.float64), np.array(batch.latency_ms, np.float64)
        self.gaps.take(at)
        self.at_once.take(at, latency_ms)
        self.minute.take(at)
        self.day.take(at)
        self.timeline.take(at, latency_ms)
        self.refusals.take(at, refusals_in(batch, at + under_way_for(latency_ms)))
        self.paths.take(batch.url)
        self.kinds.update(batch.kind)
        self.statuses.update(batch.status)
        self.requests.update(batch.request)
        self.bytes += sum(batch.bytes)
        self.last |= dict(zip(batch.kind, batch.at, strict=True))
        for kind in self.last.keys() - self.first.keys():
            self.first[kind] = batch.at[batch.kind.index(kind)]

    @property
    def robots_came_first(self) -> bool | None:
        """Whether robots.txt was the first request; None without other requests."""
        others = [at for kind, at in self.first.items() if kind != "robots"]
        if not others:
            return None
        return self.first.get("robots", float("inf")) <= min(others)

    def _count_errors(self, batch: RequestBatch) -> None:
        for verdict, reason in zip(batch.verdict, batch.reason, strict=True):
            if verdict is not None:
                key = (verdict, RETRY_AFTER.sub("", reason or ""))
                is_known = key in self.errors or len(self.errors) < _MOST_REASONS
                self.errors[key if is_known else _ELSE] += 1
