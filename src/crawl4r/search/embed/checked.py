"""Check every vector of a model before it enters an index or a search."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from crawl4r.errors import BadEmbedding
from crawl4r.search.port import Embedder, Vector, Vectors

_EXACT = 1e-5  # a length this close to 1 stays
_TOLERANCE = 0.05  # float16 servers and int8 models deviate less


class CheckedEmbedder:
    """An embedder that guarantees the port's promises: one finite vector of unit length per text.

    It corrects the length after rounding errors. Any other fault raises BadEmbedding, which names the
    model and the number of the text, counted from 0. It caches the vectors of the last queries.

    Every blank text gets the first axis, which is near to no text, without a call of the model.
    """

    def __init__(self, inner: Embedder, *, kept_queries: int = 1_024) -> None:
        self._inner = inner
        self._vector_of = lru_cache(kept_queries)(self._ask)

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, in order. Raises BadEmbedding when the model returns others."""
        spoken = [number for number, text in enumerate(texts) if text.strip()]
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        vectors[:, 0] = 1
        if spoken:
            vectors[spoken] = self._checked(self._inner.embed([texts[at] for at in spoken]), spoken)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """The read-only vector of a query, cached for the last queries."""
        return self._vector_of(text)

    def close(self) -> None:
        self._inner.close()

    def _ask(self, text: str) -> Vector:
        if text.strip():
            vectors = self._checked(self._inner.embed_query(text)[np.newaxis], [0])
        else:
            vectors = self.embed([text])
        vectors.flags.writeable = False  # all callers share one array
        vector: Vector = vectors[0]
        return vector

    def _checked(self, vectors: Vectors, numbers: Sequence[int]) -> Vectors:
        """The vectors of the texts of these numbers, each of unit length."""
        expected = (len(numbers), self.dimension)
        if vectors.shape != expected:
            raise BadEmbedding(
                f"{self.model} gave vectors of shape {vectors.shape}, not {expected}"
            )
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        # Not `> _TOLERANCE`: that would be false for NaN.
        wrong = np.flatnonzero(~(np.abs(lengths - 1) <= _TOLERANCE))
        if wrong.size:
            first = int(wrong[0])
            raise BadEmbedding(
                f"{self.model} gave a vector of length {lengths[first]:.4g} for text {numbers[first]}"
                f" ({wrong.size} such of {len(numbers)}); it has to be 1"
            )
        if np.abs(lengths - 1).max() > _EXACT:
            vectors = vectors / lengths[:, np.newaxis]
        return np.array(vectors, np.float32)
