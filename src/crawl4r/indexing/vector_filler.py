"""Gives passages their vectors, some at a time, after their words can be searched.

    passages without a vector ──> embedder ──> vector index ──> catalogue

A text that had a vector before, here or in the index that this one replaces, is not embedded again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crawl4r.indexing.passages import text_of
from crawl4r.search.index import Index
from crawl4r.search.indexed_passage import IndexedPassage, facets_of
from crawl4r.search.port import Embedder, Vector

_PASSAGES = 512  # looked at for vectors at once
_EMBEDDED = 48  # of those embedded at once: about two seconds of one core


class Filled(NamedTuple):
    """How many passages were given a vector."""

    embedded: int = 0  # by the embedder
    reused: int = 0  # a vector that the same text had


class VectorFiller:
    """Fills the vector index of one `Index` from its catalogue; commits the catalogue."""

    def __init__(self, index: Index, embedder: Embedder | None, previous: Index | None) -> None:
        """Without an embedder it fills nothing. `previous`: the index that `index` is to replace."""
        self._index = index
        self._catalogue = index.catalogue
        self._embedder = embedder
        self._previous = previous

    def fill_some(self) -> Filled:
        """Give some passages their vectors; nothing is filled when all have one."""
        vectors = self._index.vectors
        if self._embedder is None or vectors is None:
            return Filled()
        waiting = self._catalogue.waiting(_PASSAGES)
        if not waiting:
            return Filled()
        known = self._known_vectors({found.entry.key for found in waiting})
        fresh = list({f.entry.key: f for f in waiting if f.entry.key not in known}.values())
        fresh = fresh[:_EMBEDDED]
        known |= self._embed(self._embedder, fresh)
        done = [found for found in waiting if found.entry.key in known]
        vectors.put(
            [(f.entry.number, facets_of(f.version, f.entry.content_type)) for f in done],
            np.stack([known[found.entry.key] for found in done]),
        )
        self._catalogue.mark_embedded([found.entry.number for found in done])
        self._catalogue.commit()
        return Filled(len(fresh), len(done) - len(fresh))

    def _embed(self, embedder: Embedder, fresh: list[IndexedPassage]) -> dict[bytes, Vector]:
        if not fresh:
            return {}
        made = embedder.embed([text_of(found) for found in fresh])
        return {found.entry.key: vector for found, vector in zip(fresh, made, strict=True)}

    def _known_vectors(self, keys: set[bytes]) -> dict[bytes, Vector]:
        """Vectors of texts that were embedded before, here or in the index that this one replaces."""
        known: dict[bytes, Vector] = {}
        for index in (self._index, self._previous):
            if index is None or index.vectors is None:
                continue
            numbers = index.catalogue.embedded(list(keys - known.keys()))
            vectors = index.vectors.vectors(list(numbers.values()))
            known |= {key: vectors[n] for key, n in numbers.items() if n in vectors}
        return known
