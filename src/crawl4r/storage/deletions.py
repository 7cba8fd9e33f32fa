"""Documents that people deleted. No rebuild of documents touches these rows, so a deletion lasts."""

from __future__ import annotations

from collections.abc import Iterable

from crawl4r.storage.database import Database

# In a statement on `documents`: when a user deleted the document, or NULL.
DELETED_AT = "(SELECT x.deleted_at FROM deleted_documents x WHERE x.document = documents.id)"


class Deletions:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, documents: Iterable[tuple[str, str]], now: float, *, lasts: bool = True) -> int:
        """Delete documents, given by id and URL; returns how many were not deleted yet.

        A deletion that does not last ends when a crawl keeps the page again.
        """
        return sum(
            self._database.write(
                "INSERT OR IGNORE INTO deleted_documents VALUES (?, ?, ?, ?)",
                (document, url, now, lasts),
            ).rowcount
            for document, url in documents
        )

    def lift(self, documents: Iterable[str]) -> int:
        """End deletions; returns how many there were."""
        return sum(
            self._database.write(
                "DELETE FROM deleted_documents WHERE document = ?", (document,)
            ).rowcount
            for document in documents
        )

    def have_passing(self) -> bool:
        """Whether there are deletions that do not last."""
        rows = self._database.read("SELECT 1 FROM deleted_documents WHERE NOT lasts LIMIT 1")
        return bool(rows)

    def lift_passing(self, document: str) -> bool:
        """End a deletion that does not last."""
        sql = "DELETE FROM deleted_documents WHERE document = ? AND NOT lasts"
        return self._database.write(sql, (document,)).rowcount > 0

    def at(self, document: str) -> float | None:
        """When a document was deleted, in epoch seconds; None for one that is not."""
        rows = self._database.read(
            "SELECT deleted_at FROM deleted_documents WHERE document = ?", (document,)
        )
        return float(rows[0][0]) if rows else None
