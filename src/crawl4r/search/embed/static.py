"""Embeddings from a table of words: a hundred times as fast as a model; ignores word order.

The table and its tokenizer come with the package `wordllama` (32,000 pieces of words, 256 numbers
each). This module reads them without its loader, which would contact a hub on the network.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crawl4r.search.embed.weights import ModelPackage, readable
from crawl4r.search.port import Vector, Vectors

PACKAGE = ModelPackage(
    "wordllama",
    weights="weights/l2_supercat_256.safetensors",
    tokenizer="tokenizers/l2_supercat_tokenizer_config.json",
    remedy="pip install --no-deps wordllama",
)


class StaticEmbedder:
    """A text's vector is the mean of the vectors of its pieces, in the first 32,768 characters.

    A text without a known piece gets the first axis, which is near to no text.
    """

    model = "wordllama-l2-supercat-256"

    def __init__(self) -> None:
        """Raises EmbedderMissing without the package."""
        self._tokenizer = PACKAGE.read_tokenizer()
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # float32, because float16 would save 16 MB and cost a conversion at every look-up.
        self._table = PACKAGE.read_weights()["embedding.weight"].astype(np.float32)

    @property
    def dimension(self) -> int:
        return int(self._table.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, in their order."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """The vector of a query; the same as for a passage."""
        pieces = self._tokenizer.encode(readable(text), add_special_tokens=False).ids
        total: Vector = self._table[pieces].sum(axis=0)
        length = float(np.linalg.norm(total))
        if not length:
            total[0] = length = 1.0
        return total / np.float32(length)

    def close(self) -> None:
        pass
