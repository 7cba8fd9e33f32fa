"""catalogue.db: which passages an index holds, where each comes from, and how far it has followed.

The truth about an index. Passages get their numbers here; the keyword and the vector index are told
before the catalogue commits, so that after a crash they know too much and never too little, and what
is too much is beyond `last_number`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crawl4r.errors import StorageDamaged
from crawl4r.formats import zstd
from crawl4r.safe_text import well_formed
from crawl4r.search.indexed_passage import IndexedPassage, PassageEntry, Version
from crawl4r.storage.database import Database

SCHEMA = {
    1: """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE versions (                   -- what a document said over a stretch of time
    id INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL,
    external_id TEXT NOT NULL,            -- the name that an import gave it
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    domain TEXT NOT NULL,
    language TEXT NOT NULL,
    kind TEXT NOT NULL,
    collection TEXT NOT NULL,
    tags TEXT NOT NULL,                   -- JSON list
    capture INTEGER NOT NULL,
    sha256 TEXT NOT NULL,                 -- of the bytes that it was read from
    content_hash TEXT NOT NULL,           -- of its markdown
    captured_at REAL NOT NULL,            -- epoch seconds
    retired_at REAL                       -- when the next version came; NULL for the current one
);
CREATE UNIQUE INDEX versions_current ON versions(document_id) WHERE retired_at IS NULL;
CREATE INDEX versions_of_url ON versions(url);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL REFERENCES versions(id),
    chunk_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    content_type TEXT NOT NULL,           -- prose, code, table or list
    headings TEXT NOT NULL,               -- JSON list, outermost first
    content BLOB NOT NULL,                -- zstd
    embedding_key BLOB NOT NULL,          -- hash of what is embedded: the same text is embedded once
    is_embedded INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX chunks_of_version ON chunks(version, chunk_index);
CREATE INDEX chunks_embedded ON chunks(embedding_key) WHERE is_embedded;
CREATE INDEX chunks_waiting ON chunks(number) WHERE NOT is_embedded;
CREATE TABLE left_out (document_id TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
""",
    2: """
ALTER TABLE versions RENAME COLUMN collection TO collections;
UPDATE versions SET collections = '[]';   -- JSON list, as its tags
""",
}
OTHER_LANGUAGE = "language {} is not in index.languages"  # why a document is left out
_LEVEL = 3
_CHANGES = "changes"
_AT_ONCE = 500  # numbers in one question
_VERSION_FIELDS = ", ".join(f"v.{name}" for name in Version._fields)
_ENTRY_FIELDS = (
    "c.number, c.chunk_id, c.chunk_index, c.start_char, c.end_char, c.token_count,"
    " c.content_type, c.headings, c.content, c.embedding_key, c.is_embedded"
)
_FIND = (
    f"SELECT {_ENTRY_FIELDS}, {_VERSION_FIELDS} FROM chunks c JOIN versions v ON v.id = c.version"
)


class Catalogue:
    """One writer; any number of readers, each with its own object and in its own thread."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._database = Database(path, read_only=not writable, schema=SCHEMA, is_derived=True)

    def close(self) -> None:
        self._database.close()

    def commit(self) -> None:
        self.put_fact(_CHANGES, str(self.change_mark() + 1))
        self._database.commit()

    def rollback(self) -> None:
        self._database.rollback()

    def fact(self, key: str) -> str | None:
        rows = self._database.read("SELECT value FROM facts WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def put_fact(self, key: str, value: str) -> None:
        self._database.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def last_number(self) -> int:
        """The highest number ever given to a passage that was committed."""
        rows = self._database.read("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'")
        return int(rows[0][0]) if rows else 0

    def change_mark(self) -> int:
        """Grows with every commit; what was found under another one may be out of date."""
        return int(self.fact(_CHANGES) or 0)

    def totals(self) -> dict[str, Any]:
        """What can be found now, and what is kept out for its language."""
        (row,) = self._database.read(
            "SELECT count(DISTINCT v.id), count(*), coalesce(sum(c.is_embedded), 0)"
            " FROM chunks c JOIN versions v ON v.id = c.version WHERE v.retired_at IS NULL"
        )
        return {
            "documents": row[0],
            "passages": row[1],
            "embedded": row[2],
            "other_languages": self.other_languages(),
        }

    def other_languages(self) -> dict[str, int]:
        """Documents that are left out because of their language, by language."""
        rows = self._database.read(
            "SELECT reason, count(*) FROM left_out WHERE reason LIKE ? GROUP BY reason",
            (OTHER_LANGUAGE.format("%"),),
        )
        before, after = (len(part) for part in OTHER_LANGUAGE.split("{}"))
        return {reason[before : len(reason) - after]: count for reason, count in rows}

    def count_waiting(self) -> int:
        """Passages that have no vector yet."""
        rows = self._database.read("SELECT count(*) FROM chunks WHERE NOT is_embedded")
        return int(rows[0][0])

    def has_vectors(self) -> bool:
        """Whether any passage was given one."""
        return bool(self._database.read("SELECT 1 FROM chunks WHERE is_embedded LIMIT 1"))

    def current(self, document_id: str) -> Version | None:
        rows = self._database.read(
            f"SELECT {_VERSION_FIELDS} FROM versions v"
            " WHERE v.document_id = ? AND v.retired_at IS NULL",
            (document_id,),
        )
        return _version(rows[0]) if rows else None

    def current_ids(self) -> Iterator[str]:
        """The documents that can be found now."""
        for (number,) in self._database.stream(
            "SELECT document_id FROM versions WHERE retired_at IS NULL"
        ):
            yield number

    def versions_of(self, url: str) -> list[Version]:
        """Every version of a URL's document, oldest first."""
        rows = self._database.read(
            f"SELECT {_VERSION_FIELDS} FROM versions v WHERE v.url = ? ORDER BY v.captured_at",
            (url,),
        )
        return [_version(row) for row in rows]

    def retired(self) -> Iterator[Version]:
        """Every version that another one has replaced, oldest first."""
        for row in self._database.stream(
            f"SELECT {_VERSION_FIELDS} FROM versions v"
            " WHERE v.retired_at IS NOT NULL ORDER BY v.captured_at"
        ):
            yield _version(row)

    def add(self, version: Version, entries: Iterable[PassageEntry]) -> list[IndexedPassage]:
        """A new version of a document, with numbers of its own."""
        marks = ", ".join("?" * (len(Version._fields) - 1))
        cursor = self._database.write(
            f"INSERT INTO versions ({', '.join(Version._fields[:-1])}) VALUES ({marks})",
            (
                *version[:7],
                json.dumps(version.collections),
                json.dumps(version.tags),
                *version[9:-1],
            ),
        )
        version = version._replace(id=int(cursor.lastrowid or 0))
        added = []
        for entry in entries:
            number = self._insert(version.id, entry)
            added.append(IndexedPassage(entry._replace(number=number), version))
        return added

    def _insert(self, version: int, entry: PassageEntry) -> int:
        cursor = self._database.write(
            "INSERT INTO chunks (version, chunk_id, chunk_index, start_char, end_char, token_count,"
            " content_type, headings, content, embedding_key, is_embedded)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                version, entry.chunk_id, entry.index, entry.start, entry.end, entry.tokens,
                entry.content_type, json.dumps(entry.headings, ensure_ascii=False),
                zstd.compress(entry.text.encode(), _LEVEL),
                entry.key, entry.is_embedded,
            ),
        )  # fmt: skip
        return int(cursor.lastrowid or 0)

    def retire(self, version: Version, at: float) -> None:
        self._database.write("UPDATE versions SET retired_at = ? WHERE id = ?", (at, version.id))

    def relabel(self, version: Version) -> None:
        """Give a version the collections and tags that its document has now."""
        self._database.write(
            "UPDATE versions SET collections = ?, tags = ? WHERE id = ?",
            (json.dumps(version.collections), json.dumps(version.tags), version.id),
        )

    def delete(self, version: Version) -> None:
        self._database.write("DELETE FROM chunks WHERE version = ?", (version.id,))
        self._database.write("DELETE FROM versions WHERE id = ?", (version.id,))

    def passages_of(self, version: Version) -> list[IndexedPassage]:
        rows = self._database.read(
            f"{_FIND} WHERE c.version = ? ORDER BY c.chunk_index", (version.id,)
        )
        return [_found(row) for row in rows]

    def neighbours(self, found: IndexedPassage, reach: int) -> list[IndexedPassage]:
        """The passages around one, itself left out, in the order of the document."""
        at = found.entry.index
        rows = self._database.read(
            f"{_FIND} WHERE c.version = ? AND c.chunk_index BETWEEN ? AND ? AND c.chunk_index <> ?"
            " ORDER BY c.chunk_index",
            (found.version.id, at - reach, at + reach, at),
        )
        return [_found(row) for row in rows]

    def find(self, numbers: Sequence[int]) -> dict[int, IndexedPassage]:
        """These passages, as far as they are there."""
        found = {}
        for at in range(0, len(numbers), _AT_ONCE):
            part = numbers[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            for row in self._database.read(f"{_FIND} WHERE c.number IN ({marks})", part):
                found[row[0]] = _found(row)
        return found

    def documents_of(self, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The document and the chunk id of each of these passages: what ranking needs to know."""
        found = {}
        for at in range(0, len(numbers), _AT_ONCE):
            part = numbers[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            for number, document, chunk in self._database.read(
                "SELECT c.number, v.document_id, c.chunk_id FROM chunks c"
                f" JOIN versions v ON v.id = c.version WHERE c.number IN ({marks})",
                part,
            ):
                found[number] = (document, chunk)
        return found

    def waiting(self, limit: int) -> list[IndexedPassage]:
        """Passages that have no vector yet, in the order they came."""
        rows = self._database.read(
            f"{_FIND} WHERE NOT c.is_embedded ORDER BY c.number LIMIT ?", (limit,)
        )
        return [_found(row) for row in rows]

    def embedded(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """For each key that has a vector already, a passage that it was made for."""
        found: dict[bytes, int] = {}
        for at in range(0, len(keys), _AT_ONCE):
            part = keys[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            rows = self._database.read(
                "SELECT embedding_key, max(number) FROM chunks"
                f" WHERE is_embedded AND embedding_key IN ({marks}) GROUP BY embedding_key",
                part,
            )
            found.update(rows)
        return found

    def mark_embedded(self, numbers: Iterable[int], is_embedded: bool = True) -> None:
        self._database.write_many(
            "UPDATE chunks SET is_embedded = ? WHERE number = ?",
            [(is_embedded, number) for number in numbers],
        )

    def leave_out(self, document_id: str, reason: str) -> None:
        self._database.write("INSERT OR REPLACE INTO left_out VALUES (?, ?)", (document_id, reason))

    def take_in(self, document_id: str) -> None:
        self._database.write("DELETE FROM left_out WHERE document_id = ?", (document_id,))

    def left_out_ids(self) -> Iterator[str]:
        """The documents that are not, or not as a whole, in the index."""
        for (document_id,) in self._database.stream("SELECT document_id FROM left_out"):
            yield document_id

    def why_left_out(self, document_id: str) -> str | None:
        rows = self._database.read(
            "SELECT reason FROM left_out WHERE document_id = ?", (document_id,)
        )
        return str(rows[0][0]) if rows else None


def _found(row: tuple[Any, ...]) -> IndexedPassage:
    return IndexedPassage(_entry(row[:11]), _version(row[11:]))


def _entry(row: tuple[Any, ...]) -> PassageEntry:
    try:
        text = well_formed(zstd.decompress(row[8]).decode("utf-8", "surrogatepass"))
    except (ValueError, zstd.ZstdError) as problem:
        raise StorageDamaged(
            "the search index is damaged; `crawl4r index --rebuild` makes it again"
        ) from problem
    fields = [*row[:7], tuple(json.loads(row[7])), text, row[9], bool(row[10])]
    return PassageEntry(*fields)


def _version(row: tuple[Any, ...]) -> Version:
    fields = [*row[:7], *(tuple(json.loads(names)) for names in row[7:9]), *row[9:]]
    return Version(*fields)
