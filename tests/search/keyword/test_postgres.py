"""What only the PostgreSQL keyword index can do wrong."""

from __future__ import annotations

import sys

import pytest

from crawl4r.errors import StorageError, UsageError
from crawl4r.search.keyword.postgres import PostgresKeywordIndex
from crawl4r.search.port import Facets, Filters, Passage
from crawl4r.search.query import parse


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'crawl4r\[postgres\]'"):
        PostgresKeywordIndex("postgresql://localhost/nothing")


def test_a_server_that_does_not_answer_is_an_error_of_storage() -> None:
    with pytest.raises(StorageError, match="PostgreSQL"):
        PostgresKeywordIndex("postgresql://127.0.0.1:1/nothing?connect_timeout=2")


def test_a_lost_connection_is_opened_again_for_questions(
    postgres_server: str, postgres_schema: str
) -> None:
    import psycopg

    index = PostgresKeywordIndex(postgres_server, postgres_schema)
    index.put([Passage(1, "", (), "wing", Facets())])
    index.commit()
    query = parse("wing").keywords
    assert len(index.best(query, 10, Filters())) == 1
    with psycopg.connect(postgres_server, autocommit=True) as other:
        other.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where pid <> pg_backend_pid() and backend_type = 'client backend'"
        )
    with pytest.raises(StorageError):
        index.best(query, 10, Filters())
    assert len(index.best(query, 10, Filters())) == 1
    index.close()
