"""One tantivy index in a folder, with one writing process and any number of readers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from tantivy import (
    Document,
    FieldType,
    Filter,
    Index,
    IndexWriter,
    Query,
    Schema,
    SchemaBuilder,
    Searcher,
    TextAnalyzerBuilder,
    Tokenizer,
)

from crawl4r.errors import StorageDamaged, StorageError, StorageFull, WorkspaceError
from crawl4r.search.keyword.tantivy_mirror import Mirror
from crawl4r.search.keyword.words import Stemming, spaced, split_words, stemmer_of
from crawl4r.search.port import Facets, Passage, Scored

WRITER_BYTES = 50_000_000  # of memory before a segment is written
# A language of few passages is not searched: its stems would match other words of the main languages,
# and below one passage in fifty the language was mostly detected wrongly.
_RARE = 0.02
WRITER_THREADS = 1  # a second one doubles the memory and the segments


def _schema() -> Schema:
    builder = SchemaBuilder()
    # Signed: deleting by an unsigned term deletes nothing (tantivy-py 0.27).
    builder.add_integer_field("number", indexed=True, fast=True)
    builder.add_text_field("text", tokenizer_name="stemmed", index_option="position")
    # Unstemmed words: `connecti*` does not match stems.
    builder.add_text_field("words", tokenizer_name="unstemmed", index_option="basic")
    for facet in ("stemmer", "domain", "language", "type", "collection", "tag"):
        builder.add_text_field(facet, tokenizer_name="raw", index_option="basic")
    builder.add_float_field("captured_at", fast=True)
    builder.add_float_field("retired_at", fast=True)
    return builder.build()


SCHEMA = _schema()


class TantivyFolder:
    """A folder with an index. The writer creates a missing index with the first passage."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._folder = folder
        self._is_writable = writable
        self._index: Index | None = None
        self._mirror: Mirror | None = None  # for a read-only folder
        self._writer: IndexWriter | None = None
        self._searcher: Searcher | None = None
        self._stemmers: tuple[str, ...] = ()
        self._seen: tuple[int, int] | None = None  # the commit that the searcher shows
        self._is_changed = False
        self._added: set[int] = set()  # since the last commit
        self._held: Searcher | None = None  # what the last commit holds
        self._is_looked_up = False
        self._stemming: dict[str, Stemming] = {}
        if writable and self._stamp() is not None:
            self._open_writer()

    def put(self, passage: Passage) -> None:
        """Add a passage. It replaces one with the same number."""
        writer = self._writer or self._open_writer()
        stemmer = stemmer_of(passage.facets.language)
        if stemmer not in self._stemming:
            self._stemming[stemmer] = Stemming(stemmer)
        self.delete(passage.number)
        with self._writing():
            writer.add_document(_document(passage, stemmer, self._stemming[stemmer]))
        self._added.add(passage.number)
        self._is_changed = True

    def delete(self, number: int) -> None:
        # Delete only existing numbers: most are new, and a commit without changes is free.
        if self._writer is not None and self._may_hold(number):
            with self._writing():
                self._writer.delete_documents_by_term("number", number)
            self._is_changed = True

    def delete_beyond(self, number: int) -> None:
        if self._writer is not None:
            beyond = Query.range_query(
                SCHEMA, "number", FieldType.Integer, lower_bound=number, include_lower=False
            )
            with self._writing():
                self._writer.delete_documents_by_query(beyond)
            self._is_changed = True

    def commit(self) -> None:
        if self._writer is not None and self._is_changed:
            with self._writing():
                self._writer.commit()
            self._added.clear()
            self._is_changed = self._is_looked_up = False

    def searcher(self) -> Searcher | None:
        """A searcher of the writer's last commit; None before the first one."""
        stamp = self._stamp()
        if stamp is None:
            return None
        if stamp != self._seen or self._searcher is None:
            with self._reading():
                index = self._index or self._open()
                if self._mirror:
                    self._mirror.refresh()
                index.reload()
                self._searcher = index.searcher()
                held = self._searcher.terms_with_prefix("stemmer", "")
            least = _RARE * sum(count for _, count in held)
            self._stemmers = tuple(sorted(name for name, count in held if count >= least))
            # The next query shows a commit that happens in between.
            self._seen = stamp
        return self._searcher

    def stemmers(self) -> tuple[str, ...]:
        """The stemmers of nearly all passages of the searcher."""
        return self._stemmers

    def best(self, query: Query, limit: int) -> list[Scored]:
        """The highest scores, best first; of equal ones the lowest number."""
        searcher = self._searcher
        if searcher is None or searcher.num_docs == 0:
            return []
        # tantivy breaks ties by segment, but the lowest numbers need all tied passages. Asking for four
        # times as many costs 10 % more; a second query costs 100 %.
        asked = min(4 * limit + 1, searcher.num_docs)
        with self._reading():
            hits = searcher.search(query, asked, count=False).hits
            while len(hits) == asked < searcher.num_docs and hits[-1][0] == hits[limit - 1][0]:
                asked = min(4 * asked, searcher.num_docs)
                hits = searcher.search(query, asked, count=False).hits
            if len(hits) > limit:
                least = hits[limit - 1][0]
                hits = [hit for hit in hits if hit[0] >= least]
            numbers = searcher.fast_field_values("number", [address for _, address in hits])
        found = [
            Scored(int(number or 0), score)
            for (score, _), number in zip(hits, numbers, strict=True)
        ]
        found.sort(key=lambda hit: (-hit.score, hit.number))
        return found[:limit]

    def count(self) -> int:
        searcher = self.searcher()
        return 0 if searcher is None else searcher.num_docs

    def close(self) -> None:
        """Drop uncommitted writes."""
        if self._writer is not None:
            with self._writing():
                self._writer.wait_merging_threads()
        self._writer = self._index = self._searcher = None
        if self._mirror:
            self._mirror.close()
            self._mirror = None

    def _may_hold(self, number: int) -> bool:
        if number in self._added:
            return True
        # This process is the only writer, so the numbers change only with its commits.
        if not self._is_looked_up:
            self._held = self.searcher()
            self._is_looked_up = True
        return self._held is not None and self._held.doc_freq("number", number) > 0

    def _stamp(self) -> tuple[int, int] | None:
        """A mark that changes with each commit; reading it is 50 times as fast as asking tantivy."""
        try:
            status = (self._folder / "meta.json").stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _open(self) -> Index:
        if not (self._is_writable or os.access(self._folder, os.W_OK)):
            self._mirror = Mirror(self._folder)
        index = Index(SCHEMA, str(self._mirror.path if self._mirror else self._folder))
        words = TextAnalyzerBuilder(Tokenizer.whitespace())
        index.register_tokenizer("stemmed", words.build())
        words = TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.ascii_fold())
        index.register_tokenizer("unstemmed", words.build())
        index.config_reader(reload_policy="manual")  # the other policy is a thread that polls
        self._index = index
        return index

    def _open_writer(self) -> IndexWriter:
        if not self._is_writable:
            raise WorkspaceError(f"{self._folder} was opened for reading")
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._reading():
            self._writer = self._open().writer(WRITER_BYTES, WRITER_THREADS)
        return self._writer

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            if "LockBusy" in str(error):
                raise WorkspaceError(
                    f"{self._folder} is being written by another process"
                ) from None
            raise self._damaged(error) from error
        except BaseException as error:
            # A panic in Rust is no Exception, and its class cannot be imported.
            if type(error).__name__ == "PanicException":
                raise self._damaged(error) from error
            raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._reading():
                yield
        except StorageDamaged as error:
            cause = str(error.__cause__)
            if "os error 28" in cause or "os error 122" in cause:  # no space, quota
                raise StorageFull(f"{self._folder}: {cause}") from error
            raise StorageError(f"{self._folder}: {cause}") from error

    def _damaged(self, error: BaseException) -> StorageDamaged:
        return StorageDamaged(
            f"the keyword index in {self._folder} cannot be read ({str(error)[:200]}); "
            "`crawl4r index --rebuild` makes it again"
        )


def _document(passage: Passage, stemmer: str, stems: Stemming) -> Document:
    facets = passage.facets
    document = Document()
    document.add_integer("number", passage.number)
    # The title twice: the simplest weight for it, and better than a field of its own.
    text = "\n".join((passage.title, passage.title, *passage.headings, passage.text))
    words = split_words(spaced(text))
    document.add_text("text", " ".join(stems(words)))
    document.add_text("words", " ".join(set(words)))
    for name, value in _terms(facets, stemmer):
        document.add_text(name, value)
    document.add_float("captured_at", facets.captured_at)
    if facets.retired_at < inf:
        document.add_float("retired_at", facets.retired_at)
    return document


def _terms(facets: Facets, stemmer: str) -> Iterator[tuple[str, str]]:
    yield "stemmer", stemmer
    domain = facets.domain.lower()
    while domain:
        yield "domain", domain
        domain = domain.partition(".")[2]
    yield "language", facets.language.lower()
    yield "type", facets.kind.lower()
    yield "type", facets.content_type.lower()
    for collection in facets.collections:
        yield "collection", collection
    for tag in facets.tags:
        yield "tag", tag
