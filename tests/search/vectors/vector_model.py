"""The plainest index of vectors that keeps the port's promises: a dictionary and numpy."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from crawl4r.search.port import Facets, Filters, Scored, Vector, Vectors

DIMENSION = 16


def unit(vectors: np.ndarray) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / lengths).astype(np.float32)


# Of this seed the cosines to each of them lie further apart than rounding moves them.
POOL = unit(np.random.default_rng(1055).standard_normal((9, DIMENSION)))


class ModelVectors:
    def __init__(self) -> None:
        self._points: dict[int, tuple[Facets, Vector]] = {}

    def put(self, passages: Sequence[tuple[int, Facets]], vectors: Vectors) -> None:
        for (number, facets), vector in zip(passages, vectors, strict=True):
            self._points[number] = (facets, vector)

    def retire(self, numbers: Sequence[int], at: float) -> None:
        for number in set(numbers) & set(self._points):
            facets, vector = self._points[number]
            self._points[number] = (facets._replace(retired_at=at), vector)

    def delete(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._points.pop(number, None)

    def nearest(self, vector: Vector, limit: int, where: Filters) -> list[Scored]:
        found = [
            Scored(number, float(vector @ kept))
            for number, (facets, kept) in self._points.items()
            if lets_through(where, number, facets)
        ]
        # Equal vectors give equal cosines here: each is a product of its own.
        return sorted(found, key=lambda scored: (-scored.score, scored.number))[:limit]

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        return {n: float(vector @ kept) for n, kept in self.vectors(numbers).items()}

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        return {n: self._points[n][1] for n in numbers if n in self._points}

    def count(self) -> int:
        return sum(facets.retired_at == inf for facets, _ in self._points.values())


def lets_through(where: Filters, number: int, facets: Facets) -> bool:
    if where.as_of == inf:
        is_known = facets.retired_at == inf
    else:
        is_known = facets.captured_at <= where.as_of < facets.retired_at
    return (
        is_known
        and number <= where.up_to
        and where.since <= facets.captured_at < where.before
        and (not where.languages or facets.language in where.languages)
        and (not where.collections or set(facets.collections) & set(where.collections))
        and (not where.tags or bool(set(facets.tags) & set(where.tags)))
        and (not where.types or bool({facets.kind, facets.content_type} & set(where.types)))
        and (
            not where.domains
            or any(f".{facets.domain}".endswith(f".{domain}") for domain in where.domains)
        )
    )
