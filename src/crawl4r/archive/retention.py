"""Which captures need their bytes, by a policy."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from crawl4r.errors import StorageDamaged, UsageError
from crawl4r.storage.database import Database

_DAY = 86_400.0  # seconds
_EVERY = "SELECT DISTINCT sha256, 1 FROM captures WHERE sha256 IS NOT NULL ORDER BY sha256"
# What pages and documents say now is needed under every policy. A page in several collections goes by
# the most generous of their rules; a collection without one, and no collection, by that of the command.
_SOME = """
WITH rules AS (
    SELECT id, coalesce(keep_captures, 0) AS captures,
        coalesce(?3 - keep_days * 86400.0, 9e999) AS since
    FROM collections WHERE keep_captures IS NOT NULL OR keep_days IS NOT NULL
), limits AS MATERIALIZED (
    SELECT p.id AS page, max(iif(r.id IS NULL, ?2, r.captures)) AS captures,
        min(iif(r.id IS NULL, ?1, r.since)) AS since
    FROM pages p LEFT JOIN documents d ON d.url = p.url
    LEFT JOIN collection_documents m ON m.document = d.id
    LEFT JOIN rules r ON r.id = m.collection_id GROUP BY p.id
), kept AS (
    SELECT content AS id FROM pages WHERE content IS NOT NULL
    UNION SELECT capture FROM pages WHERE capture IS NOT NULL
    UNION SELECT capture FROM documents
    UNION SELECT c.id FROM captures c JOIN limits l ON l.page = c.page_id WHERE c.fetched_at >= l.since
    UNION SELECT k.id FROM (
        SELECT id, page_id, row_number() OVER (
            PARTITION BY page_id ORDER BY fetched_at DESC, id DESC) AS place
        FROM captures WHERE verdict = 'ok' AND sha256 IS NOT NULL) k
    JOIN limits l ON l.page = k.page_id WHERE k.place <= l.captures
)
SELECT sha256, max(id IN kept) FROM captures WHERE sha256 IS NOT NULL
GROUP BY sha256 ORDER BY sha256
"""
_HAVE_RULES = """
SELECT 1 FROM collections WHERE keep_captures IS NOT NULL OR keep_days IS NOT NULL LIMIT 1
"""
_NEVER = float("inf")


class Retention(Struct, frozen=True):
    """The captures that keep their bytes: every one, or those that any of these rules names.

    The newest capture of each page, its newest content and that of its document are always kept. A
    collection may have a rule of its own for the pages of its documents.
    """

    captures: int | None = None  # the newest good ones of each page
    days: float | None = None  # those that are younger

    def check(self) -> None:
        """Raise UsageError for a number that no policy can have."""
        if self.captures is not None and self.captures < 1:
            raise UsageError(f"keep_captures: {self.captures} is less than 1")
        if self.days is not None and not self.days > 0:
            raise UsageError(f"keep_days: {self.days} is not more than 0")

    @property
    def keeps_all(self) -> bool:
        return self.captures is None and self.days is None

    def words(self) -> str:
        """The policy as the options of gc say it."""
        options = {"--keep-captures": self.captures, "--keep-days": self.days}
        said = ((option, value) for option, value in options.items() if value is not None)
        return " ".join(f"{option} {value}" for option, value in said)

    def why_dropped(self) -> str:
        """The policy, for bytes that it did not keep."""
        return self.words() or "by the rule of a collection"

    def _since(self, now: float) -> float:
        """Captures from this moment on are kept."""
        if self.keeps_all:
            return -_NEVER
        return _NEVER if self.days is None else now - self.days * _DAY

    def needs(self, database: Database, now: float) -> Iterator[tuple[str, bool]]:
        """The hashes that captures name, in their order, and whether one of them is kept."""
        if self.keeps_all and not database.read(_HAVE_RULES):
            rows = database.stream(_EVERY)
        else:
            rows = database.stream(_SOME, (self._since(now), self.captures or 0, now))
        for sha256, is_needed in rows:
            if not isinstance(sha256, bytes):
                raise StorageDamaged("state.db: the hash of a capture is damaged")
            yield sha256.hex(), bool(is_needed)
