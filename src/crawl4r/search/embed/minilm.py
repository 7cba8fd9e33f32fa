"""Embeddings by all-MiniLM-L6-v2 in int8 on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crawl4r.errors import EmbedderMissing
from crawl4r.processes.spawn import usable_cores
from crawl4r.search.embed.minilm_file import PACKAGE, load_model
from crawl4r.search.embed.weights import readable
from crawl4r.search.port import Vector, Vectors
from crawl4r.search.silent_onnxruntime import onnxruntime

_WINDOW = 254  # tokens without the two around them: the length of the training texts
_MOST_WINDOWS = 8


def is_installed() -> bool:
    """Whether the package with the weights is installed."""
    try:
        PACKAGE.folder()
    except EmbedderMissing:
        return False
    return True


class MiniLmEmbedder:
    """Embeds texts one by one on several threads. A vector depends on its text alone.

    The vector of a long text is the mean over windows of equal length. On abstracts of up to 600
    tokens that found more than one window of 512 or the first 256 tokens (docs/decisions/0007).
    Queries use a higher precision than passages.

    Batches are no faster: from 32 tokens on a single text is as fast as a batch, and from 500 tokens a
    batch is slower, because it exceeds the caches. For the same reason each thread takes whole texts.
    """

    model = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, cache: Path, *, threads: int = 0) -> None:
        """Makes the model in `cache` if it is missing. `threads=None` uses one thread per core.

        Raises EmbedderMissing without the package, and StorageFull when `cache` cannot be written.
        """
        self._cache = cache
        self._tokenizer = PACKAGE.read_tokenizer()
        # The file cuts and pads at 128 tokens, a setting of the training and not of the model.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._first, self._last = self._tokenizer.encode("").ids
        self._threads = threads or usable_cores()
        self._pool: ThreadPoolExecutor | None = None

    @cached_property
    def _for_passages(self) -> onnxruntime.InferenceSession:
        return _session(load_model(self._cache, "int8"))

    @cached_property
    def _for_questions(self) -> onnxruntime.InferenceSession:
        return _session(load_model(self._cache, "close"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, in order. Of a very long text the first 2,000 tokens count."""
        session = self._for_passages
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for row, vector in enumerate(self._each(lambda text: self._read(text, session), texts)):
            vectors[row] = vector
        return vectors

    def embed_query(self, text: str) -> Vector:
        return self._read(text, self._for_questions)

    def close(self) -> None:
        if self._pool:
            self._pool.shutdown()
            self._pool = None

    def _each(self, read: Callable[[str], Vector], texts: Sequence[str]) -> Iterable[Vector]:
        if self._threads == 1 or len(texts) < 2:
            return map(read, texts)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
        return self._pool.map(read, texts)

    def _read(self, text: str, session: onnxruntime.InferenceSession) -> Vector:
        tokens = session.get_inputs()[0].name  # the only one
        read = [session.run(None, {tokens: row})[0][0] for row in self._windows(text)]
        if len(read) == 1:
            single: Vector = read[0]
            return single
        mean: Vector = np.mean(read, axis=0)
        return mean / np.linalg.norm(mean)

    def _windows(self, text: str) -> list[npt.NDArray[np.int64]]:
        tokens = self._tokenizer.encode(readable(text), add_special_tokens=False).ids
        tokens = tokens[: _MOST_WINDOWS * _WINDOW]
        count = max(1, -(-len(tokens) // _WINDOW))
        size = -(-len(tokens) // count) or 1
        return [
            np.array([[self._first, *tokens[at : at + size], self._last]], np.int64)
            for at in range(0, max(len(tokens), 1), size)
        ]


def _session(model: bytes) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        model, _session_options(), providers=["CPUExecutionProvider"]
    )


def _session_options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # its threads would synchronise at every node
    options.inter_op_num_threads = 1
    # A higher level fuses Add and LayerNormalization into one node that is much slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return options
