"""The ports of keyword and vector indexes, with their values. Each has two adapters.

A passage is a chunk of a document in an index, under a number that is never used twice. Numbers, texts
and facets come from the catalogue (`catalogue.py`), which is the truth about them, so every index can
be made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]  # of unit length
Vectors = npt.NDArray[np.float32]  # one a row, each of unit length


class Facets(NamedTuple):
    """The fields that filters test."""

    domain: str = ""
    language: str = ""  # ISO 639 of the document; empty when unknown
    kind: str = ""  # of the document: html, pdf, feed, text ...
    content_type: str = ""  # of the passage: prose, code, table or list
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    captured_at: float = 0.0  # epoch seconds: when the passage became known
    retired_at: float = inf  # when the site replaced or removed it; then only `as_of` finds it


class Passage(NamedTuple):
    """A chunk in an index."""

    number: int
    title: str  # of its document
    headings: tuple[str, ...]  # the headings above it, outermost first
    text: str
    facets: Facets


class Filters(NamedTuple):
    """Conditions that must all hold. One with several values needs any of them; empty: no condition."""

    domains: tuple[str, ...] = ()  # a domain stands for its subdomains too
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # kinds of documents or content types of passages
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: float = -inf  # captured at or after, epoch seconds
    before: float = inf  # captured before
    as_of: float = inf  # search the state of that moment; inf: the current state
    up_to: int = 2**63 - 1  # the highest passage number, so that a cursor stays valid


class Scored(NamedTuple):
    number: int
    score: float


class Embedder(Protocol):
    """Turns texts into vectors. One thread at a time may use it."""

    @property
    def model(self) -> str:
        """The name of the model. An index records it and refuses vectors of another model."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, in order. A text too long for the model is cut."""

    def embed_query(self, text: str) -> Vector:
        """The vector of a query, near to those of passages that answer it."""

    def close(self) -> None: ...


class Reranker(Protocol):
    """Scores query and passage together: slower and better than keyword or vector search."""

    @property
    def model(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, higher is better. Only the order has a meaning."""

    def close(self) -> None: ...


class VectorIndex(Protocol):
    """Vectors by passage number. One writer; any number of readers, also in other processes."""

    @property
    def dimension(self) -> int: ...

    @property
    def has_waiting(self) -> bool:
        """Whether writes wait for a server that did not answer; searches do not see them yet."""

    def put(self, passages: Sequence[tuple[int, Facets]], vectors: Vectors) -> None:
        """Add passages, replacing those with the same number; durable on return."""

    def retire(self, numbers: Sequence[int], at: float) -> None:
        """Retire passages: then only `as_of` finds them. Durable on return; ignores unknown numbers."""

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete passages, also for `as_of`. Durable on return; ignores unknown numbers."""

    def nearest(self, vector: Vector, limit: int, where: Filters) -> list[Scored]:
        """The passages with the highest cosine, best first; of equal ones the lowest number."""

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these passages that exists, retired or not."""

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """The stored vectors, so that no text is embedded twice."""

    def count(self) -> int:
        """How many can be found now."""

    def close(self) -> None: ...


class Clause(NamedTuple):
    """One word or phrase of a query."""

    words: tuple[str, ...]  # one word, or the words of a phrase in order
    times: int = 1  # how often the query has it
    is_prefix: bool = False  # the last word is a prefix
    is_excluded: bool = False
    is_required: bool = False


class KeywordQuery(NamedTuple):
    """A parsed query. It finds nothing if all its clauses are exclusions."""

    clauses: tuple[Clause, ...]


class KeywordIndex(Protocol):
    """BM25 over passages. One writer; any number of readers, also in other processes."""

    def put(self, passages: Sequence[Passage]) -> None:
        """Add passages with the next `commit`, replacing those with the same number. Only `as_of` finds
        a passage whose facets mark it as retired."""

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete passages with the next `commit`; ignores unknown numbers."""

    def delete_beyond(self, number: int) -> None:
        """Delete every passage with a higher number with the next `commit`."""

    def commit(self) -> None:
        """Make the changes durable and visible to every reader's next query."""

    def best(self, query: KeywordQuery, limit: int, where: Filters) -> list[Scored]:
        """The passages with the highest BM25, best first; of equal ones the lowest number."""

    def scores(self, query: KeywordQuery, numbers: Sequence[int]) -> dict[int, float]:
        """The BM25, as in `best`, of each of these passages that matches, retired or not."""

    def stems(self, words: Sequence[str], language: str) -> list[str]:
        """The indexed form of each word, for highlights; empty for a word without one."""

    def count(self) -> int:
        """How many can be found now."""

    def close(self) -> None: ...
