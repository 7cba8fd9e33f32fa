"""Embedder and reranker on a text-embeddings-inference server, or on `crawl4r embed serve`.

The requests follow its published OpenAPI description (1.7). `/info` tells the limits of the server,
which answers larger requests with 413.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from msgspec import Struct

from crawl4r.search.embed.http_json import JsonClient
from crawl4r.search.embed.remote import RemoteEmbedder, ask_in_batches, prepare, unit_vectors
from crawl4r.search.embed.server_failed import ServerFailed
from crawl4r.search.port import Vector

_MAX_BYTES = 1_000_000  # of texts in one request; a server accepts 2 MB by default
_MAX_BATCH = 32  # texts, if a server names no limit; its default


class _Info(Struct, frozen=True):
    model: str
    max_batch: int


class _TeiServer:
    def __init__(
        self,
        url: str,
        *,
        api_key: str = "",
        timeout: float = 60.0,
        client: JsonClient | None = None,
    ) -> None:
        self._client = client or JsonClient(url, token=api_key, timeout=timeout)
        self._known: _Info | None = None

    @property
    def model(self) -> str:
        return self._info.model

    def check(self) -> None:
        """Raises ServerFailed unless the server is healthy."""
        self._client.get("/health")

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def _is_too_much(problem: ServerFailed) -> bool:
        return problem.status == 413

    @property
    def _info(self) -> _Info:
        """The server's `/info`, requested at the first use of the embedder."""
        if self._known is None:
            self._known = self._read_info(self._client.get("/info"))
        return self._known

    def _read_info(self, found: Any) -> _Info:
        model = found.get("model_id") if isinstance(found, dict) else None
        if not isinstance(model, str) or not model:
            raise self._client.failure(
                "/info", "names no model_id: is it a text-embeddings-inference server?"
            )
        if isinstance(sha := found.get("model_sha"), str) and sha:
            model = f"{model}@{sha[:12]}"  # each revision has its own vectors
        most = found.get("max_client_batch_size")
        return _Info(model, most if isinstance(most, int) and most > 0 else _MAX_BATCH)


class TeiEmbedder(_TeiServer, RemoteEmbedder):
    """See `port.Embedder`."""

    _max_bytes = _MAX_BYTES

    @property
    def _max_batch(self) -> int:
        return self._info.max_batch

    def _embed_batch(self, texts: list[str]) -> list[Vector]:
        rows = self._client.post("/embed", {"inputs": texts, "normalize": True, "truncate": True})
        try:
            vectors = unit_vectors(rows, len(texts), self._dimension)
        except ValueError as problem:
            raise self._client.failure("/embed", str(problem)) from None
        self._dimension = vectors.shape[1]
        return list(vectors)


class TeiReranker(_TeiServer):
    """See `port.Reranker`."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        [query] = prepare([query])
        return ask_in_batches(
            lambda batch: self._rank_batch(query, batch),
            prepare(texts),
            max_count=self._info.max_batch,
            max_bytes=_MAX_BYTES,
            is_too_much=self._is_too_much,
        )

    def _rank_batch(self, query: str, texts: list[str]) -> list[float]:
        # Raw scores: the sigmoid of a high score is 1.0 in 32 bits, which loses the order of the best.
        question = {"query": query, "texts": texts, "truncate": True, "raw_scores": True}
        ranks = self._client.post("/rerank", question)
        try:
            found = {int(rank["index"]): float(rank["score"]) for rank in ranks}
        except (TypeError, KeyError, ValueError):
            raise self._client.failure(
                "/rerank", "answers with something that is not a list of ranks"
            ) from None
        if sorted(found) != list(range(len(texts))) or len(ranks) != len(texts):
            raise self._client.failure("/rerank", f"does not rank each of {len(texts)} texts once")
        if not all(map(isfinite, found.values())):
            raise self._client.failure("/rerank", "answers with a score that is not a number")
        return [found[index] for index in range(len(texts))]
