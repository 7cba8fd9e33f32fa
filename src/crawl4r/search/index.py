"""The parts of one generation of an index, which belong together."""

from __future__ import annotations

from msgspec import Struct

from crawl4r.errors import UsageError
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.port import KeywordIndex, VectorIndex

_MODEL = "model"


class Index(Struct, frozen=True):
    """Without vectors when no embedder is configured."""

    catalogue: Catalogue
    keyword: KeywordIndex
    vectors: VectorIndex | None

    def close(self) -> None:
        self.keyword.close()
        if self.vectors:
            self.vectors.close()
        self.catalogue.close()

    def check_model(self, model: str) -> None:
        """Vectors of two models do not compare: refuse before a search gives nonsense."""
        made_by = self.catalogue.fact(_MODEL)
        if made_by and made_by != model:
            raise UsageError(
                f"the index was made with the embedder {made_by}, the settings ask for {model};"
                " `crawl4r index --rebuild` makes it again, or set embedder.kind back"
            )

    def note_model(self, model: str) -> None:
        self.catalogue.put_fact(_MODEL, model)
