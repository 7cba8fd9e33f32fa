"""A workspace with an index, on the real parts but for the embedder, which needs no model."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import crawl4r
from crawl4r.archive.captures import Captures
from crawl4r.archive.documents import Documents
from crawl4r.indexing.cutter import cut
from crawl4r.indexing.index_all import index_all
from crawl4r.indexing.indexer import Indexer
from crawl4r.indexing.passages import Cut, cut_of
from crawl4r.indexing.rules import IndexRules
from crawl4r.model import Document
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.index import Index
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import Filters, Vector, Vectors
from crawl4r.search.query import parse
from crawl4r.search.vectors.scan import ScanVectors
from crawl4r.storage.database import Database

DIMENSION = 64


class WordVectors:
    """A bag of hashed words: texts that share words are near each other."""

    model = "words-of-the-tests"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        vector = np.full(DIMENSION, 0.01, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.blake2b(word.encode()).digest()[0] % DIMENSION] += 1
        return vector / np.linalg.norm(vector)

    def close(self) -> None:
        pass


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def cut_here(rules: IndexRules, documents: Sequence[Document]) -> list[Cut]:
    """In this process: these texts are our own."""
    return [
        cut_of(each, cut(each.title, each.markdown, count_words, rules.max_tokens))
        for each in documents
    ]


def put(path: Path, *records: dict[str, str]) -> None:
    """Import records, and make documents of them."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(json.dumps(record) for record in records))
        file.flush()
        with crawl4r.open(path) as workspace:
            workspace.import_file(file.name)


@contextlib.contextmanager
def opened(folder: Path, *, writable: bool = True) -> Iterator[Index]:
    folder.mkdir(parents=True, exist_ok=True)
    index = Index(
        Catalogue(folder / "catalogue.db", writable=writable),
        TantivyIndex(folder / "keyword", writable=writable),
        ScanVectors(folder / "vectors", DIMENSION, writable=writable),
    )
    try:
        yield index
    finally:
        index.close()


@contextlib.contextmanager
def indexing(
    path: Path, rules: IndexRules | None = None, name: str = "one", previous: Index | None = None
) -> Iterator[tuple[Indexer, Index, WordVectors]]:
    embedder = WordVectors()
    with (
        opened(path / "index" / name) as index,
        contextlib.closing(Database(path / "state.db", read_only=True)) as state,
    ):
        indexer = Indexer(
            Documents(state),
            Captures(state),
            index,
            embedder,
            partial(cut_here, rules or IndexRules(max_tokens=60)),
            rules or IndexRules(max_tokens=60),
            previous=previous,
        )
        yield indexer, index, embedder


def index(path: Path, rules: IndexRules | None = None) -> WordVectors:
    """Everything that is to be done; the embedder tells what it was asked for."""
    with indexing(path, rules) as (indexer, _, embedder):
        index_all(indexer)
        return embedder


def found(path: Path, query: str, where: Filters = Filters()) -> list[str]:  # noqa: B008
    """The texts that the words of a query find."""
    with opened(path / "index" / "one", writable=False) as index:
        hits = index.keyword.best(parse(query).keywords, 100, where)
        passages = index.catalogue.find([hit.number for hit in hits])
        return [passages[hit.number].entry.text for hit in hits]
