"""How people organise documents: collections and tags, by document id.

No rebuild touches these rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from crawl4r.errors import UsageError
from crawl4r.storage.database import Database

_LONGEST = 100  # characters of a name


class Label(StrEnum):
    """The kinds of names that a document can have, each any number of times."""

    COLLECTION = "collection"
    TAG = "tag"


class _Tables(Struct, frozen=True):
    names: str
    members: str
    key: str


_TABLES = {
    Label.COLLECTION: _Tables("collections", "collection_documents", "collection_id"),
    Label.TAG: _Tables("tags", "document_tags", "tag_id"),
}


def labels_of_document(label: Label) -> str:
    """In a statement on `documents`: the names of a document as a JSON list, in no order."""
    tables = _TABLES[label]
    return (
        f"(SELECT json_group_array(n.name) FROM {tables.members} m JOIN {tables.names} n"
        f" ON n.id = m.{tables.key} WHERE m.document = documents.id)"
    )


class LabelCount(Struct, frozen=True):
    """A collection or a tag with the number of its documents."""

    name: str
    documents: int


class KeepRule(Struct, frozen=True):
    """Which captures of a collection's pages keep their bytes when gc runs; both None: no rule."""

    captures: int | None = None  # the newest good ones of each page
    days: float | None = None  # those that are younger


def check_label(name: str) -> str:
    """The name of a collection or tag; raises UsageError for one that none can have."""
    name = name.strip()
    if not name or len(name) > _LONGEST or not name.isprintable() or '"' in name:
        raise UsageError(
            f"{name[:_LONGEST]!r} is no name for a collection or tag: use up to {_LONGEST} printable"
            " characters without quotes"
        )
    return name


class Organisation:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, label: Label) -> list[LabelCount]:
        """Every collection or tag, in order of name."""
        tables = _TABLES[label]
        rows = self._database.read(
            f"SELECT n.name, (SELECT count(*) FROM {tables.members} m JOIN documents d"
            f" ON d.id = m.document WHERE m.{tables.key} = n.id) FROM {tables.names} n ORDER BY n.name"
        )
        return [LabelCount(*row) for row in rows]

    def make(self, label: Label, name: str, now: float) -> None:
        """Make a collection or tag, unless it is there."""
        self._database.write(
            f"INSERT OR IGNORE INTO {_TABLES[label].names} (name, created_at) VALUES (?, ?)",
            (check_label(name), now),
        )

    def refuse_unknown(self, label: Label, names: Iterable[str]) -> None:
        """Raise UsageError for a name that is not there, with those that are."""
        known = [each.name for each in self.all(label)]
        for name in names:
            if name not in known:
                there = ", ".join(known[:20]) or "none"
                raise UsageError(f"there is no {label} {name!r} in this store; there are: {there}")

    def add(self, label: Label, name: str, document: str, now: float) -> bool:
        """Give a document a name that is there; False when it has it already."""
        tables = _TABLES[label]
        cursor = self._database.write(
            f"INSERT OR IGNORE INTO {tables.members}"
            f" SELECT id, ?, ? FROM {tables.names} WHERE name = ?",
            (document, now, name),
        )
        return cursor.rowcount > 0

    def remove(self, label: Label, name: str, document: str) -> bool:
        """Take a name from a document; False when it has it not."""
        tables = _TABLES[label]
        cursor = self._database.write(
            f"DELETE FROM {tables.members} WHERE document = ?"
            f" AND {tables.key} = (SELECT id FROM {tables.names} WHERE name = ?)",
            (document, name),
        )
        return cursor.rowcount > 0

    def keep_rule(self, collection: str) -> KeepRule:
        rows = self._database.read(
            "SELECT keep_captures, keep_days FROM collections WHERE name = ?", (collection,)
        )
        return KeepRule(*rows[0]) if rows else KeepRule()

    def set_keep_rule(self, collection: str, rule: KeepRule) -> None:
        self._database.write(
            "UPDATE collections SET keep_captures = ?, keep_days = ? WHERE name = ?",
            (rule.captures, rule.days, collection),
        )

    def members(self, label: Label, name: str) -> list[str]:
        """The documents that have a name."""
        tables = _TABLES[label]
        rows = self._database.read(
            f"SELECT m.document FROM {tables.members} m JOIN {tables.names} n"
            f" ON n.id = m.{tables.key} WHERE n.name = ?",
            (name,),
        )
        return [row[0] for row in rows]

    def delete(self, label: Label, name: str) -> None:
        """Delete a collection or tag; its documents stay."""
        tables = _TABLES[label]
        self._database.write(
            f"DELETE FROM {tables.members} WHERE {tables.key} ="
            f" (SELECT id FROM {tables.names} WHERE name = ?)",
            (name,),
        )
        self._database.write(f"DELETE FROM {tables.names} WHERE name = ?", (name,))
