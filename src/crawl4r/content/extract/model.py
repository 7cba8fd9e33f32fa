"""The model that separates content from boilerplate: a forest of small decision trees in numpy."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from crawl4r.content.extract.block_features import NameWeights, Numbers, features
from crawl4r.content.extract.blocks import BlockPage

_ROWS = 2_048  # blocks scored at once, to bound memory


class Forest(Struct, frozen=True):
    """Complete binary trees of one depth; the children of node n are 2n + 1 and 2n + 2."""

    columns: NDArray[np.int32]  # tree, node: the feature to compare
    limits: NDArray[np.float32]  # tree, node: a larger value leads to the second child
    leaves: NDArray[np.float32]  # tree, leaf: the summand of the log-odds

    def probabilities(self, table: Numbers) -> NDArray[np.float64]:
        """The probability that each row is content."""
        parts = [self._sums(table[at : at + _ROWS]) for at in range(0, len(table), _ROWS)]
        result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.concatenate(parts)))
        return result

    def _sums(self, table: Numbers) -> NDArray[np.float64]:
        trees, nodes = self.columns.shape
        starts = np.arange(trees, dtype=np.int32)[:, None] * np.int32(nodes)
        rows = np.arange(len(table), dtype=np.int32) * np.int32(table.shape[1])
        values, columns, limits = table.ravel(), self.columns.ravel(), self.limits.ravel()
        at = np.zeros((trees, len(table)), np.int32)
        for _ in range(nodes.bit_length()):
            here = starts + at
            at += at + 1
            at += values.take(columns.take(here) + rows) > limits.take(here)
        at += np.arange(trees, dtype=np.int32)[:, None] * np.int32(nodes + 1) - np.int32(nodes)
        sums: NDArray[np.float64] = self.leaves.ravel().take(at).sum(axis=0, dtype=np.float64)
        return sums


class Model(Struct, frozen=True):
    """The parameters learnt from labelled pages."""

    names: NameWeights
    forest: Forest

    def probabilities(self, page: BlockPage) -> NDArray[np.float64]:
        """The probability that each block of the page is content. The page must have blocks."""
        return self.forest.probabilities(features(page, self.names))

    def save(self, file: Path) -> None:
        """Write a file for `load`."""
        np.savez_compressed(
            file,
            names=np.array(list(self.names.weights)),
            weights=np.array(list(self.names.weights.values()), np.float32),
            columns=self.forest.columns.astype(np.uint8),
            limits=self.forest.limits.astype(np.float32),
            leaves=self.forest.leaves.astype(np.float16),
        )

    @classmethod
    def load(cls, file: IO[bytes]) -> Model:
        """Read a file of `save`."""
        with np.load(file) as stored:
            names = dict(zip(stored["names"].tolist(), stored["weights"].tolist(), strict=True))
            return cls(
                NameWeights(names),
                Forest(
                    stored["columns"].astype(np.int32),
                    stored["limits"],
                    stored["leaves"].astype(np.float32),
                ),
            )
