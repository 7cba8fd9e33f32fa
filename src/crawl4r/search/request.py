"""The values of a search: request, hits and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, field

from crawl4r.search.indexed_passage import IndexedPassage
from crawl4r.search.port import Filters
from crawl4r.search.rank.fusion import RRF_K
from crawl4r.search.rank.snippet import Snippet

EVERYTHING = Filters()
NO_SNIPPET = Snippet()


class Mode(StrEnum):
    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"


class Fusion(StrEnum):
    CONVEX = "convex"  # weighted sum of both scores
    RRF = "rrf"  # weighted reciprocal ranks


class SearchRequest(Struct, frozen=True):
    """A search request. A value, so that equal requests share a cached answer."""

    query: str
    mode: Mode = Mode.HYBRID
    limit: int = 10
    filters: Filters = EVERYTHING
    fusion: Fusion = Fusion.CONVEX
    keyword_weight: float = 0.3
    vector_weight: float = 0.7
    rrf_k: int = RRF_K
    min_score: float = 0.0  # from 0 to 1, comparable between queries
    per_document: int = 2  # passages of one document; 0 for any number
    neighbours: int = 0  # passages to add before and after each hit
    rerank: bool = False
    rerank_top: int = 20
    cursor: str | None = None


class Hit(Struct, frozen=True):
    """A passage of the answer, with its source."""

    found: IndexedPassage
    score: float  # from 0 to 1, comparable between queries (`strength.py`)
    keyword_score: float | None  # BM25
    vector_score: float | None  # cosine
    keyword_rank: int | None  # from 1, in the keyword ranking
    vector_rank: int | None
    rerank_score: float | None = None
    highlights: Sequence[tuple[int, int]] = ()  # character ranges of the passage's text
    snippet: Snippet = NO_SNIPPET  # the part to show
    link: str = ""  # the URL with a text fragment of words in the snippet
    neighbours: Sequence[IndexedPassage] = ()

    @property
    def url(self) -> str:
        return self.found.version.url

    @property
    def title(self) -> str:
        """Of the document."""
        return self.found.version.title

    @property
    def section(self) -> str:
        """The headings that the passage stands under."""
        return " > ".join(self.found.entry.headings)

    @property
    def text(self) -> str:
        """The passage."""
        return self.found.entry.text

    @property
    def document_id(self) -> str:
        return self.found.version.document_id

    @property
    def id(self) -> str:
        """The name that an import gave the document, or our own."""
        return self.found.version.external_id or self.document_id

    @property
    def source(self) -> str:
        if self.keyword_rank and self.vector_rank:
            return "fused"
        return "keyword" if self.keyword_rank else "vector"


class Answer(Struct, frozen=True):
    """Hits, best first: iterate over it for them. `milliseconds` says where the time went."""

    hits: Sequence[Hit]
    candidates: int
    cursor: str | None = None  # for the next page; None at the end
    notes: Sequence[str] = ()
    is_cached: bool = False
    milliseconds: dict[str, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
