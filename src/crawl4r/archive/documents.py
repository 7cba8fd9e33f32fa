"""The documents derived from captures, one per URL: the newest good text and its history."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Generator, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from crawl4r.errors import StorageDamaged
from crawl4r.formats import zstd
from crawl4r.model import Capture, Document
from crawl4r.safe_text import load_json, well_formed
from crawl4r.storage.database import Database
from crawl4r.storage.deletions import DELETED_AT
from crawl4r.storage.organisation import Label, labels_of_document
from crawl4r.storage.tables import Notes
from crawl4r.urls.canonical import split

_LEVEL = 3
_CURSOR, _EPOCH = "documents_cursor", "documents_epoch"
_SELECT = (
    "SELECT id, url, domain, parent_url, title, content, content_hash, language, metadata,"
    f" crawled_at, updated_at, gone_at, {DELETED_AT}, capture, signature, near_of, revision,"
    f" {labels_of_document(Label.COLLECTION)}, {labels_of_document(Label.TAG)}"
    " FROM documents"
)
_IS_DELETED = "EXISTS (SELECT 1 FROM deleted_documents x WHERE x.document = {}.id)"
_IS_THERE = f"gone_at IS NULL AND NOT {_IS_DELETED.format('documents')}"
_NEXT_REVISION = "(SELECT value FROM tallies WHERE crawl_id = 0 AND name = 'revisions')"
_PUT = f"""
INSERT INTO documents (id, url, domain, parent_url, title, content, content_hash, language, metadata,
                       crawled_at, updated_at, capture, signature, near_of, revision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {_NEXT_REVISION})
ON CONFLICT (url) DO UPDATE SET
    parent_url = excluded.parent_url, title = excluded.title, content = excluded.content,
    content_hash = excluded.content_hash, language = excluded.language,
    metadata = excluded.metadata, crawled_at = excluded.crawled_at,
    updated_at = excluded.updated_at, gone_at = NULL, capture = excluded.capture,
    signature = excluded.signature, near_of = excluded.near_of, revision = excluded.revision
"""


class DocumentChange(StrEnum):
    """The effect of a capture on the document of its URL."""

    NEW = "new"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    MISSING = "missing"  # the first 404 or 410; a second one means gone
    GONE = "gone"
    REJECTED = "rejected"  # a bad verdict: the existing text stays
    DROPPED = "dropped"  # gc removed the bytes before they were read
    NONE = "none"  # no content for a document


class StoredDocument(NamedTuple):
    """A row of `documents`."""

    id: str
    document: Document
    domain: str
    parent_url: str | None
    content_hash: str
    crawled_at: float
    updated_at: float
    gone_at: float | None  # when the site said that the page is gone
    deleted_at: float | None  # when a user deleted it
    capture: int
    signature: bytes
    near_of: str | None
    revision: int  # grows with every change of any document
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class ExtractionRow(NamedTuple):
    """The result of reading one capture."""

    capture: int
    version: int
    verdict: str
    reason: str
    signals: Sequence[str]
    content_hash: str | None
    change: DocumentChange
    added: int = 0
    removed: int = 0


def id_of(url: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, url))


def hash_of(markdown: str) -> str:
    return hashlib.sha256(markdown.encode()).hexdigest()


class Documents:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, url: str) -> StoredDocument | None:
        rows = self._database.read(f"{_SELECT} WHERE url = ?", (url,))
        return _stored(rows[0]) if rows else None

    def known_until(self, url: str) -> float | None:
        """The last time the site confirmed a URL's document, or its removal."""
        rows = self._database.read(
            "SELECT max(crawled_at, coalesce(gone_at, 0)) FROM documents WHERE url = ?", (url,)
        )
        return float(rows[0][0]) if rows else None

    def title_of(self, url: str) -> str:
        """The title of a URL's document; empty without a document or title."""
        rows = self._database.read("SELECT title FROM documents WHERE url = ?", (url,))
        return str(rows[0][0]) if rows else ""

    def stream(self, *, with_gone: bool = False) -> Generator[StoredDocument, None, None]:
        """Every document in order of URL, without deleted ones; gone ones only with `with_gone`."""
        where = (
            f"WHERE NOT {_IS_DELETED.format('documents')}" if with_gone else f"WHERE {_IS_THERE}"
        )
        for row in self._database.stream(f"{_SELECT} {where} ORDER BY url"):
            yield _stored(row)

    def captures_of(self, domain: str) -> list[int]:
        """The captures of a domain's documents."""
        rows = self._database.read(
            "SELECT capture FROM documents WHERE domain = ? ORDER BY capture", (domain,)
        )
        return [row[0] for row in rows]

    def count(self) -> int:
        rows = self._database.read(f"SELECT count(*) FROM documents WHERE {_IS_THERE}")
        return int(rows[0][0])

    def put(
        self,
        document: Document,
        capture: Capture,
        signature: bytes,
        near_of: str | None,
    ) -> None:
        """Replace the document of a URL by that of this capture."""
        self._begin_revision()
        said = document._asdict()
        for name in ("url", "title", "markdown", "language"):
            del said[name]
        self._database.write(
            _PUT,
            (
                id_of(document.url),
                document.url,
                split(document.url).host,
                capture.referrer,
                document.title,
                zstd.compress(document.markdown.encode(), _LEVEL),
                hash_of(document.markdown),
                document.language,
                json.dumps(said, ensure_ascii=False),
                capture.fetched_at,
                capture.fetched_at,
                capture.id,
                signature,
                near_of,
            ),
        )

    def touch(self, url: str, capture: Capture) -> None:
        """Note a capture with the same text."""
        self._revise("gone_at = NULL", "url = ? AND gone_at IS NOT NULL", (url,))
        self._database.write(
            "UPDATE documents SET crawled_at = ? WHERE url = ?", (capture.fetched_at, url)
        )

    def mark_gone(self, url: str, at: float) -> None:
        self._revise("gone_at = ?", "url = ? AND gone_at IS NULL", (at, url))
        self._let_all_go(id_of(url))

    def note_deletion(self, url: str) -> None:
        """After a user deleted a document or brought it back: indexers judge it again."""
        self._revise("near_of = NULL", "url = ?", (url,))
        self._let_all_go(id_of(url))

    def note_labels(self, url: str) -> None:
        """After a change of a document's collections or tags: indexers look at it again."""
        self.note_labels_of(id_of(url))

    def note_labels_of(self, document_id: str) -> None:
        self._revise("title = title", "id = ?", (document_id,))

    def _let_all_go(self, document_id: str) -> None:
        for own_id, _ in self.behind(document_id):
            self.stand_alone(own_id)

    def behind(self, document_id: str) -> list[tuple[str, bytes]]:
        """The documents that this one stands for, with their signatures."""
        sql = "SELECT id, signature FROM documents WHERE near_of = ?"
        return [(row[0], row[1]) for row in self._database.read(sql, (document_id,))]

    def stand_alone(self, document_id: str) -> None:
        """No other document stands for this one any more: the indexer judges it again."""
        self._revise("near_of = NULL", "id = ?", (document_id,))

    def revised_after(self, revision: int) -> Iterator[StoredDocument]:
        """Documents in the order of their last change, including gone ones."""
        sql = f"{_SELECT} WHERE revision > ? ORDER BY revision"
        for row in self._database.stream(sql, (revision,)):
            yield _stored(row)

    def count_revised(self, revision: int) -> int:
        rows = self._database.read("SELECT count(*) FROM documents WHERE revision > ?", (revision,))
        return int(rows[0][0])

    def ids(self) -> set[str]:
        return {row[0] for row in self._database.read("SELECT id FROM documents")}

    def epoch(self) -> str:
        """An id that changes when all documents are made again."""
        return Notes(self._database).get(_EPOCH) or "0"

    def cursor(self) -> int:
        """The last capture with its document made."""
        return int(Notes(self._database).get(_CURSOR) or 0)

    def move_cursor(self, capture: int) -> None:
        Notes(self._database).put(_CURSOR, str(capture))

    def is_behind(self) -> bool:
        """Whether captures without a document remain."""
        (row,) = self._database.read("SELECT coalesce(max(id), 0) FROM captures")
        return bool(self.cursor() < row[0])

    def _begin_revision(self) -> None:
        self._database.write(
            "INSERT INTO tallies VALUES (0, 'revisions', 1)"
            " ON CONFLICT DO UPDATE SET value = value + 1"
        )

    def _revise(self, change: str, where: str, parameters: Sequence[Any]) -> None:
        self._begin_revision()
        self._database.write(
            f"UPDATE documents SET {change}, revision = {_NEXT_REVISION} WHERE {where}", parameters
        )

    def record(self, row: ExtractionRow) -> None:
        self._database.write(
            "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row[:4], json.dumps(list(row.signals)), *row[5:6], row.change.value, *row[7:]),
        )

    def extraction(self, capture: int) -> ExtractionRow | None:
        rows = self._database.read("SELECT * FROM extractions WHERE capture = ?", (capture,))
        if not rows:
            return None
        fields = list(rows[0])
        fields[4], fields[6] = json.loads(fields[4]), DocumentChange(fields[6])
        return ExtractionRow(*fields)

    def near(self, bands: Sequence[int], own_id: str) -> list[tuple[str, bytes]]:
        """Documents that share a band and stand for themselves, with their signatures, oldest first."""
        if not bands:
            return []
        marks = ", ".join("?" * len(bands))
        rows = self._database.read(
            "SELECT DISTINCT d.id, d.signature, d.capture FROM near_bands b"
            " JOIN documents d ON d.id = b.document"
            f" WHERE b.band IN ({marks}) AND d.id <> ? AND d.gone_at IS NULL"
            f" AND d.near_of IS NULL AND NOT {_IS_DELETED.format('d')}"
            " ORDER BY d.capture LIMIT 100",
            (*bands, own_id),
        )
        return [(row[0], row[1]) for row in rows]

    def signature_of(self, document_id: str) -> bytes:
        """The signature of a document; empty for an unknown one."""
        rows = self._database.read("SELECT signature FROM documents WHERE id = ?", (document_id,))
        return bytes(rows[0][0]) if rows else b""

    def file_under(self, document_id: str, bands: Sequence[int], before: Sequence[int]) -> None:
        """File a document under these bands, instead of its earlier ones.

        Its last signature gives the earlier bands, because a search by document would scan all bands.
        """
        self._database.write_many(
            "DELETE FROM near_bands WHERE band = ? AND document = ?",
            [(band, document_id) for band in before if band not in bands],
        )
        self._database.write_many(
            "INSERT OR IGNORE INTO near_bands VALUES (?, ?)",
            [(band, document_id) for band in bands],
        )

    def begin_anew(self, number: int) -> None:
        """Number the documents of a new state.db from here on, which no earlier one had reached.

        An index that followed the earlier documents then reads all of them again.
        """
        self._database.write("INSERT OR REPLACE INTO tallies VALUES (0, 'revisions', ?)", (number,))
        Notes(self._database).put(_EPOCH, str(number))

    def forget_all(self) -> None:
        """Delete all documents, which can be made again from the captures."""
        for table in ("documents", "near_bands", "site_blocks", "sites_sampled"):
            self._database.write(f"DELETE FROM {table}")
        # Without its bytes a capture cannot be read again: what was said of it is all there is.
        self._database.write(
            "DELETE FROM extractions WHERE capture NOT IN (SELECT c.id FROM captures c"
            " JOIN dropped_blobs d ON d.sha256 = c.sha256)"
        )
        self.move_cursor(0)
        Notes(self._database).put(_EPOCH, str(int(self.epoch()) + 1))


def _stored(row: tuple[Any, ...]) -> StoredDocument:
    (
        number, url, domain, parent, title, content, content_hash, language, said,
        crawled_at, updated_at, gone_at, deleted_at, capture, signature, near_of, revision,
        collections, tags,
    ) = row  # fmt: skip
    try:
        # Older versions kept lone surrogates.
        markdown = well_formed(zstd.decompress(content).decode("utf-8", "surrogatepass"))
        document = Document(
            url=url, title=title, markdown=markdown, language=language, **load_json(said.encode())
        )
    except (ValueError, TypeError, zstd.ZstdError) as problem:
        raise StorageDamaged(
            f"state.db: the document of {url} is damaged; `crawl4r reprocess` makes it again"
        ) from problem
    return StoredDocument(
        number, document, domain, parent, content_hash, crawled_at, updated_at, gone_at,
        deleted_at, capture, signature, near_of, revision,
        tuple(sorted(json.loads(collections))), tuple(sorted(json.loads(tags))),
    )  # fmt: skip
