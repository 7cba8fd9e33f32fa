"""Findings about hosts, as JSON values by kind and key."""

from __future__ import annotations

import json
from typing import Any

from crawl4r.storage.crawls import STORE
from crawl4r.storage.database import Database


class Lessons:
    """Those for all crawls, or of one. Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database, crawl: int = STORE) -> None:
        self._database = database
        self._crawl = crawl

    def get(self, host: str, kind: str, key: str) -> Any:
        """The lesson, or None."""
        rows = self._database.read(
            "SELECT l.lesson FROM lessons l JOIN hosts h ON h.id = l.host_id"
            " WHERE l.crawl_id = ? AND h.name = ? AND l.kind = ? AND l.key = ?",
            (self._crawl, host, kind, key),
        )
        return json.loads(rows[0][0]) if rows else None

    def of(self, host: str, kind: str) -> dict[str, Any]:
        """All lessons of a kind, by key."""
        rows = self._database.read(
            "SELECT l.key, l.lesson FROM lessons l JOIN hosts h ON h.id = l.host_id"
            " WHERE l.crawl_id = ? AND h.name = ? AND l.kind = ?",
            (self._crawl, host, kind),
        )
        return {key: json.loads(lesson) for key, lesson in rows}

    def put(self, host: str, kind: str, key: str, lesson: Any) -> None:
        self._database.write("INSERT OR IGNORE INTO hosts (name) VALUES (?)", (host,))
        self._database.write(
            "INSERT OR REPLACE INTO lessons SELECT ?, id, ?, ?, ? FROM hosts WHERE name = ?",
            (self._crawl, kind, key, json.dumps(lesson), host),
        )

    def forget(self, host: str, kind: str, key: str) -> None:
        self._database.write(
            "DELETE FROM lessons WHERE crawl_id = ?"
            " AND host_id = (SELECT id FROM hosts WHERE name = ?) AND kind = ? AND key = ?",
            (self._crawl, host, kind, key),
        )
