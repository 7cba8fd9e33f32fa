"""Which documents the indexes may have lost passages of while the catalogue still has them.

The keyword and the vector index are told to delete before the catalogue commits. After a crash between
the two they have lost passages that the catalogue has. If the document has by then become again what it
was, only this note tells: the indexer gives its passages to the indexes again.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from crawl4r.search.catalogue import Catalogue

_IN_DOUBT = "in doubt"


class DocumentsInDoubt:
    """A note in the catalogue: ids of documents."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._ids: set[str] = set(json.loads(catalogue.fact(_IN_DOUBT) or "[]"))

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._ids

    def add(self, ids: Collection[str]) -> None:
        """Note documents whose passages are about to be deleted; durable when this returns."""
        if not self._ids.issuperset(ids):
            self._ids.update(ids)
            self._write()
            self._catalogue.commit()

    def settle(self, ids: Collection[str]) -> None:
        """The indexes know all of these documents again, from the catalogue's next commit on."""
        if not self._ids.isdisjoint(ids):
            self._ids.difference_update(ids)
            self._write()

    def _write(self) -> None:
        self._catalogue.put_fact(_IN_DOUBT, json.dumps(sorted(self._ids)))
