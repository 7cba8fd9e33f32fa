"""Servers that embed, for the tests: one that says what it is told to, and our own with a toy model."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import numpy.typing as npt
import uvicorn

from crawl4r.interfaces.http.embedding.app import make_app
from crawl4r.search.port import Reranker, Vector, Vectors

DIMENSION = 16
WORDS = re.compile(r"\w+")


class HashEmbedder:
    """A vector from the hashes of the words: quick, the same everywhere, alike for like texts."""

    model = "hash-16"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.go.wait(30)
        if any("poison" in text for text in texts):
            raise RuntimeError("the toy model does not like poison")
        vectors = np.array([vector_of(text) for text in texts], np.float32)
        if any("not-a-number" in text for text in texts):
            vectors[0, 0] = np.nan
        return vectors

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector

    def close(self) -> None: ...


class OverlapReranker:
    """Scores a text by the words it shares with the question."""

    model = "overlap"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        words = set(WORDS.findall(query.lower()))
        return [
            10.0 * len(words & set(WORDS.findall(text.lower()))) / (len(words) or 1)
            for text in texts
        ]

    def close(self) -> None: ...


def vector_of(text: str) -> Vector:
    total = np.full(DIMENSION, 0.001, np.float64)
    for word in WORDS.findall(text.lower()):
        total += _direction_of(word)
    vector: Vector = (total / np.linalg.norm(total)).astype(np.float32)
    return vector


@lru_cache
def _direction_of(word: str) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION)


@contextmanager
def our_service(
    embedder: HashEmbedder, *, reranker: Reranker | None = None, **limits: Any
) -> Iterator[str]:
    """`make_app` under uvicorn on a free port; its address."""
    app = make_app(embedder, model=embedder.model, reranker=reranker, **limits)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        embedder.go.set()
        server.should_exit = True
        thread.join(20)


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    question: Any
    connection: tuple[str, int]


@dataclass
class Answer:
    body: Any  # bytes go as they are, anything else as JSON
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    is_gzipped: bool = False
    is_dropped: bool = False  # the connection ends without an answer

    def encoded(self) -> bytes:
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return gzip.compress(body) if self.is_gzipped else body


Script = Callable[[Asked], Answer]


class ScriptedServer:
    """Answers as the script says, and remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are two writes

            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _answer(self, question: Any) -> None:
                asked = Asked(self.path, dict(self.headers), question, self.client_address)
                outer.asked.append(asked)
                answer = script(asked)
                if answer.seconds:
                    outer.gone.wait(answer.seconds)
                if answer.is_dropped:
                    self.close_connection = True
                    return
                body = answer.encoded()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.is_gzipped:
                    self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:  # who asked did not wait for all of it
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

        self.gone = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def questions(self, path: str) -> list[Any]:
        return [asked.question for asked in self.asked if asked.path == path]

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.gone.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


INFO = {
    "model_id": "thenlper/gte-base",
    "model_sha": "fca14538aa9956a46526bd1d0d11d69e19b5a101",
    "model_dtype": "float16",
    "model_type": {"embedding": {"pooling": "cls"}},
    "max_concurrent_requests": 128,
    "max_input_length": 512,
    "max_batch_tokens": 2048,
    "max_batch_requests": None,
    "max_client_batch_size": 4,
    "auto_truncate": False,
    "tokenization_workers": 4,
    "version": "1.7.1",
    "sha": None,
    "docker_label": None,
}


def tei_error(status: int, error: str, kind: str, **headers: str) -> Answer:
    return Answer({"error": error, "error_type": kind}, status, headers)


def openai_error(status: int, message: str, kind: str, code: str | None = None) -> Answer:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Answer({"error": error}, status)


def as_tei(asked: Asked) -> Answer:
    """A server that follows TEI's published description and has nothing to complain about."""
    if asked.path == "/info":
        return Answer(INFO)
    if asked.path == "/health":
        return Answer(b"")
    if asked.path == "/embed":
        return Answer([[3.0 * x for x in vector_of(t).tolist()] for t in asked.question["inputs"]])
    if asked.path == "/rerank":
        texts = asked.question["texts"]
        scores = OverlapReranker().scores(asked.question["query"], texts)
        order = sorted(range(len(texts)), key=lambda index: -scores[index])
        return Answer([{"index": index, "score": scores[index]} for index in order])
    return Answer(b"", 404)


def as_openai(asked: Asked) -> Answer:
    data = [
        {"object": "embedding", "index": index, "embedding": vector_of(text).tolist()}
        for index, text in enumerate(asked.question["input"])
    ]
    usage = {"prompt_tokens": 3 * len(data), "total_tokens": 3 * len(data)}
    return Answer({"object": "list", "data": data[::-1], "model": "toy", "usage": usage})


def in_turn(path: str, first: Sequence[Answer], then: Script) -> Script:
    """The given answers to the first questions on a path; whatever `then` says to the rest."""
    waiting = list(first)

    def script(asked: Asked) -> Answer:
        return waiting.pop(0) if asked.path == path and waiting else then(asked)

    return script
