"""An embedding service with the APIs of text-embeddings-inference and OpenAI.

    /embed /rerank /info /health            TEI 1.7
    /v1/embeddings /v1/models               OpenAI

Vectors always have unit length. A text too long for the model is cut unless the request forbids it.
Requests that arrive while the model works share its next batch.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from math import exp
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from crawl4r._version import __version__
from crawl4r.interfaces.http.embedding.shapes import (
    Bodies,
    EmbedQuestion,
    OpenAiQuestion,
    RequestRefused,
    RerankQuestion,
    refusal,
)
from crawl4r.interfaces.http.embedding.work import EmbeddingWork, WorkLimits
from crawl4r.interfaces.http.guard import HostCheck
from crawl4r.search.port import Embedder, Reranker, Vector

_LARGEST_AT_ONCE = 8  # concurrent requests of maximum size
_OPENAI_BATCH = 2048  # OpenAI's limit of texts, which its clients assume


def make_app(
    embedder: Embedder,
    *,
    model: str,
    reranker: Reranker | None = None,
    max_batch: int = 32,
    max_chars: int = 1_000_000,  # of all texts of a request
    max_waiting: int = 128,  # requests; a further one gets 429
    max_input_length: int = 512,  # tokens
    count_tokens: Callable[[Sequence[str]], list[int]] | None = None,
    hosts: Collection[str] = (),
) -> FastAPI:
    """The service. One thread of it uses the embedder; the caller closes the embedder.

    `hosts` are valid host names besides addresses, `localhost` and the machine's own name.
    """
    limits = WorkLimits(max_batch, max_chars, max_waiting, max_input_length)
    work = EmbeddingWork(embedder, reranker, limits, count_tokens)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        work.close()

    # No API pages: they would load scripts from other sites.
    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.add_exception_handler(RequestRefused, refusal)
    app.add_middleware(HostCheck, allowed=hosts)
    bodies = Bodies(limits.bytes, _LARGEST_AT_ONCE * limits.bytes)
    _add_tei(app, work, bodies, model, limits)
    _add_openai(app, work, bodies, model, embedder.dimension)
    return app


def _add_tei(
    app: FastAPI, work: EmbeddingWork, bodies: Bodies, model: str, limits: WorkLimits
) -> None:
    @app.get("/")
    @app.get("/health")
    async def health() -> Response:
        if not work.is_alive:
            raise RequestRefused("Unhealthy", "unhealthy")
        return Response()

    @app.get("/info")
    async def info() -> dict[str, Any]:
        return _info(model, limits)

    @app.post("/")  # the path of Hugging Face's client
    @app.post("/embed")
    async def embed(request: Request) -> Response:
        question = await bodies.read(request, EmbedQuestion)
        if question.prompt_name:
            raise RequestRefused("Tokenizer", f"the model has no prompt {question.prompt_name!r}")
        texts = _as_list(question.inputs)
        work.check(texts, limits.batch)
        if question.truncate is False:
            await work.check_lengths(texts)
        return JSONResponse((await work.embed(texts)).tolist())

    @app.post("/rerank")
    async def rerank(request: Request) -> list[dict[str, Any]]:
        question = await bodies.read(request, RerankQuestion)
        work.check(question.texts, limits.batch)
        scores = await work.rank(question.query, question.texts)
        if not question.raw_scores:
            scores = [_sigmoid(score) for score in scores]
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        texts = question.texts if question.return_text else None
        return [
            {"index": index, "score": scores[index]} | ({"text": texts[index]} if texts else {})
            for index in order
        ]


def _add_openai(
    app: FastAPI, work: EmbeddingWork, bodies: Bodies, model: str, dimension: int
) -> None:
    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        known = {"id": model, "object": "model", "created": 0, "owned_by": "crawl4r"}
        return {"object": "list", "data": [known]}

    @app.post("/v1/embeddings")
    async def openai(request: Request) -> Response:
        question = await bodies.read(request, OpenAiQuestion)
        if question.dimensions not in {None, dimension}:
            raise RequestRefused("Tokenizer", f"the model has {dimension} dimensions, no others")
        texts = _as_list(question.input)
        work.check(texts, _OPENAI_BATCH)
        vectors = await work.embed(texts)
        is_packed = question.encoding_format == "base64"
        rows = [_packed(vector) if is_packed else vector.tolist() for vector in vectors]
        data = [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in enumerate(rows)
        ]
        tokens = await work.count(texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return JSONResponse({"object": "list", "data": data, "model": model, "usage": usage})


def _info(model: str, limits: WorkLimits) -> dict[str, Any]:
    return {
        "model_id": model,
        "model_sha": None,
        "model_dtype": "float32",
        "model_type": {"embedding": {"pooling": "mean"}},
        "max_concurrent_requests": limits.waiting,
        "max_input_length": limits.tokens,
        "max_batch_tokens": limits.batch * limits.tokens,
        "max_batch_requests": None,
        "max_client_batch_size": limits.batch,
        "auto_truncate": True,
        "tokenization_workers": 1,
        "version": __version__,
        "sha": None,
        "docker_label": None,
    }


def _as_list(inputs: str | list[str]) -> list[str]:
    return [inputs] if isinstance(inputs, str) else inputs


def _packed(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score)) if score >= 0 else exp(score) / (1 + exp(score))
