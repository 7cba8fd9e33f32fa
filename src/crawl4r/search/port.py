"""What is put into an index and asked of it; the ports that the embedded and the server adapters share.

A passage is a chunk of a document as an index knows it, under a number that is never used twice.
Numbers, texts and facets come from the catalogue (`catalogue.py`), which is the truth about them: an
index holds nothing that could not be put into it again.
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
    """What passages are filtered by."""

    domain: str = ""
    language: str = ""  # ISO 639 of the document; empty when unknown
    kind: str = ""  # of the document: html, pdf, feed, text ...
    content_type: str = ""  # of the passage: prose, code, table or list
    collection: str = ""
    tags: tuple[str, ...] = ()
    captured_at: float = 0.0  # epoch seconds; the passage is known from then on
    retired_at: float = inf  # the site has replaced or removed it: only `as_of` finds it


class Passage(NamedTuple):
    """A chunk, ready to be found."""

    number: int
    title: str  # of its document
    headings: tuple[str, ...]  # that it stands under, outermost first
    text: str
    facets: Facets


class Filters(NamedTuple):
    """Conditions that all hold; of several values in one, any. Empty means no condition."""

    domains: tuple[str, ...] = ()  # a domain stands for its subdomains too
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # kinds of documents or content types of passages
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: float = -inf  # captured at or after, epoch seconds
    before: float = inf  # captured before
    as_of: float = inf  # what was known at that moment; inf: what is known now
    up_to: int = 2**63 - 1  # the highest passage number; so that a cursor stays right


class Scored(NamedTuple):
    number: int
    score: float


class Embedder(Protocol):
    """Texts to vectors. May be used by one thread at a time."""

    @property
    def model(self) -> str:
        """What is recorded with an index: another model's vectors do not belong into it."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, in their order; a text too long for the model is cut."""

    def embed_query(self, text: str) -> Vector:
        """The vector that passages answering this question are near to."""

    def close(self) -> None: ...


class Reranker(Protocol):
    """Reads question and passage together: slow, and better than either half."""

    @property
    def model(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, higher is better; only their order means something."""

    def close(self) -> None: ...


class VectorIndex(Protocol):
    """Vectors by passage number. One writer; any number of readers, also in other processes."""

    @property
    def dimension(self) -> int: ...

    def put(self, passages: Sequence[tuple[int, Facets]], vectors: Vectors) -> None:
        """Durable on return. A number that is there is replaced."""

    def retire(self, numbers: Sequence[int], at: float) -> None:
        """From that moment on only `as_of` finds them. Durable on return; unknown numbers are fine."""

    def delete(self, numbers: Sequence[int]) -> None:
        """As if they had never been there. Durable on return; unknown numbers are fine."""

    def nearest(self, vector: Vector, limit: int, where: Filters) -> list[Scored]:
        """The passages with the highest cosine, best first; of equal ones the lowest number."""

    def cosines(self, vector: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these that is there, retired or not."""

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """What was put, as exactly as it is kept; to embed no text twice."""

    def count(self) -> int:
        """How many can be found now."""

    def close(self) -> None: ...


class Clause(NamedTuple):
    """One word or phrase of a query."""

    words: tuple[str, ...]  # one, or several in this order for a phrase
    times: int = 1  # how often it was written
    is_prefix: bool = False  # the last word may go on
    is_excluded: bool = False
    is_required: bool = False


class KeywordQuery(NamedTuple):
    """A query as the user meant it; without a clause that is not excluded it finds nothing."""

    clauses: tuple[Clause, ...]


class KeywordIndex(Protocol):
    """BM25 over passages. One writer; any number of readers, also in other processes."""

    def put(self, passages: Sequence[Passage]) -> None:
        """Part of the index with the next `commit`. A number that is there is replaced; a passage
        whose facets say that it is retired is found with `as_of` alone."""

    def delete(self, numbers: Sequence[int]) -> None:
        """Gone with the next `commit`; unknown numbers are fine."""

    def delete_beyond(self, number: int) -> None:
        """Gone with the next `commit`: every passage with a higher number."""

    def commit(self) -> None:
        """Durable, and seen by every reader's next question."""

    def best(self, query: KeywordQuery, limit: int, where: Filters) -> list[Scored]:
        """The passages with the highest BM25, best first; of equal ones the lowest number."""

    def scores(self, query: KeywordQuery, numbers: Sequence[int]) -> dict[int, float]:
        """The BM25 of each of these that matches, as `best` would have it, retired or not."""

    def stems(self, words: Sequence[str], language: str) -> list[str]:
        """What each word is indexed as, for highlights; empty for one that is not indexed."""

    def count(self) -> int:
        """How many can be found now."""

    def close(self) -> None: ...
