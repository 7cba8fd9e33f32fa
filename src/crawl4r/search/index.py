"""The parts of one generation of an index."""

from __future__ import annotations

from msgspec import Struct

from crawl4r.errors import UsageError
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.port import KeywordIndex, VectorIndex

_MODEL = "model"


class Index(Struct, frozen=True):
    """Open the parts; no vectors without an embedder."""

    catalogue: Catalogue
    keyword: KeywordIndex
    vectors: VectorIndex | None

    def close(self) -> None:
        self.keyword.close()
        if self.vectors:
            self.vectors.close()
        self.catalogue.close()

    def check_model(self, model: str) -> None:
        """Refuse an index of another model, because vectors of two models cannot be compared."""
        made_by = self.catalogue.fact(_MODEL)
        if made_by and made_by != model:
            raise UsageError(
                f"the index was made with the embedder {made_by}, the settings ask for {model};"
                " `crawl4r index --rebuild` makes it again, or set embedder.kind back"
            )

    def note_model(self, model: str) -> None:
        self.catalogue.put_fact(_MODEL, model)
