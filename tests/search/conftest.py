"""Keyword indexes to try, also on a PostgreSQL server of the suite's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawl4r.search.keyword.postgres import PostgresKeywordIndex
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import KeywordIndex
from tests.postgres import postgres_schema, postgres_server

__all__ = ["postgres_schema", "postgres_server"]  # fixtures


@pytest.fixture(params=["tantivy", "postgres"])
def open_index(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., KeywordIndex]]:
    """Opens the same index each time; `writable=False` opens another reader."""
    opened: list[KeywordIndex] = []
    is_embedded = request.param == "tantivy"
    dsn = "" if is_embedded else request.getfixturevalue("postgres_server")
    schema = request.getfixturevalue("postgres_schema")

    def open_another(*, writable: bool = True) -> KeywordIndex:
        index: KeywordIndex = (
            TantivyIndex(tmp_path / "keyword", writable=writable)
            if is_embedded
            else PostgresKeywordIndex(dsn, schema)
        )
        opened.append(index)
        return index

    yield open_another
    for index in opened:
        index.close()
