"""Merge two rankings into one. Pure functions over scores by passage number.

The scores here order the candidates of one query. `strength.py` turns them into the scores that
users see.

The convex combination needs both scores of every candidate, whichever ranking it came from, and beats
reciprocal ranks. How scores are scaled and weighed was measured on abstracts and on questions
(docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crawl4r.search.port import Scored

RRF_K = 60
_SUPPORT, _SUPPORTERS = 0.2, 2
_COMMON = 0.8  # share of the candidates that count as ordinary


def combine(
    keyword: Mapping[int, float],
    cosine: Mapping[int, float],
    *,
    keyword_weight: float = 0.3,
    vector_weight: float = 0.7,
) -> dict[int, float]:
    """Weighted sum of both scores, each over the best candidate's.

    Between 0 and 1. A candidate without a cosine has no vector yet: its words alone decide.
    """
    total = keyword_weight + vector_weight
    if total <= 0:
        raise ValueError("one of the weights must be positive")
    best_said = max(keyword.values(), default=0.0)
    best_meant = max(cosine.values(), default=0.0)
    fused = {}
    for number in keyword.keys() | cosine.keys():
        said = _share(keyword.get(number, 0.0), best_said)
        meant = _share(cosine[number], best_meant) if number in cosine else said
        fused[number] = (keyword_weight * said + vector_weight * meant) / total
    return fused


def _share(score: float, best: float) -> float:
    return max(score, 0.0) / best if best > 0 else 0.0


def with_support(scores: Mapping[int, float], document_of: Mapping[int, str]) -> dict[int, float]:
    """Add to each score a share of the two best others of its document: a page that answers in
    several places is more likely the right one.

    Only scores above those of ordinary candidates add to others, so many passages alone do not help.
    Candidates without a known document keep their score.
    """
    ordered = ranked(scores)
    common = ordered[int((1 - _COMMON) * len(ordered))].score if ordered else 0.0
    standing_out: dict[str, list[Scored]] = {}
    for hit in ordered:
        if hit.score > common and hit.number in document_of:
            standing_out.setdefault(document_of[hit.number], []).append(hit)
    supported = dict(scores)
    for number, document in document_of.items():
        found = standing_out.get(document, ())
        others = [hit.score - common for hit in found if hit.number != number]
        supported[number] += _SUPPORT * sum(others[:_SUPPORTERS])
    most = max([1.0, *supported.values()])  # keeps scores at 1 or below
    return {number: score / most for number, score in supported.items()}


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
