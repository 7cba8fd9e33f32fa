"""Embeddings by looking words up: a hundred times as fast as a model, for bulk; order means nothing.

The table and its tokenizer come with the package `wordllama` (32,000 pieces of words, 256 numbers
each). They are read without its loader, which would ask a hub on the network.
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
    """The mean of the vectors of a text's pieces; of a long text its first 32,768 characters.

    A text without a piece is near to nothing: it gets the first axis.
    """

    model = "wordllama-l2-supercat-256"

    def __init__(self) -> None:
        """Raises EmbedderMissing without the package."""
        self._tokenizer = PACKAGE.read_tokenizer()
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # As float16 it would be converted at every lookup, and 16 MB less are not worth that.
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
        """The same as for a passage."""
        pieces = self._tokenizer.encode(readable(text), add_special_tokens=False).ids
        total: Vector = self._table[pieces].sum(axis=0)
        length = float(np.linalg.norm(total))
        if not length:
            total[0] = length = 1.0
        return total / np.float32(length)

    def close(self) -> None:
        pass
