"""The work of an embedding service: limits, validation and the threads of the models."""

from __future__ import annotations

import logging
from asyncio import to_thread
from collections.abc import Callable, Sequence
from itertools import groupby
from math import isfinite

import numpy as np
from msgspec import Struct

from crawl4r.errors import Crawl4rError
from crawl4r.events import emit
from crawl4r.interfaces.http.embedding.one_thread import OneThread, Overloaded, R, T
from crawl4r.interfaces.http.embedding.shapes import RequestRefused
from crawl4r.search.port import Embedder, Reranker, Vector, Vectors

EMBEDDING_FAILED = "embedding_failed"
_MARKS = 2  # special tokens around a text


class WorkLimits(Struct, frozen=True):
    batch: int  # texts of a request, and of a batch of the model
    characters: int  # of all texts of a request
    waiting: int  # requests
    tokens: int  # of a text

    @property
    def bytes(self) -> int:
        r"""Bytes of a request; JSON in ASCII needs six bytes for a character like \u043f."""
        return self.characters * 6 + 65_536


class EmbeddingWork:
    """Refuses requests above the limits, and runs each model in one thread."""

    def __init__(
        self,
        embedder: Embedder,
        reranker: Reranker | None,
        limits: WorkLimits,
        count_tokens: Callable[[Sequence[str]], list[int]] | None,
    ) -> None:
        self._limits = limits
        self._count_tokens = count_tokens or _estimated_tokens
        sizes = {"max_batch": limits.batch, "max_waiting": limits.waiting}
        self._embedding = OneThread[str, Vector](lambda texts: list(embedder.embed(texts)), **sizes)
        self._ranking: OneThread[tuple[str, str], float] | None = None
        if reranker:
            scores = reranker.scores
            self._ranking = OneThread(lambda pairs: _rank_pairs(scores, pairs), **sizes)

    @property
    def is_alive(self) -> bool:
        return self._embedding.is_alive and (self._ranking is None or self._ranking.is_alive)

    def check(self, texts: Sequence[str], max_batch: int) -> None:
        if not texts or not all(texts):
            raise RequestRefused("Empty", "`inputs` cannot be empty")
        if len(texts) > max_batch:
            raise RequestRefused(
                "Validation", f"batch size {len(texts)} > maximum allowed batch size {max_batch}"
            )
        if sum(map(len, texts)) > self._limits.characters:
            raise RequestRefused(
                "Validation", f"the texts have more than {self._limits.characters} characters"
            )

    async def check_lengths(self, texts: Sequence[str]) -> None:
        longest = max(await to_thread(self._count_tokens, texts)) + _MARKS
        if longest > self._limits.tokens:
            raise RequestRefused(
                "Validation",
                f"`inputs` must have less than {self._limits.tokens} tokens. Given: {longest}",
            )

    async def count(self, texts: Sequence[str]) -> int:
        """The number of tokens that the model read."""
        counts = await to_thread(self._count_tokens, texts)
        return sum(min(count + _MARKS, self._limits.tokens) for count in counts)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._limits.batch):  # so that other requests get a turn
            batch = texts[start : start + self._limits.batch]
            vectors += await self._ask(self._embedding, batch)
        made = np.stack(vectors)
        if not np.isfinite(made).all():
            raise RequestRefused("Backend", "the model gave a vector that has no number in a place")
        return made

    async def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._ranking is None:
            raise RequestRefused("Backend", "model is not a re-ranker model")
        scores = await self._ask(self._ranking, [(query, text) for text in texts])
        if not all(map(isfinite, scores)):
            raise RequestRefused("Backend", "score is NaN")
        return list(scores)

    async def _ask(self, thread: OneThread[T, R], items: Sequence[T]) -> Sequence[R]:
        try:
            return await thread.ask(items)
        except Overloaded:
            raise RequestRefused("Overloaded", "Model is overloaded") from None
        except Exception as problem:  # the service survives any error of a model
            emit(EMBEDDING_FAILED, logging.ERROR, reason=f"{type(problem).__name__}: {problem}")
            said = str(problem) if isinstance(problem, Crawl4rError) else "Inference failed"
            raise RequestRefused("Backend", said) from problem

    def close(self) -> None:
        for thread in (self._embedding, self._ranking):
            if thread:
                thread.close()


def _rank_pairs(
    scores: Callable[[str, Sequence[str]], list[float]], pairs: Sequence[tuple[str, str]]
) -> list[float]:
    groups = groupby(pairs, key=lambda pair: pair[0])
    return [
        score for query, group in groups for score in scores(query, [text for _, text in group])
    ]


def _estimated_tokens(texts: Sequence[str]) -> list[int]:
    return [len(text) // 4 + 1 for text in texts]
