"""Two rankings become one. Pure functions over scores by passage number.

The convex combination needs both scores of every candidate, whichever ranking it came from; it beat
reciprocal ranks on all five collections that were measured (docs/decisions/0008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crawl4r.search.port import Scored

RRF_K = 60


def combine(
    keyword: Mapping[int, float],
    cosine: Mapping[int, float],
    *,
    keyword_weight: float = 0.45,
    vector_weight: float = 0.55,
) -> dict[int, float]:
    """Weighted sum of BM25 over the best one's, and cosine stretched over the candidates.

    Between 0 and 1. A candidate without a cosine has no vector yet: its words alone decide.
    """
    best = max(keyword.values(), default=0.0)
    lowest = min(cosine.values(), default=0.0)
    spread = max(cosine.values(), default=0.0) - lowest
    total = keyword_weight + vector_weight
    if total <= 0:
        raise ValueError("one of the weights must be positive")
    fused = {}
    for number in keyword.keys() | cosine.keys():
        said = keyword.get(number, 0.0) / best if best > 0 else 0.0
        if number in cosine:
            meant = (cosine[number] - lowest) / spread if spread > 0 else 1.0
        else:
            meant = said
        fused[number] = (keyword_weight * said + vector_weight * meant) / total
    return fused


def reciprocal_ranks(
    rankings: Sequence[Sequence[int]], weights: Sequence[float], k: int = RRF_K
) -> dict[int, float]:
    """Sum of weight / (k + rank) over the rankings that a candidate is in; ranks begin at 1."""
    fused: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, number in enumerate(ranking, 1):
            fused[number] = fused.get(number, 0.0) + weight / (k + rank)
    return fused


def ranked(scores: Mapping[int, float]) -> list[Scored]:
    """Best first; of equal ones the lowest number, so that the order is always the same."""
    return sorted((Scored(*item) for item in scores.items()), key=lambda each: (-each[1], each[0]))
