"""What `bench.vectors` compares: each keeps vectors on disk and answers from its own process.

A contender is built once into a folder, then opened; every tenth passage is in the domain `d0.test`.
"""

# ruff: noqa: PLC0415 (contenders are optional)

from abc import ABC, abstractmethod
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from crawl4r.search.port import Facets, Filters
from crawl4r.search.vectors.scan import ScanVectors

DIMENSION = 384
DOMAINS = 10
CANDIDATES = 1_000  # that the binary prefilter passes on


def domain(number: int) -> str:
    return f"d{number % DOMAINS}.test"


class Scan:
    """ScanVectors as it stands, with a writer in another process."""

    writes_from_elsewhere = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index: ScanVectors | None = None

    def build(self, vectors: np.ndarray) -> None:
        index = ScanVectors(self._folder, DIMENSION, writable=True)
        for start in range(0, len(vectors), 5_000):
            some = vectors[start : start + 5_000]
            index.put(
                [(start + n, Facets(domain=domain(start + n))) for n in range(len(some))], some
            )
        index.close()

    def open(self, *, writable: bool = False) -> None:
        self._index = ScanVectors(self._folder, DIMENSION, writable=writable)

    def ask(self, question: np.ndarray, limit: int, is_filtered: bool) -> list[int]:
        where = Filters(domains=("d0.test",)) if is_filtered else Filters()
        return [found.number for found in self._index.nearest(question, limit, where)]

    def write(self, first: int, vectors: np.ndarray) -> None:
        numbers = range(first, first + len(vectors))
        self._index.put([(n, Facets(domain=domain(n))) for n in numbers], vectors)
        self._index.retire(numbers[::2], 1.0)


class _Kernel(Scan, ABC):
    """A way to score all vectors, in memory mapped from a file; others write beside it."""

    def build(self, vectors: np.ndarray) -> None:
        super().build(vectors)
        scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
        np.save(self._folder / "f32.npy", vectors)
        np.save(self._folder / "i8.npy", np.rint(vectors / scales[:, None]).astype(np.int8))
        np.save(self._folder / "scales.npy", scales)
        np.save(self._folder / "bits.npy", np.packbits(vectors > 0, axis=1).view(np.uint64))

    def open(self, *, writable: bool = False) -> None:
        if writable:
            super().open(writable=True)
            return
        self.load()
        self._of_d0 = np.arange(len(self._scales)) % DOMAINS == 0

    def load(self) -> None:
        self._scales = np.load(self._folder / "scales.npy")
        self._codes = np.load(self._folder / "i8.npy", mmap_mode="r")

    def ask(self, question: np.ndarray, limit: int, is_filtered: bool) -> list[int]:
        scores = self.scores(question)
        if is_filtered:
            scores = np.where(self._of_d0, scores, -inf)
        best = np.argpartition(scores, -limit)[-limit:]
        return best[np.argsort(-scores[best])].tolist()

    @abstractmethod
    def scores(self, question: np.ndarray) -> np.ndarray: ...


def _rounded(question: np.ndarray) -> np.ndarray:
    return np.rint(question * (127 / np.abs(question).max())).astype(np.int8)[None]


class F32Matmul(_Kernel):
    def load(self) -> None:
        super().load()
        self._vectors = np.load(self._folder / "f32.npy", mmap_mode="r")

    def scores(self, question: np.ndarray) -> np.ndarray:
        return self._vectors @ question


class SimsimdInt8(_Kernel):
    def scores(self, question: np.ndarray) -> np.ndarray:
        import simsimd

        return np.asarray(simsimd.cdist(_rounded(question), self._codes, "dot"))[0] * self._scales


class NumkongInt8(_Kernel):
    def scores(self, question: np.ndarray) -> np.ndarray:
        import numkong

        return np.asarray(numkong.cdist(_rounded(question), self._codes, "dot"))[0] * self._scales


class UsearchExact(_Kernel):
    """Gives the best alone, so that a filter has to ask for many more."""

    def ask(self, question: np.ndarray, limit: int, is_filtered: bool) -> list[int]:
        from usearch.index import MetricKind, search

        many = limit * DOMAINS * 3 if is_filtered else limit * 3
        found = search(self._codes, _rounded(question)[0], many, MetricKind.Cos, exact=True)
        kept = found.keys[self._of_d0[found.keys]] if is_filtered else found.keys
        return kept[:limit].tolist()


class BinaryThenInt8(_Kernel):
    def load(self) -> None:
        super().load()
        self._bits = np.load(self._folder / "bits.npy", mmap_mode="r")

    def ask(self, question: np.ndarray, limit: int, is_filtered: bool) -> list[int]:
        bits = np.packbits(question > 0).view(np.uint64)
        apart = np.bitwise_count(self._bits ^ bits).sum(axis=1, dtype=np.uint16)
        if is_filtered:
            apart = np.where(self._of_d0, apart, DIMENSION + 1)
        likely = np.argpartition(apart, CANDIDATES)[:CANDIDATES]
        scores = (self._codes[likely].astype(np.float32) @ question) * self._scales[likely]
        return likely[np.argsort(-scores)[:limit]].tolist()


class QdrantEdge:
    """One opener: it writes, and optimises, in a thread of the process that answers."""

    writes_from_elsewhere = False

    def __init__(self, folder: Path) -> None:
        import qdrant_edge

        self._edge: Any = qdrant_edge
        self._folder = folder
        self._shard: Any = None

    def build(self, vectors: np.ndarray) -> None:
        edge = self._edge
        params = edge.EdgeVectorParams(size=DIMENSION, distance=edge.Distance.Cosine, on_disk=True)
        quantised = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, 0.99, True)
        config = edge.EdgeConfig(vectors=params, quantization_config=quantised)
        self._folder.mkdir()
        self._shard = edge.EdgeShard.create(str(self._folder), config)
        index = edge.UpdateOperation.create_field_index("domain", edge.PayloadSchemaType.Keyword)
        self._shard.update(index)
        for start in range(0, len(vectors), 1_000):
            self._put(start, vectors[start : start + 1_000])
        while self._shard.optimize():
            pass
        self._shard.flush()
        self._shard.close()

    def open(self, *, writable: bool = False) -> None:
        self._shard = self._edge.EdgeShard.load(str(self._folder))

    def ask(self, question: np.ndarray, limit: int, is_filtered: bool) -> list[int]:
        edge = self._edge
        match = edge.FieldCondition("domain", match=edge.MatchValue("d0.test"))
        request = edge.SearchRequest(
            edge.Query.Nearest(question.tolist()),
            limit,
            filter=edge.Filter(must=[match]) if is_filtered else None,
            params=edge.SearchParams(hnsw_ef=128),
        )
        return [point.id for point in self._shard.search(request)]

    def write(self, first: int, vectors: np.ndarray) -> None:
        self._put(first, vectors)
        numbers = list(range(first, first + len(vectors)))[::2]
        self._shard.update(self._edge.UpdateOperation.set_payload(numbers, {"retired_at": 1.0}))
        if first // len(vectors) % 20 == 0:
            self._shard.optimize()
        self._shard.flush()

    def _put(self, first: int, vectors: np.ndarray) -> None:
        points = [
            self._edge.Point(first + n, vector.tolist(), {"domain": domain(first + n)})
            for n, vector in enumerate(vectors)
        ]
        self._shard.update(self._edge.UpdateOperation.upsert_points(points))


CONTENDERS = {
    "crawl4r scan": Scan,
    "f32 matmul": F32Matmul,
    "simsimd int8": SimsimdInt8,
    "numkong int8": NumkongInt8,
    "usearch exact int8": UsearchExact,
    "binary + int8": BinaryThenInt8,
    "qdrant-edge": QdrantEdge,
}
