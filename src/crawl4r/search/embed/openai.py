"""Embedder on OpenAI's `/v1/embeddings`, or on a compatible server."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from crawl4r.errors import UsageError
from crawl4r.search.embed.http_json import JsonClient
from crawl4r.search.embed.remote import RemoteEmbedder, unit_vectors
from crawl4r.search.embed.server_failed import ServerFailed
from crawl4r.search.port import Vector

# OpenAI accepts 2,048 texts and 300,000 tokens, compatible servers 32 texts. A token has at least
# one byte, so that no batch has more tokens than bytes.
_MAX_BATCH = 32
_MAX_BYTES = 250_000
_VERSIONED = re.compile(r"/v\d+$")
_TOO_MUCH = re.compile(
    r"context.length|too (long|large|many)|max\w*.{0,40}(token|length)|token.{0,40}(limit|max|exceed)",
    re.IGNORECASE,
)


class OpenAiEmbedder(RemoteEmbedder):
    """See `port.Embedder`. `url` is the server's, with or without `/v1`.

    A text that is too long for the server is halved until it fits, because these servers refuse long
    texts instead of cutting them.
    """

    _max_batch = _MAX_BATCH
    _max_bytes = _MAX_BYTES

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str = "",
        dimensions: int | None = None,
        *,
        encoding: str = "float",  # or base64, a quarter of the bytes; some servers lack it
        timeout: float = 60.0,
        client: JsonClient | None = None,
    ) -> None:
        if not model:
            raise UsageError("an OpenAI-compatible server needs the name of a model")
        self._client = client or JsonClient(url, token=api_key, timeout=timeout)
        versioned = _VERSIONED.search(urlsplit(url).path.rstrip("/"))
        self._path = "/embeddings" if versioned else "/v1/embeddings"
        self._name = model
        self._asked: dict[str, Any] = {"model": model, "encoding_format": encoding}
        if dimensions is not None:
            self._asked["dimensions"] = dimensions
        self._dimension = dimensions
        self.tokens = 0  # counted by the server so far

    @property
    def model(self) -> str:
        cut = self._asked.get("dimensions")
        return f"{self._name}@{cut}" if cut else self._name

    def close(self) -> None:
        self._client.close()

    def _embed_batch(self, texts: list[str]) -> list[Vector]:
        answer = self._client.post(self._path, {**self._asked, "input": texts})
        try:
            vectors = unit_vectors(_rows(answer), len(texts), self._dimension)
        except ValueError as problem:
            raise self._client.failure(self._path, str(problem)) from None
        self._dimension = vectors.shape[1]
        self._count_tokens(answer.get("usage"))
        return list(vectors)

    @staticmethod
    def _is_too_much(problem: ServerFailed) -> bool:
        """Whether a 400 means too much input: only the text of OpenAI's answer tells that."""
        return problem.status == 413 or (
            problem.status in {400, 422} and bool(_TOO_MUCH.search(problem.problem))
        )

    def _count_tokens(self, usage: Any) -> None:
        total = usage.get("total_tokens") if isinstance(usage, dict) else None
        self.tokens += total if isinstance(total, int) else 0


def _rows(answer: Any) -> list[Any]:
    """Sort the vectors by text. A server may answer in any order and in either encoding."""
    try:
        items = sorted(answer["data"], key=lambda item: item["index"])
        indexes = [item["index"] for item in items]
        rows = [item["embedding"] for item in items]
    except (TypeError, KeyError):
        raise ValueError("answers with something that has no data of embeddings") from None
    if indexes != list(range(len(items))):
        raise ValueError(f"answers with the indexes {indexes[:8]}")
    return [_unpacked(row) if isinstance(row, str) else row for row in rows]


def _unpacked(row: str) -> Any:
    """Decode little-endian 32-bit floats in base64."""
    try:
        return np.frombuffer(base64.b64decode(row, validate=True), "<f4")
    except (ValueError, binascii.Error):
        raise ValueError("answers with an embedding that is not base64 of floats") from None
