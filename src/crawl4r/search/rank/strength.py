"""How good is an answer, on a scale that all queries share?

Fusion (`fusion.py`) orders the candidates of one query, each as a share of that query's best. The
strength of the best one, from 0 to 1, says how much of the words it has and how near it is in meaning.
A score is the product of the two: it can be compared between queries, and the order stays the one that
was measured (docs/decisions/0007).
"""

from __future__ import annotations

from typing import NamedTuple

from crawl4r.search.keyword.words import without_stop_words
from crawl4r.search.port import Filters, KeywordIndex, KeywordQuery

_MOST_CLAUSES = 32  # that are looked up one by one, a quarter of a millisecond each
_EVERYWHERE = Filters()


class CosineScale(NamedTuple):
    """What the cosines of a model mean, as measured on its own vectors."""

    unrelated: float  # or less: no nearer than the best passage for a query of nonsense
    same: float  # or more: as near as the best answers


# all-MiniLM-L6-v2 on cranfield, cisi and vaswani: the nearest of 1,400 to 11,429 passages has a cosine
# of .106 to .319 for 20 queries of nonsense, and of .336 to .940 (median .68, 95 % below .84) for the
# 394 queries of the collections. Of 16 passages that answer in other words, one is below .33.
_SCALES = {"all-MiniLM-L6-v2-int8": CosineScale(0.33, 0.85)}


def cosine_scale(model: str) -> CosineScale | None:
    """None for a model whose cosines were not measured."""
    return _SCALES.get(model)


def nearness(cosine: float, scale: CosineScale | None) -> float:
    """A cosine from 0, unrelated, to 1, the same; of an unknown model as it is."""
    low, high = scale or (0.0, 1.0)
    return min(max((cosine - low) / (high - low), 0.0), 1.0)


def ideal_score(index: KeywordIndex, query: KeywordQuery) -> float:
    """The BM25 of a passage that has each word as well as the best passage for that word has it.

    A word that occurs nowhere counts as much as the most telling one that does: it is missed. 0 when
    none occurs. Asked of the whole index, so that filters do not change what a score means.
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
