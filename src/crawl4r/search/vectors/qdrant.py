"""The vector index on a Qdrant server, for more vectors than one machine can scan quickly.

A passage is a point under its number, its facets are the payload, and every field of a filter is
indexed. This module creates a missing collection and never deletes one. Importing it without
qdrant-client raises a UsageError that tells how to install it.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from crawl4r.errors import UsageError, WorkspaceError
from crawl4r.politeness.backoff import Backoff
from crawl4r.search.places import Claim
from crawl4r.search.port import Facets, Filters, Scored, Vector, Vectors
from crawl4r.search.vectors.write_queue import WriteQueue

try:
    from qdrant_client import QdrantClient, models

    from crawl4r.search.vectors import qdrant_points as points
    from crawl4r.search.vectors.qdrant_calls import ServerAway, answer_of
    from crawl4r.search.vectors.qdrant_owner import settle
except ImportError as missing:
    raise UsageError(
        "vectors on a Qdrant server need its client: pip install 'crawl4r[qdrant]'"
    ) from missing

_BATCH = 100  # points a request
_TIMEOUT = 30  # seconds a request
# Engines multiply whole matrices, where the sum of a row depends on its place: equal vectors may differ
# in the seventh digit, and must tie.
_DIGITS = 6
_MOST_TIES = 10_000  # points read to find the lowest numbers among equal scores
_BACKOFF = Backoff(retries=3, base=0.25, cap=5.0)
_AT_ONCE = Backoff(retries=0)

Answer = TypeVar("Answer")
Operation = dict[str, Any]  # a write as it is queued: see `_apply`


def connect(url: str, api_key: str | None = None) -> QdrantClient:
    """A client for the server at this URL. It sends no request yet."""
    return QdrantClient(url=url, api_key=api_key, timeout=_TIMEOUT, check_compatibility=False)


class QdrantVectors:
    """See `port.VectorIndex`. Used by one thread at a time; closes the client with itself.

    With a `queue` folder, a write that the server cannot accept now is stored there, and sent before
    the next write, at the next opening, or by `flush`. Searches do not see it until then. Without the
    folder it raises.
    """

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        dimension: int,
        *,
        queue: Path | None = None,
        claim: Claim | None = None,
        backoff: Backoff = _BACKOFF,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._collection = collection
        self._dimension = dimension
        self._backoff = backoff
        self._sleep = sleep
        self._claim = claim  # None: any workspace may use the collection
        self._is_ready = False
        self._queue = WriteQueue(queue, collection) if queue else None
        try:
            self._ask(lambda: None)
            self.flush()
        except ServerAway:
            if self._queue is None:
                raise

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def has_waiting(self) -> bool:
        return bool(self._queue)

    def put(self, passages: Sequence[tuple[int, Facets]], vectors: Vectors) -> None:
        if vectors.shape != (len(passages), self._dimension) or not np.isfinite(vectors).all():
            raise ValueError(f"{len(passages)} passages with vectors of shape {vectors.shape}")
        for start in range(0, len(passages), _BATCH):
            some = [
                [number, points.payload(number, facets), _text(vector)]
                for (number, facets), vector in zip(
                    passages[start : start + _BATCH], vectors[start : start + _BATCH], strict=True
                )
            ]
            self._write({"put": some})

    def retire(self, numbers: Sequence[int], at: float) -> None:
        if numbers:
            self._write({"retire": list(numbers), "at": points.moment(at)})

    def delete(self, numbers: Sequence[int]) -> None:
        if numbers:
            self._write({"delete": list(numbers)})

    def flush(self) -> None:
        """Send the queued writes. Raises ServerAway when the server cannot accept them yet."""
        self._send_waiting(self._backoff)

    def nearest(self, vector: Vector, limit: int, where: Filters) -> list[Scored]:
        if limit <= 0:
            return []
        matching = points.matching(where)
        asked = limit + 1
        while True:
            found = self._query(vector, asked, matching, points.SEARCH)
            found.sort(key=lambda scored: (-scored.score, scored.number))
            has_all_ties = len(found) < asked or found[-1].score < found[limit - 1].score
            if has_all_ties or asked >= _MOST_TIES:
                return found[:limit]
            asked *= 4

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        return {
            scored.number: scored.score
            for some in _batches(numbers)
            for scored in self._query(vector, len(some), points.having(some), points.EXACT)
        }

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        return {
            int(record.id): np.asarray(record.vector[points.VECTOR], np.float32)
            for some in _batches(numbers)
            for record in self._retrieve(some)
            if isinstance(record.vector, dict)
        }

    def count(self) -> int:
        now = points.matching(Filters())
        return self._ask(lambda: self._client.count(self._collection, now, exact=True)).count

    def close(self) -> None:
        if self._queue is not None:
            self._queue.close()
        self._client.close()

    def _query(
        self, vector: Vector, limit: int, matching: models.Filter, how: models.SearchParams
    ) -> list[Scored]:
        answer = self._ask(
            lambda: self._client.query_points(
                self._collection,
                query=vector.tolist(),
                using=points.VECTOR,
                query_filter=matching,
                search_params=how,
                limit=limit,
                with_payload=False,
            )
        )
        return [Scored(int(point.id), round(point.score, _DIGITS)) for point in answer.points]

    def _retrieve(self, numbers: list[int]) -> list[models.Record]:
        return self._ask(
            lambda: self._client.retrieve(
                self._collection, numbers, with_payload=False, with_vectors=[points.VECTOR]
            )
        )

    def _write(self, operation: Operation) -> None:
        """Write now, or append to the queue; earlier queued writes go first."""
        # After one failure the next writes go to the queue at once, without another wait.
        backoff = _AT_ONCE if self.has_waiting else self._backoff
        try:
            self._send_waiting(backoff)
            self._ask(lambda: self._apply(operation), backoff)
        except ServerAway:
            if self._queue is None:
                raise
            self._queue.append(operation)

    def _send_waiting(self, backoff: Backoff) -> None:
        if self._queue:
            for operation in self._queue.take():
                self._ask(lambda operation=operation: self._apply(operation), backoff)  # type: ignore[misc]

    def _apply(self, operation: Operation) -> None:
        if put := operation.get("put"):
            structs = [
                models.PointStruct(
                    id=number, payload=payload, vector={points.VECTOR: _floats(text)}
                )
                for number, payload, text in put
            ]
            self._client.upsert(self._collection, structs, wait=True)
        elif numbers := operation.get("retire"):
            self._client.set_payload(
                self._collection, {"retired_at": operation["at"]}, points.having(numbers), wait=True
            )
        else:
            self._client.delete(self._collection, points.having(operation["delete"]), wait=True)

    def _ask(self, ask: Callable[[], Answer], backoff: Backoff | None = None) -> Answer:
        def when_ready() -> Answer:
            self._make_ready()
            return ask()

        return answer_of(when_ready, backoff or self._backoff, self._sleep)

    def _make_ready(self) -> None:
        """Create the collection, or check that an existing one fits."""
        if self._is_ready:
            return
        if not self._client.collection_exists(self._collection):
            if self._claim and not self._claim.may_make:
                raise self._claim.lost("is gone")
            params = points.vector_params(self._dimension)
            self._client.create_collection(self._collection, vectors_config=params)
        info = self._client.get_collection(self._collection)
        params_found = info.config.params.vectors
        found = params_found.get(points.VECTOR) if isinstance(params_found, dict) else None
        if found is None or found.size != self._dimension:
            what = f"vectors of {found.size} dimensions" if found else "no vectors of crawl4r's"
            raise WorkspaceError(
                f"the Qdrant collection {self._collection!r} holds {what} and the model makes "
                f"{self._dimension}; use the model it was made with, or give another collection and "
                "fill it: crawl4r index --rebuild"
            )
        if self._claim:
            settle(self._client, self._collection, self._claim)
        for field, kind in points.INDEXES.items():
            if field not in info.payload_schema and self._may_write:
                self._client.create_payload_index(self._collection, field, kind, wait=True)
        self._is_ready = True

    @property
    def _may_write(self) -> bool:
        return self._claim is None or self._claim.is_writer


def _batches(numbers: Sequence[int]) -> Iterator[list[int]]:
    distinct = list(dict.fromkeys(numbers))
    for start in range(0, len(distinct), _BATCH):
        yield distinct[start : start + _BATCH]


def _text(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def _floats(text: str) -> list[float]:
    floats: list[float] = np.frombuffer(base64.b64decode(text), "<f4").tolist()
    return floats
