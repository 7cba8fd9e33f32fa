"""The strength of a result, on a scale that all queries share.

Fusion (`fusion.py`) orders the candidates of one query, each as a share of that query's best. The
strength of the best one, from 0 to 1, tells how many of the words it has and how near it is in meaning.
A score is the product of the two. Scores of different queries can be compared, and the order stays the
one that was measured (docs/decisions/0007).
"""

from __future__ import annotations

from typing import NamedTuple

from crawl4r.search.keyword.words import without_stop_words
from crawl4r.search.port import Filters, KeywordIndex, KeywordQuery

_MOST_CLAUSES = 32  # looked up one by one, a quarter of a millisecond each
_EVERYWHERE = Filters()


class CosineScale(NamedTuple):
    """The meaning of a model's cosines, measured on its vectors."""

    unrelated: float  # at most that of the best passage for a query of nonsense
    same: float  # at least that of the best answers


# all-MiniLM-L6-v2 on cranfield, cisi and vaswani: the nearest of 1,400 to 11,429 passages has a cosine
# of .106 to .319 for 20 queries of nonsense, and of .336 to .940 (median .68, 95 % below .84) for the
# 394 queries of the collections. Of 16 passages that answer in other words, one is below .33.
_SCALES = {"all-MiniLM-L6-v2-int8": CosineScale(0.33, 0.85)}


def cosine_scale(model: str) -> CosineScale | None:
    """The scale of a model; None if its cosines were not measured."""
    return _SCALES.get(model)


def nearness(cosine: float, scale: CosineScale | None) -> float:
    """Map a cosine to 0 (unrelated) to 1 (same meaning). Without a scale it stays as it is."""
    low, high = scale or (0.0, 1.0)
    return min(max((cosine - low) / (high - low), 0.0), 1.0)


def ideal_score(index: KeywordIndex, query: KeywordQuery) -> float:
    """The BM25 of an ideal passage: the sum of the best BM25 for each word.

    A word that occurs nowhere counts as much as the best of the others, because its absence lowers the
    strength. 0 when no word occurs. Filters do not apply, so that they do not change scores.
    """
    asked = [
        clause._replace(is_required=False)
        for clause in without_stop_words(query.clauses, ("english",)) or query.clauses
        if not clause.is_excluded
    ]
    looked_up = asked[:_MOST_CLAUSES]
    found = [index.best(KeywordQuery((clause,)), 1, _EVERYWHERE) for clause in looked_up]
    scores = [hits[0].score for hits in found if hits]
    if not scores:
        return 0.0
    missing = len(looked_up) - len(scores)
    return (sum(scores) + missing * max(scores)) * len(asked) / len(looked_up)
