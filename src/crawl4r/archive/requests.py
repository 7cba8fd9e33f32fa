"""The sent headers of requests, and side requests (robots.txt, probes)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from crawl4r.storage.database import Database


class SideRequest(NamedTuple):
    """A request without a capture: for robots.txt, or a probe for a host's soft 404."""

    url: str
    host: str
    at: float  # epoch seconds of sending
    status: int | None
    latency_ms: int
    reason: str = ""  # why no answer came


class Requests:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def number_of(self, headers: Sequence[str]) -> int:
        """The id of these header lines ("Name: value"); stores new ones."""
        text = json.dumps(headers, ensure_ascii=False)
        self._database.write("INSERT OR IGNORE INTO requests (headers) VALUES (?)", (text,))
        ((number,),) = self._database.read("SELECT id FROM requests WHERE headers = ?", (text,))
        return int(number)

    def headers(self, number: int) -> list[str] | None:
        """The header lines with this id."""
        rows = self._database.read("SELECT headers FROM requests WHERE id = ?", (number,))
        return list(json.loads(rows[0][0])) if rows else None

    def note(self, request: SideRequest) -> None:
        """Keep a side request."""
        host, at, url = request.host, request.at, request.url
        self._database.write("INSERT OR IGNORE INTO hosts (name) VALUES (?)", (host,))
        self._database.write(
            "INSERT INTO errands SELECT id, ?, ?, ?, ?, ? FROM hosts WHERE name = ?",
            (at, url, request.status, request.latency_ms, request.reason, host),
        )
