"""Running figures say what looking at all requests at once says, in memory that does not grow."""

import heapq
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.reports.host.figures import GRAIN, AtOnce, Gaps, LogCounts, Peak, Timeline
from crawl4r.reports.host.refusals import Refusal, RefusedAnswers
from crawl4r.reports.host.requests import RequestBatch
from crawl4r.reports.host.tally import HostTally

START = 1_700_000_000.0
MOMENTS = st.lists(
    st.tuples(st.floats(0, 1e6).map(lambda s: START + s), st.integers(0, 5_000)),
    min_size=1,
    max_size=60,
).map(sorted)
CUTS = st.integers(1, 20)


def batches(rows: Sequence[tuple[float, int]], size: int) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(rows), size):
        at, latency = zip(*rows[start : start + size], strict=True)
        yield np.array(at, np.float64), np.array(latency, np.float64)


@given(MOMENTS, CUTS, st.floats(0.01, 1e5))
def test_gaps_are_those_between_neighbours(
    rows: list[tuple[float, int]], size: int, asked: float
) -> None:
    gaps = Gaps(asked)
    for at, _ in batches(rows, size):
        gaps.take(at)
    all_gaps = sorted(b - a for (a, _), (b, _) in pairwise(rows))
    assert gaps.count == len(all_gaps)
    assert gaps.under_asked == sum(gap < asked - GRAIN for gap in all_gaps)
    if all_gaps:
        assert gaps.shortest == all_gaps[0]
        rank = max(1, round(0.5 * len(all_gaps)))
        median = max(all_gaps[rank - 1], 1e-4)
        assert gaps.quantile(0.5) == pytest.approx(median, rel=0.006)
        assert sum(count for _, _, count in gaps.counts.bars(48)) == len(all_gaps)


@given(MOMENTS, CUTS)
def test_at_once_is_what_a_queue_of_ends_says(rows: list[tuple[float, int]], size: int) -> None:
    figure = AtOnce()
    for at, latency in batches(rows, size):
        figure.take(at, latency)
    under_way: list[float] = []
    most = 1
    for at, latency_ms in rows:
        while under_way and under_way[0] <= at:
            heapq.heappop(under_way)
        end = at + max(latency_ms / 1000 - GRAIN / 2, 0.0)
        if end > at:  # what took no time is beside nothing
            heapq.heappush(under_way, end)
            most = max(most, len(under_way))
    assert figure.most == most


@given(MOMENTS, CUTS, st.sampled_from([60, 86_400]))
def test_a_peak_is_the_fullest_minute_or_day(
    rows: list[tuple[float, int]], size: int, seconds: int
) -> None:
    peak = Peak(seconds)
    for at, _ in batches(rows, size):
        peak.take(at)
    counts = Counter(int(at // seconds) for at, _ in rows)
    assert peak.most == max(counts.values())
    assert peak.at is not None and counts[int(peak.at // seconds)] == peak.most


@given(MOMENTS, CUTS)
def test_a_timeline_counts_each_request_once_in_few_buckets(
    rows: list[tuple[float, int]], size: int
) -> None:
    timeline = Timeline()
    for at, latency in batches(rows, size):
        timeline.take(at, latency)
    moments = timeline.moments()
    assert sum(moment.requests for moment in moments) == len(rows)
    assert moments[0].at <= rows[0][0] < moments[0].at + timeline.seconds
    assert (moments[-1].at - moments[0].at) / timeline.seconds <= 96
    assert timeline.longest_ms == max(latency for _, latency in rows)


@given(MOMENTS, CUTS, st.sets(st.integers(0, 59), max_size=10))
def test_how_long_we_stayed_away_is_up_to_the_next_request_of_all(
    rows: list[tuple[float, int]], size: int, refused: set[int]
) -> None:
    refusals = RefusedAnswers()
    expected = []
    for start in range(0, len(rows), size):
        found = []
        for place in range(start, min(start + size, len(rows))):
            if place in refused:
                at, latency_ms = rows[place]
                end = at + latency_ms / 1000
                found.append((end, Refusal(at, 429, 1.0, None)))
                later = [other for other, _ in rows if other > end]
                expected.append(later[0] - end if later else None)
        refusals.take(np.array([at for at, _ in rows[start : start + size]]), found)
    newest = refusals.newest()
    stays = [stay for stay in expected if stay is not None]
    assert refusals.count == len(expected)
    assert sorted(r.stayed_away for r in newest if r.stayed_away is not None) == sorted(stays)
    assert refusals.shortest_stay == min(stays, default=None)
    assert refusals.came_back_early == sum(stay < 1.0 - GRAIN for stay in stays)


def test_a_quantile_of_nothing_is_not_known() -> None:
    assert LogCounts(1.0, 3, 10).quantile(0.5) is None
    assert list(LogCounts(1.0, 3, 10).bars(5)) == []


def peak_memory(requests: int) -> int:
    """Bytes at most while so many requests of ever new paths and reasons are counted."""
    tally = HostTally(crawl_delay=1.0)
    tracemalloc.start()
    for start in range(0, requests, 1000):
        numbers = range(start, start + 1000)
        tally.take(
            RequestBatch(
                at=[START + number for number in numbers],
                latency_ms=[number % 500 for number in numbers],
                status=[(200, 404, 429, None)[number % 4] for number in numbers],
                kind=["pages"] * 1000,
                bytes=[100] * 1000,
                request=[1] * 1000,
                verdict=["http-error"] * 1000,
                reason=[f"reason {number}" for number in numbers],
                headers=[None] * 1000,
                url=[f"https://example.org/{number}/" for number in numbers],
            )
        )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tally.kinds["pages"] == requests
    return peak


def test_memory_does_not_grow_with_the_requests() -> None:
    peak_memory(1_000)  # memory of modules, which stay loaded after the first use
    assert peak_memory(120_000) < peak_memory(20_000) + 500_000
