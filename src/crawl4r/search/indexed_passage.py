"""The passages of an index with where they come from: versions of documents, and pieces of those."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from crawl4r.search.port import Facets, Passage


class Version(NamedTuple):
    """A document as it was from `captured_at` on."""

    document_id: str
    external_id: str
    url: str
    title: str
    domain: str
    language: str
    kind: str
    collections: tuple[str, ...]
    tags: tuple[str, ...]
    capture: int
    sha256: str
    content_hash: str
    captured_at: float
    retired_at: float | None = None
    id: int = 0


class PassageEntry(NamedTuple):
    """A chunk of a version, as the catalogue keeps it."""

    number: int
    chunk_id: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which no caller uses
    start: int
    end: int
    tokens: int
    content_type: str
    headings: tuple[str, ...]
    text: str
    key: bytes
    is_embedded: bool = False


class IndexedPassage(NamedTuple):
    """A passage with its source."""

    entry: PassageEntry
    version: Version

    def passage(self) -> Passage:
        return Passage(
            self.entry.number,
            self.version.title,
            self.entry.headings,
            self.entry.text,
            facets_of(self.version, self.entry.content_type),
        )


def facets_of(version: Version, content_type: str) -> Facets:
    return Facets(
        version.domain,
        version.language,
        version.kind,
        content_type,
        version.collections,
        version.tags,
        version.captured_at,
        inf if version.retired_at is None else version.retired_at,
    )
