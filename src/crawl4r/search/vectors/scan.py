"""The embedded vector index: it compares each query with every vector, by signs first.

Files mapped into memory (`vector_files`) hold each vector as int8 and the signs of its values. The one
in fifty with the most signs in common with the question, and never fewer than two thousand, are
compared in full. The index needs no optimising, and filters and retirements are masks. A search takes
time in proportion to the number of vectors, so use it for up to about a million, and Qdrant
(`vectors_qdrant`) beyond that.

Replaced and deleted rows are skipped; they keep their bytes until the index is rebuilt.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np
import numpy.typing as npt
import simsimd

from crawl4r.search.port import Facets, Filters, Scored, Vector, Vectors
from crawl4r.search.vectors.files import VectorFiles
from crawl4r.search.vectors.names import Name
from crawl4r.search.vectors.rows import (
    ROW,
    Codes,
    Rows,
    Signs,
    Snapshot,
    matching,
    rows_of,
    signs_of,
)

_BLOCK = 131_072  # vectors a call: simsimd holds the interpreter's lock while it computes
_FEW = 8  # a filter that lets through less than one in so many has its signs gathered first
_CANDIDATES = 2_000  # vectors compared in full, at least
_CANDIDATES_A_PLACE = 20
_ONE_IN = 50

Scores = npt.NDArray[np.float32]
Counts = npt.NDArray[np.uint16]


class ScanVectors:
    """See `port.VectorIndex`. Several threads may search; one at a time may write."""

    def __init__(self, folder: Path, dimension: int, *, writable: bool) -> None:
        self._dimension = dimension
        self._files = VectorFiles(folder, dimension, writable=writable)
        self._matched: tuple[Snapshot, Filters, Rows] | None = None

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def has_waiting(self) -> bool:
        return False

    def put(self, passages: Sequence[tuple[int, Facets]], vectors: Vectors) -> None:
        if vectors.shape != (len(passages), self._dimension) or not np.isfinite(vectors).all():
            raise ValueError(f"{len(passages)} passages with vectors of shape {vectors.shape}")
        if not passages:
            return
        codes = _rounded(vectors)
        records = np.zeros(len(passages), ROW)
        records["number"] = [number for number, _ in passages]
        records["captured_at"] = [facets.captured_at for _, facets in passages]
        records["retired_at"] = [facets.retired_at for _, facets in passages]
        records["scale"] = _scales(codes)
        self._files.append(records, codes, [_names(facets) for _, facets in passages])

    def retire(self, numbers: Sequence[int], at: float) -> None:
        self._set_retired(numbers, at)

    def delete(self, numbers: Sequence[int]) -> None:
        self._set_retired(numbers, -inf)

    def nearest(self, vector: Vector, limit: int, where: Filters) -> list[Scored]:
        now = self._files.snapshot()
        rows = self._matching(now, where)
        if limit <= 0 or not rows.size:
            return []
        rows = _likely(now, vector, rows, limit)
        scores, numbers = _scores(now, vector, rows), now.records["number"][rows]
        best = np.lexsort((numbers, -scores))[:limit]
        return list(map(Scored, numbers[best].tolist(), scores[best].tolist()))

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        now = self._files.snapshot()
        rows = rows_of(now, numbers)
        scores = _scores(now, vector, rows).tolist()
        return dict(zip(now.records["number"][rows].tolist(), scores, strict=True))

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        now = self._files.snapshot()
        rows = rows_of(now, numbers)
        values = now.codes[rows] * now.records["scale"][rows, None]
        return dict(zip(now.records["number"][rows].tolist(), values, strict=True))

    def count(self) -> int:
        return matching(self._files.snapshot(), Filters()).size

    def close(self) -> None:
        self._files.close()

    def _matching(self, now: Snapshot, where: Filters) -> Rows:
        """The rows that pass the filters, cached because queries often repeat their filters."""
        if now.sorted_numbers.size and where.up_to >= now.sorted_numbers[-1]:
            where = where._replace(up_to=Filters().up_to)
        if self._matched is None or self._matched[0] is not now or self._matched[1] != where:
            self._matched = (now, where, matching(now, where))
        return self._matched[2]

    def _set_retired(self, numbers: Sequence[int], at: float) -> None:
        rows = rows_of(self._files.snapshot(), numbers)
        if rows.size:
            self._files.set_retired(rows.tolist(), at)


def _names(facets: Facets) -> tuple[Name, ...]:
    """The facets in the order of NAME_FIELDS."""
    return (
        facets.domain,
        facets.language,
        facets.kind,
        facets.content_type,
        facets.collections,
        facets.tags,
    )


def _rounded(vectors: Vectors) -> Codes:
    """Scale to int8: the largest value of each vector becomes 127."""
    greatest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    codes: Codes = np.rint(vectors / greatest * 127).astype(np.int8)
    return codes


def _scales(codes: Codes) -> Scores:
    """The scale that restores unit length, so that a product is a cosine."""
    lengths = np.linalg.norm(codes.astype(np.float32), axis=1)
    scales: Scores = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return scales


def _likely(now: Snapshot, vector: Vector, rows: Rows, limit: int) -> Rows:
    """The rows whose vectors share the most signs with the query."""
    count = max(_CANDIDATES, limit * _CANDIDATES_A_PLACE, rows.size // _ONE_IN)
    if rows.size <= count:
        return rows
    signs = signs_of(vector[None])
    if rows.size * _FEW < len(now.signs):
        apart = _apart(signs, now.signs[rows])
    else:
        apart = _apart(signs, now.signs)
        if rows.size < len(apart):
            apart = apart[rows]
    return _least(now, rows, apart, count)


def _apart(question: Signs, signs: Signs) -> Counts:
    """The number of signs in which each vector differs from the query."""
    apart = np.empty(len(signs), np.uint16)
    for start in range(0, len(signs), _BLOCK):
        block = signs[start : start + _BLOCK]
        found = simsimd.cdist(question, block, "hamming", dtype="bin8")
        apart[start : start + len(block)] = np.asarray(found)[0]
    return apart


def _least(now: Snapshot, rows: Rows, apart: Counts, limit: int) -> Rows:
    """The rows with the fewest differing signs; of equal ones those with the lowest numbers."""
    most = int(np.searchsorted(np.cumsum(np.bincount(apart)), limit))
    likely = np.flatnonzero(apart <= most)
    rows, apart = rows[likely], apart[likely]
    return rows[np.lexsort((now.records["number"][rows], apart))[:limit]]


def _scores(now: Snapshot, vector: Vector, rows: Rows) -> Scores:
    # Not a matrix product: there the sum of a row depends on its place, and equal vectors must tie.
    sums = np.einsum("ij,j->i", now.codes[rows].astype(np.float32), vector)
    scores: Scores = sums * now.records["scale"][rows]
    return scores
