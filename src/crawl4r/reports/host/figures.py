"""Running figures over a stream of requests, in constant space.

Requests come in order of sending, in batches; every class here receives each batch once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Floats: TypeAlias = npt.NDArray[np.float64]

GRAIN = 0.001  # seconds: latencies are whole milliseconds
_WIDTHS = (1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400, 604_800, 2_419_200, 29_030_400)  # seconds
_MOST_BUCKETS = 96


class LogCounts:
    """A histogram with many narrow buckets, whose widths grow with the values."""

    def __init__(self, least: float, decades: int, steps: int) -> None:
        """Values below `least` count as `least`. Each power of ten has `steps` buckets."""
        self._least = least
        self._steps = steps
        self.counts = np.zeros(decades * steps + 1, np.int64)

    def take(self, values: Floats) -> None:
        places = np.log10(np.maximum(values, self._least) / self._least) * self._steps
        places = np.minimum(places + 1e-9, len(self.counts) - 1).astype(np.int64)
        self.counts += np.bincount(places, minlength=len(self.counts))

    def add(self, other: LogCounts) -> None:
        self.counts += other.counts

    def quantile(self, share: float) -> float | None:
        """The middle of the bucket with this quantile; None without values."""
        total = int(self.counts.sum())
        if not total:
            return None
        rank = max(1, round(share * total))
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return self._edge(place + 0.5)

    def bars(self, most: int) -> Iterator[tuple[float, float, int]]:
        """At most `most` bars from the first value to the last: from, to, count."""
        (filled,) = np.nonzero(self.counts)
        if not len(filled):
            return
        first, last = int(filled[0]), int(filled[-1])
        width = (last - first) // most + 1
        for place in range(first, last + 1, width):
            count = int(self.counts[place : place + width].sum())
            yield self._edge(place), self._edge(place + width), count

    def _edge(self, place: float) -> float:
        return float(self._least * 10 ** (place / self._steps))


class Gaps:
    """The gaps between sent requests in seconds."""

    def __init__(self, asked: float | None = None) -> None:
        """`asked`: the crawl-delay of the host."""
        self.counts = LogCounts(1e-4, 12, 500)  # buckets of half a percent
        self.count = 0
        self.shortest: float | None = None
        self.under_asked = None if asked is None else 0
        self._asked = asked
        self._last: float | None = None

    def take(self, at: Floats) -> None:
        gaps = np.diff(at) if self._last is None else np.diff(at, prepend=self._last)
        self._last = float(at[-1])
        if not len(gaps):
            return
        shortest = float(gaps.min())
        self.shortest = shortest if self.shortest is None else min(self.shortest, shortest)
        self.count += len(gaps)
        if self._asked is not None and self.under_asked is not None:
            self.under_asked += int(np.count_nonzero(gaps < self._asked - GRAIN))
        self.counts.take(gaps)

    def quantile(self, share: float) -> float | None:
        """A quantile, exact to half a percent and never below the shortest gap."""
        found = self.counts.quantile(share)
        return found if found is None or self.shortest is None else max(found, self.shortest)


def under_way_for(latency_ms: Floats) -> Floats:
    """The certain durations in seconds: a latency may be rounded up by half its grain."""
    return np.maximum(latency_ms / 1000 - GRAIN / 2, 0.0)


class AtOnce:
    """The maximum number of concurrent requests."""

    def __init__(self) -> None:
        self.most = 0
        self._ends: Floats = np.empty(0)  # of requests still in flight at the end of the last batch

    def take(self, at: Floats, latency_ms: Floats) -> None:
        ends = at + under_way_for(latency_ms)
        known = np.sort(np.concatenate([self._ends, ends]))
        begun = np.arange(len(self._ends) + 1, len(known) + 1)
        under_way = begun - np.searchsorted(known, at, side="right")
        self.most = max(self.most, 1, int(under_way.max()))
        self._ends = known[known > at[-1]]


class Peak:
    """The clock minute, or the day in UTC, with the most requests."""

    def __init__(self, seconds: int) -> None:
        self.most = 0
        self.at: float | None = None
        self._seconds = seconds
        self._number = -1
        self._count = 0

    def take(self, at: Floats) -> None:
        numbers, counts = np.unique((at // self._seconds).astype(np.int64), return_counts=True)
        if numbers[0] == self._number:
            counts[0] += self._count
        best = int(counts.argmax())
        if counts[best] > self.most:
            self.most, self.at = int(counts[best]), float(numbers[best] * self._seconds)
        self._number, self._count = int(numbers[-1]), int(counts[-1])


class Moment(NamedTuple):
    """One bar over time: the number of requests, and their latencies in milliseconds."""

    at: float
    requests: int
    median_ms: float | None
    p95_ms: float | None


class _Bucket(Struct):
    requests: int
    latencies: LogCounts


class Timeline:
    """Requests and latencies over time, in buckets that widen with the period."""

    def __init__(self) -> None:
        self._level = 0
        self._buckets: dict[int, _Bucket] = {}
        self.latencies = _latencies()
        self.longest_ms = 0

    @property
    def seconds(self) -> int:
        """The width of a bucket."""
        return _WIDTHS[self._level]

    def take(self, at: Floats, latency_ms: Floats) -> None:
        self.longest_ms = max(self.longest_ms, int(latency_ms.max()))
        first = min(self._buckets, default=int(at[0] // self.seconds)) * self.seconds
        while (at[-1] - first) // self.seconds >= _MOST_BUCKETS - 1 and not self._is_widest:
            self._widen()
        numbers, starts = np.unique((at // self.seconds).astype(np.int64), return_index=True)
        ends = [*starts[1:], len(at)]
        for number, start, end in zip(numbers, starts, ends, strict=True):
            bucket = self._buckets.setdefault(int(number), _Bucket(0, _latencies()))
            bucket.requests += int(end - start)
            bucket.latencies.take(latency_ms[start:end])
            self.latencies.take(latency_ms[start:end])

    def moments(self) -> list[Moment]:
        """Every bucket with requests, in order."""
        return [
            Moment(
                number * self.seconds,
                bucket.requests,
                bucket.latencies.quantile(0.5),
                bucket.latencies.quantile(0.95),
            )
            for number, bucket in sorted(self._buckets.items())
        ]

    @property
    def _is_widest(self) -> bool:
        return self._level == len(_WIDTHS) - 1

    def _widen(self) -> None:
        factor = _WIDTHS[self._level + 1] // self.seconds
        self._level += 1
        merged: dict[int, _Bucket] = {}
        for number, bucket in self._buckets.items():
            into = merged.setdefault(number // factor, _Bucket(0, _latencies()))
            into.requests += bucket.requests
            into.latencies.add(bucket.latencies)
        self._buckets = merged


def _latencies() -> LogCounts:
    return LogCounts(1.0, 7, 24)  # milliseconds, in buckets of a tenth
