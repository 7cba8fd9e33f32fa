"""Which captures need their bytes, by a policy."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from crawl4r.errors import StorageDamaged, UsageError
from crawl4r.storage.database import Database

_DAY = 86_400.0  # seconds
_EVERY = "SELECT DISTINCT sha256, 1 FROM captures WHERE sha256 IS NOT NULL ORDER BY sha256"
# What pages and documents say now is needed under every policy.
_SOME = """
WITH kept AS (
    SELECT content AS id FROM pages WHERE content IS NOT NULL
    UNION SELECT capture FROM pages WHERE capture IS NOT NULL
    UNION SELECT capture FROM documents
    UNION SELECT id FROM captures WHERE fetched_at >= ?1
    UNION SELECT id FROM (
        SELECT id, row_number() OVER (
            PARTITION BY page_id ORDER BY fetched_at DESC, id DESC) AS place
        FROM captures WHERE verdict = 'ok' AND sha256 IS NOT NULL)
    WHERE place <= ?2
)
SELECT sha256, max(id IN kept) FROM captures WHERE sha256 IS NOT NULL
GROUP BY sha256 ORDER BY sha256
"""
_NEVER = float("inf")


class Retention(Struct, frozen=True):
    """The captures that keep their bytes: every one, or those that any of these rules names.

    The newest capture of each page, its newest content and that of its document are always kept.
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

    def needs(self, database: Database, now: float) -> Iterator[tuple[str, bool]]:
        """The hashes that captures name, in their order, and whether one of them is kept."""
        if self.keeps_all:
            rows = database.stream(_EVERY)
        else:
            since = _NEVER if self.days is None else now - self.days * _DAY
            rows = database.stream(_SOME, (since, self.captures or 0))
        for sha256, is_needed in rows:
            if not isinstance(sha256, bytes):
                raise StorageDamaged("state.db: the hash of a capture is damaged")
            yield sha256.hex(), bool(is_needed)
