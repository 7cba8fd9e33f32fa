"""Stores to try ledgers on, with SQLite and with a PostgreSQL server of the suite's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.crawling.ledger.stores import PostgresStore, SqliteStore, Store
from tests.postgres import postgres_schema, postgres_server

__all__ = ["postgres_schema", "postgres_server"]  # fixtures

_QUICK = "&options=-c%20synchronous_commit%3Doff"


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        with closing(SqliteStore(tmp_path)) as opened:
            yield opened
    else:
        # Commits that wait for no disk: what a kill of the server loses is not tested here.
        dsn = request.getfixturevalue("postgres_server") + _QUICK
        schema = request.getfixturevalue("postgres_schema")
        with closing(PostgresStore(dsn, schema)) as opened_too:
            yield opened_too
