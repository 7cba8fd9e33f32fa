"""The common part of remote embedders: they send texts in batches and check the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from crawl4r.search.embed.server_failed import ServerFailed
from crawl4r.search.port import Vector, Vectors

T = TypeVar("T")
_MAX_CHARACTERS = 100_000  # of a text; no model reads more
_MIN_CHARACTERS = 64  # a shorter text is not halved further


class RemoteEmbedder(ABC):
    """See `port.Embedder`. Subclasses add the protocol of a server."""

    _max_bytes: int  # of texts in one request
    _dimension: int | None = None  # of the server's vectors; known after the first request

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self.embed(["dimension"])
        assert self._dimension is not None
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        parts = ask_in_batches(
            self._embed_batch,
            prepare(texts),
            max_count=self._max_batch,
            max_bytes=self._max_bytes,
            is_too_much=self._is_too_much,
        )
        return np.stack(parts)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector

    @property
    @abstractmethod
    def _max_batch(self) -> int:
        """The maximum number of texts in a request."""

    @abstractmethod
    def _embed_batch(self, texts: list[str]) -> list[Vector]:
        """Fetch unit vectors in the order of the texts. Also sets the dimension."""

    @staticmethod
    @abstractmethod
    def _is_too_much(problem: ServerFailed) -> bool:
        """Whether the server would accept fewer or shorter texts."""


def prepare(texts: Sequence[str]) -> list[str]:
    """Replace empty texts, which servers refuse, and cut long ones."""
    return [text[:_MAX_CHARACTERS] or " " for text in texts]


def ask_in_batches(
    ask: Callable[[list[str]], list[T]],
    texts: Sequence[str],
    *,
    max_count: int,
    max_bytes: int,
    is_too_much: Callable[[ServerFailed], bool],
) -> list[T]:
    """A result for each text, in order. A request that is too large for the server is halved."""
    answers: list[T] = []
    for batch in _batches(texts, max_count, max_bytes):
        answers += _ask(ask, batch, is_too_much)
    return answers


def _batches(texts: Sequence[str], max_count: int, max_bytes: int) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8", "replace"))
        if batch and (len(batch) >= max_count or size + length > max_bytes):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def _ask(
    ask: Callable[[list[str]], list[T]],
    batch: list[str],
    is_too_much: Callable[[ServerFailed], bool],
) -> list[T]:
    try:
        return ask(batch)
    except ServerFailed as problem:
        is_single = len(batch) == 1
        if not is_too_much(problem) or (is_single and len(batch[0]) <= _MIN_CHARACTERS):
            raise
    if is_single:
        return _ask(ask, [batch[0][: len(batch[0]) // 2]], is_too_much)
    half = len(batch) // 2
    return _ask(ask, batch[:half], is_too_much) + _ask(ask, batch[half:], is_too_much)


def unit_vectors(rows: Any, count: int, dimension: int | None) -> Vectors:
    """The answer as vectors of unit length. Raises ValueError with the fault."""
    try:
        vectors = np.asarray(rows, np.float32)
    except (TypeError, ValueError):
        raise ValueError("answers with something that is not a list of vectors") from None
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise ValueError("answers with something that is not a list of vectors")
    if len(vectors) != count:
        raise ValueError(f"answers with {len(vectors)} vectors for {count} texts")
    if dimension is not None and vectors.shape[1] != dimension:
        raise ValueError(
            f"answers with {vectors.shape[1]} dimensions where it had {dimension} before"
        )
    # In doubles: squares of vectors without normalisation may overflow.
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise ValueError("answers with a vector that has no number in a place (NaN)")
    if not lengths.all():
        raise ValueError("answers with a vector of zeros")
    normal: Vectors = (vectors / lengths).astype(np.float32)
    return normal
