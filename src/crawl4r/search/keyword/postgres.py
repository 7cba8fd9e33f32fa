"""Keyword search in PostgreSQL: its full-text search, ranked by BM25.

The index creates missing tables; only `drop` removes them. A process that only reads or only writes
holds one connection; one that does both holds two, so that searches do not see uncommitted rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any

from crawl4r.errors import StorageError, StorageFull, UsageError
from crawl4r.search.keyword.postgres_query import Totals, condition, question, terms_of
from crawl4r.search.keyword.words import UNSTEMMED, spaced, stemmer_of
from crawl4r.search.port import Facets, Filters, KeywordQuery, Passage, Scored
from crawl4r.urls.credentials import without_credentials

if TYPE_CHECKING:
    import psycopg

    from crawl4r.search.places import Claim

_SCHEMA = """
    create table if not exists search_passages (
        number bigint primary key,
        config text not null,        -- what its text was stemmed with
        stems tsvector not null,
        words tsvector not null,     -- unstemmed, for prefixes
        length integer not null,     -- words
        domains text[] not null,     -- its own and those it is below
        language text not null,
        types text[] not null,
        collections text[] not null,
        tags text[] not null,
        captured_at double precision not null,
        retired_at double precision not null
    ) with (toast_tuple_target = 8160);  -- ranking reads every candidate: keep them in one place
    alter table search_passages alter column stems set storage main;
    do $$ begin  -- a table of an older version has one collection a passage, which was never set
        if exists (select from information_schema.columns where table_schema = current_schema()
                and table_name = 'search_passages' and column_name = 'collection') then
            alter table search_passages alter column collection type text[] using '{}';
            alter table search_passages rename column collection to collections;
        end if;
    end $$;
    create index if not exists search_passages_stems on search_passages using gin (stems);
    create index if not exists search_passages_words on search_passages using gin (words);
    create table if not exists search_passages_totals (  -- of what is not retired
        config text primary key, passages bigint not null, words bigint not null
    );
"""
_OWNED = "create table if not exists search_passages_owner (token text not null)"
_LOCK = 0x63_72_61_77_6C_34_72  # makes two processes that start at once create the table in turn
_PUT = """
    insert into search_passages values (%(number)s, %(config)s::text,
        to_tsvector(%(config)s::text::regconfig, %(text)s), to_tsvector('simple', %(text)s), %(length)s,
        %(domains)s, %(language)s, %(types)s, %(collections)s, %(tags)s, %(captured)s, %(retired)s)
"""
_COUNT_PUT = """
    insert into search_passages_totals as totals values (%s, %s, %s) on conflict (config) do update
    set passages = totals.passages + excluded.passages, words = totals.words + excluded.words
"""
_DELETE = """
    with gone as (delete from search_passages where {which} returning config, length, retired_at),
    sums as (select config, count(*) as passages, sum(length) as words
             from gone where retired_at = 'infinity' group by config)
    update search_passages_totals as totals
    set passages = totals.passages - sums.passages, words = totals.words - sums.words
    from sums where sums.config = totals.config
"""
_WORD = re.compile(r"\w+")


class PostgresKeywordIndex:
    """`KeywordIndex` in a PostgreSQL database.

    Raises UsageError without psycopg, StorageError when the server does not answer or refuses.
    """

    def __init__(self, dsn: str, schema: str = "public", claim: Claim | None = None) -> None:
        """`schema` holds the tables, so that several indexes can share a database. `claim` names the
        workspace that may write; with None any workspace may."""
        try:
            # An optional dependency of users of PostgreSQL.
            import psycopg  # noqa: PLC0415
            import psycopg.sql  # noqa: PLC0415
        except ImportError:
            raise UsageError(
                "keyword search in PostgreSQL needs psycopg: pip install 'crawl4r[postgres]'"
            ) from None
        self._psycopg = psycopg
        self._dsn = dsn
        self._schema = psycopg.sql.Identifier(schema)
        self._writer: psycopg.Connection[Any] | None = None
        self._reader: psycopg.Connection[Any] | None = None
        with self._translated(), self._connected() as connection, connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            if claim is None or claim.may_make:
                self._make(connection)
            if claim:
                self._settle(claim, connection)
        if claim:
            claim.note_made()

    def drop(self) -> None:
        """Delete the schema with its tables. Call after `settle` of the claim."""
        self.close()
        with self._translated(), self._connected() as connection:
            connection.execute(self._psycopg.sql.SQL("drop schema {} cascade").format(self._schema))

    def put(self, passages: Sequence[Passage]) -> None:
        by_number = {passage.number: passage for passage in passages}
        rows = [_columns(passage) for passage in by_number.values()]
        with self._translated():
            writer = self._writing()
            writer.execute(_DELETE.format(which="number = any(%s)"), (list(by_number),))
            with writer.cursor() as cursor:
                cursor.executemany(_PUT, rows)
                cursor.executemany(_COUNT_PUT, _counts(rows))

    def delete(self, numbers: Sequence[int]) -> None:
        with self._translated():
            self._writing().execute(_DELETE.format(which="number = any(%s)"), (list(numbers),))

    def delete_beyond(self, number: int) -> None:
        with self._translated():
            self._writing().execute(_DELETE.format(which="number > %s"), (number,))

    def commit(self) -> None:
        if self._writer is not None:
            with self._translated():
                self._writer.commit()

    def best(self, query: KeywordQuery, limit: int, where: Filters) -> list[Scored]:
        return self._ask(query, limit, *condition(where))

    def scores(self, query: KeywordQuery, numbers: Sequence[int]) -> dict[int, float]:
        wanted: dict[str, object] = {"numbers": list(numbers)}
        found = self._ask(query, len(numbers), "number = any(%(numbers)s)", wanted)
        return {hit.number: hit.score for hit in found}

    def stems(self, words: Sequence[str], language: str) -> list[str]:
        ask = "select tsvector_to_array(to_tsvector(%s::regconfig, %s))"
        config = _config(language)
        with self._translated():
            reader = self._reading()
            return [" ".join(_row(reader, ask, (config, spaced(word)))[0]) for word in words]

    def count(self) -> int:
        with self._translated():
            ask = "select coalesce(sum(passages), 0)::bigint from search_passages_totals"
            return int(_row(self._reading(), ask)[0])

    def close(self) -> None:
        """Drop uncommitted writes."""
        for connection in (self._writer, self._reader):
            if connection is not None:
                connection.close()
        self._writer = self._reader = None

    def _ask(
        self, query: KeywordQuery, limit: int, which: str, values: dict[str, object]
    ) -> list[Scored]:
        if limit < 1:
            return []
        with self._translated():
            reader = self._reading()
            totals = Totals.of(reader)
            terms = terms_of(query, totals.configs, reader)
            if not any(term.is_asking for term in terms):
                return []
            sql, parameters = question(terms, totals, which)
            parameters |= {**values, "limit": limit}
            return [Scored(*row) for row in reader.execute(sql, parameters)]

    def _make(self, connection: psycopg.Connection[Any]) -> None:
        make = self._psycopg.sql.SQL("create schema if not exists {}").format(self._schema)
        connection.execute(make)
        if _row(connection, "select to_regclass('search_passages_totals')")[0] is None:
            connection.execute(_SCHEMA)

    def _settle(self, claim: Claim, connection: psycopg.Connection[Any]) -> None:
        def read() -> str | None:
            if _row(connection, "select to_regclass('search_passages_owner')")[0] is None:
                return None
            row = connection.execute("select token from search_passages_owner").fetchone()
            return str(row[0]) if row else None

        def write(token: str) -> None:
            connection.execute(_OWNED)
            connection.execute("delete from search_passages_owner")
            connection.execute("insert into search_passages_owner values (%s)", (token,))

        claim.settle(read, write)

    def _connected(self) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(self._dsn, autocommit=True)
        connection.execute("set jit = off")  # compiling takes longer than a question
        connection.execute(self._psycopg.sql.SQL("set search_path to {}").format(self._schema))
        return connection

    def _reading(self) -> psycopg.Connection[Any]:
        if self._reader is None or self._reader.closed:
            self._reader = self._connected()
        return self._reader

    def _writing(self) -> psycopg.Connection[Any]:
        # No retry after a failure: the commit would lack the rows before it.
        if self._writer is None:
            self._writer = self._connected()
            self._writer.autocommit = False
        return self._writer

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.errors.DiskFull as error:
            raise StorageFull(f"PostgreSQL: {without_credentials(str(error))}") from error
        except self._psycopg.Error as error:
            raise StorageError(f"PostgreSQL: {without_credentials(str(error))}") from error


def _row(connection: psycopg.Connection[Any], ask: str, values: Sequence[object] = ()) -> Any:
    row = connection.execute(ask.encode(), values).fetchone()
    assert row is not None
    return row


def _config(language: str) -> str:
    """The text search configuration; it has the name of the stemmer."""
    stemmer = stemmer_of(language)
    return "simple" if stemmer == UNSTEMMED else stemmer


def _columns(passage: Passage) -> dict[str, Any]:
    facets = passage.facets
    # The title twice: BM25 then ranks as the embedded index does.
    text = "\n".join((passage.title, passage.title, *passage.headings, passage.text))
    text = spaced(text).replace("\0", " ")
    return {
        "number": passage.number,
        "config": _config(facets.language),
        "text": text,
        "length": sum(1 for _ in _WORD.finditer(text)),
        "domains": list(_domains(facets)),
        "language": facets.language.lower(),
        "types": [facets.kind.lower(), facets.content_type.lower()],
        "collections": list(facets.collections),
        "tags": list(facets.tags),
        "captured": facets.captured_at,
        "retired": facets.retired_at,
    }


def _domains(facets: Facets) -> Iterator[str]:
    domain = facets.domain.lower()
    while domain:
        yield domain
        domain = domain.partition(".")[2]


def _counts(rows: Sequence[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """Passages and words by configuration; 0 where all passages are retired."""
    counts = dict.fromkeys(sorted({row["config"] for row in rows}), (0, 0))
    for row in rows:
        if row["retired"] == inf:
            passages, words = counts[row["config"]]
            counts[row["config"]] = passages + 1, words + row["length"]
    return [(config, *count) for config, count in counts.items()]
