"""Which documents are indexed, and in which pieces."""

from __future__ import annotations

from msgspec import Struct

from crawl4r.archive.documents import StoredDocument
from crawl4r.search.catalogue import OTHER_LANGUAGE

DELETED = "deleted by a user"


class IndexRules(Struct, frozen=True):
    """What is indexed, and in which pieces."""

    languages: frozenset[str] = frozenset(["en"])  # of crawled documents; empty for all
    with_near: bool = False  # documents that say almost the same as an older one
    max_tokens: int = 512  # in a passage
    min_tokens: int = 32  # in the last passage of a section, where the one before it can spare them
    overlap_tokens: int = 0  # that a passage repeats of the one before it in its section

    @property
    def cutting(self) -> str:
        """The name under which an index remembers how its passages were cut."""
        name = f"structure-{self.max_tokens}-words"
        usual = IndexRules()
        if self.min_tokens != usual.min_tokens:
            name += f"-min-{self.min_tokens}"
        if self.overlap_tokens:
            name += f"-overlap-{self.overlap_tokens}"
        return name

    def reason_against(self, stored: StoredDocument) -> str | None:
        """The rule that keeps a document out of the index, or None."""
        if stored.deleted_at is not None:
            return DELETED
        if stored.gone_at is not None:
            return "gone"
        if stored.near_of and not self.with_near:
            return "almost the same as another document"
        language, languages = stored.document.language, self.languages
        is_foreign = bool(languages and language) and language not in languages
        if is_foreign and not stored.document.external_id:
            return OTHER_LANGUAGE.format(language)
        return None
