"""What a page costs the database does not grow with the site: no statement of it looks at all rows."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from tests.documents.test_documenter import WORDS_ONLY, Site, article, serving

PAGES = 40
_VALUE = re.compile(r"x'[0-9a-f]*'|'(?:[^']|'')*'|\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b", re.IGNORECASE)
_READS_ROWS = ("SELECT", "UPDATE", "DELETE", "INSERT", "WITH")
# Tables that do not grow with the pages of a site.
_SMALL = {"hosts", "tallies", "notes"}


class Statements:
    """Everything that connections of this process run, told apart by what is left without values."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, tuple[str, str]] = {}
        self._connect = sqlite3.connect
        # SQLite traces a connection, and nothing names those that a crawl opens in its threads.
        monkeypatch.setattr(sqlite3, "connect", self._traced)

    def _traced(self, path: Any, **options: Any) -> sqlite3.Connection:
        connection = self._connect(path, **options)
        connection.set_trace_callback(lambda sql: self._note(str(path), sql))
        return connection

    def _note(self, path: str, sql: str) -> None:
        shape = _VALUE.sub("?", sql)
        self.counts[shape] += 1
        self.examples.setdefault(shape, (path, sql))

    def of_each_page(self) -> list[tuple[str, str]]:
        return [self.examples[shape] for shape, count in self.counts.items() if count >= PAGES // 2]

    def scanned(self, path: str, sql: str) -> list[str]:
        """The tables that a statement reads from end to end."""
        if not sql.lstrip().upper().startswith(_READS_ROWS):
            return []
        with closing(self._connect(path, uri=path.startswith("file:"))) as connection:
            steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
        # A virtual table is a list that the statement itself was given.
        scans = [s.split()[1] for s in steps if s.startswith("SCAN") and "VIRTUAL" not in s]
        return [table for table in scans if table not in {*_SMALL, "CONSTANT"}]


def test_no_statement_of_a_page_looks_at_all_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in WORDS_ONLY.items():
        monkeypatch.setenv(name, value)
    statements = Statements(monkeypatch)
    with serving(Site()) as site:
        links = "".join(f"<a href=/{n}>{n}</a> " for n in range(PAGES))
        site.put("/", article("Start", links))
        for n in range(PAGES):
            site.put(f"/{n}", article(f"Page {n}", " ".join(f"word{n}-{m}" for m in range(90))))
        asyncio.run(_crawl_and_crawl_again(tmp_path, site))
    asked = statements.of_each_page()
    assert any("near_bands" in sql for _, sql in asked)
    assert {sql: tables for path, sql in asked if (tables := statements.scanned(path, sql))} == {}


async def _crawl_and_crawl_again(folder: Path, site: Site) -> None:
    pace = {"rate": 0, "allow_private": ["127.0.0.1"], "probe": False, "logs": True}
    async with crawl4r.open(folder, **pace) as workspace, asyncio.timeout(120):
        await workspace.crawl(site.url).finish()
    for n in range(PAGES):
        site.put(f"/{n}", article(f"Page {n}", " ".join(f"other{n}-{m}" for m in range(90))))
    async with crawl4r.open(folder, **pace) as workspace, asyncio.timeout(120):
        await workspace.crawl(site.url, refresh=True).finish()
