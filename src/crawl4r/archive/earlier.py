"""Find captures with new bytes, in contrast to repeated ones."""

from __future__ import annotations

from crawl4r.storage.database import Database

_NEWS = """
SELECT c.id FROM captures c
WHERE c.id BETWEEN ? AND ? AND c.verdict = 'ok' AND c.sha256 IS NOT NULL AND c.sha256 IS NOT (
    SELECT p.sha256 FROM captures p
    WHERE p.page_id = c.page_id AND p.id < c.id AND p.verdict = 'ok' ORDER BY p.id DESC LIMIT 1)
"""


class EarlierBytes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def news(self, first: int, last: int) -> frozenset[int]:
        """The good captures of a range whose bytes differ from the URL's previous good capture."""
        return frozenset(row[0] for row in self._database.read(_NEWS, (first, last)))
