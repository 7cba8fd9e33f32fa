"""The keyword and the vector ranking of a query, by passage number, with all known scores."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.search.indexed_passage import IndexedPassage
from crawl4r.search.port import Scored
from crawl4r.search.rank.strength import CosineScale, nearness
from crawl4r.search.request import Hit, Mode, SearchRequest


class Halves:
    def __init__(
        self,
        by_words: Sequence[Scored],
        by_meaning: Sequence[Scored],
        *,
        ideal: float = 0.0,
        scale: CosineScale | None = None,
    ) -> None:
        """`ideal`: the BM25 of a perfect passage; `scale`: what the model's cosines mean, if known."""
        self.keyword_ranks = {hit.number: rank for rank, hit in enumerate(by_words, 1)}
        self.vector_ranks = {hit.number: rank for rank, hit in enumerate(by_meaning, 1)}
        self.keyword_scores = {hit.number: hit.score for hit in by_words}
        self.vector_scores = {hit.number: hit.score for hit in by_meaning}
        self.nearest = by_meaning[0].score if by_meaning else None  # the best cosine
        self._ideal = ideal
        self._scale = scale

    def strength(self, number: int, request: SearchRequest) -> float:
        """The strength of a candidate from 0 to 1, comparable between queries: the weighted sum of
        words and meaning, or the only one of them that is requested or known."""
        said = self.keyword_scores.get(number, 0.0) / self._ideal if self._ideal > 0 else 0.0
        said = min(max(said, 0.0), 1.0)
        cosine = self.vector_scores.get(number)
        if request.mode is Mode.KEYWORD or cosine is None:
            return said
        meant = nearness(cosine, self._scale)
        if request.mode is Mode.VECTOR:
            return meant
        total = request.keyword_weight + request.vector_weight
        return (request.keyword_weight * said + request.vector_weight * meant) / total

    @property
    def is_chance(self) -> bool:
        """Whether no word occurs and the nearest passage is no nearer than for a query of nonsense."""
        if self.keyword_ranks or self.nearest is None or self._scale is None:
            return False
        return self.nearest < self._scale.unrelated

    def hit(self, found: IndexedPassage, score: float) -> Hit:
        number = found.entry.number
        return Hit(
            found,
            score,
            self.keyword_scores.get(number),
            self.vector_scores.get(number),
            self.keyword_ranks.get(number),
            self.vector_ranks.get(number),
        )
