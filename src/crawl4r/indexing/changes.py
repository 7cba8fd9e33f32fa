"""What a batch of documents means for the indexes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from crawl4r.search.port import Passage, VectorIndex


class Changes(Struct):
    """Told to the indexes before the catalogue commits."""

    put: list[Passage] = field(default_factory=list)
    retired: list[tuple[list[int], float]] = field(default_factory=list)
    deleted: list[int] = field(default_factory=list)
    relabelled: list[Passage] = field(default_factory=list)  # those that have a vector
    passages: int = 0
    left_out: dict[str, int] = field(default_factory=dict)  # by reason


def put_again(vectors: VectorIndex, passages: Sequence[Passage]) -> None:
    """Give passages other facets; they keep their vectors."""
    known = vectors.vectors([passage.number for passage in passages]) if passages else {}
    found = [passage for passage in passages if passage.number in known]
    if found:
        rows = np.stack([known[passage.number] for passage in found])
        vectors.put([(passage.number, passage.facets) for passage in found], rows)
