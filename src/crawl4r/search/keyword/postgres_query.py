"""Translate a query into PostgreSQL's SQL, and compute BM25 from `ts_rank`.

PostgreSQL has no BM25, and its own ranks ignore how rare a word is: at best .354 nDCG@10 on cranfield
and .368 on vaswani. But `ts_rank` of one lexeme with all weights 1 is the sum of 1/j² up to its
frequency, divided by π²/6; that gives the frequency back, and with it BM25: .384 and .434.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from crawl4r.search.keyword.words import (
    asks_for_something,
    is_one_letter_of_a_run,
    spaced_query,
    without_stop_words,
)
from crawl4r.search.port import Clause, Filters, KeywordQuery

if TYPE_CHECKING:
    import psycopg

K1, B = 1.2, 0.75  # as tantivy has them

# 1/1² + ... + 1/n² is π²/6 - 1/(n + 1/2), nearly; a frequency beyond a hundred makes no difference.
_FREQUENCY = "coalesce(1 / (1.644934 * (1 - nullif(least(greatest({ranks}), 0.994), 0))) - 0.5, 0)"
_RANK = "ts_rank('{{1,1,1,1}}', {column}, %({name})s::tsquery)"
_SCORE = (
    "%(times{i})s * ln(1 + (%(passages)s - df{i} + 0.5) / (df{i} + 0.5))"
    " * tf{i} * ({k1} + 1) / (tf{i} + {k1} * (1 - {b} + {b} * length / %(average)s))"
)
_QUESTION = """
    with matched as materialized (
        select number, length, retired_at = 'infinity' as is_current, ({which}) as is_wanted, {columns}
        from search_passages where {any}
    ), frequencies as (
        select {frequencies} from matched
    )
    select number, {score} as score from matched, frequencies
    where is_wanted order by score desc, number limit %(limit)s
"""


class Totals(NamedTuple):
    """The totals that BM25 needs."""

    configs: tuple[str, ...]
    passages: int
    words: int

    @classmethod
    def of(cls, connection: psycopg.Connection[Any]) -> Totals:
        rows = connection.execute(
            "select config, passages, words from search_passages_totals order by config"
        ).fetchall()
        return cls(
            tuple(row[0] for row in rows), sum(row[1] for row in rows), sum(row[2] for row in rows)
        )


class Term(NamedTuple):
    """A clause, or a part of one: any of `forms`, each in the syntax of tsquery."""

    clause: Clause
    forms: tuple[str, ...]
    column: str = "stems"
    is_counted: bool = True  # score by frequency, not only by presence

    @property
    def is_asking(self) -> bool:
        return not self.clause.is_excluded


def terms_of(
    query: KeywordQuery, configs: Sequence[str], connection: psycopg.Connection[Any]
) -> list[Term]:
    """The stems of the clauses in each configuration; empty when the query cannot match."""
    clauses: Sequence[Clause] = without_stop_words(query.clauses, configs)
    column = "stems"
    if not asks_for_something(clauses):
        # The stems hold no stop words, so these clauses use the unstemmed words.
        clauses, configs, column = query.clauses, ["simple"], "words"
    terms: list[Term] = []
    for clause in clauses:
        found = _terms(clause, configs, connection)
        if not found and clause.is_required:
            return []
        terms += found if column == "stems" else [term._replace(column=column) for term in found]
    return terms


def _terms(
    clause: Clause, configs: Sequence[str], connection: psycopg.Connection[Any]
) -> list[Term]:
    if clause.is_prefix or is_one_letter_of_a_run(clause.words[-1]):
        return _beginning(clause, connection)
    if len(clause.words) > 1 or clause.is_required or clause.is_excluded:
        return _in_order(clause, configs, connection)
    return _loosely(clause, configs, connection)


def condition(where: Filters) -> tuple[str, dict[str, object]]:
    """The filters as SQL, with its parameters."""
    values: dict[str, object] = {
        "domains": [domain.lower() for domain in where.domains],
        "languages": [language.lower() for language in where.languages],
        "types": [kind.lower() for kind in where.types],
        "collections": list(where.collections),
        "tags": list(where.tags),
        "since": where.since,
        "before": where.before,
        "as_of": where.as_of,
        "up_to": where.up_to,
    }
    return " and ".join(_conditions(where)), values


def question(terms: Sequence[Term], totals: Totals, which: str) -> tuple[bytes, dict[str, object]]:
    """SQL for the passages where `which` holds, best first, with its parameters."""
    parameters: dict[str, object] = {
        "passages": totals.passages,
        "average": max(totals.words, 1) / max(totals.passages, 1),
    }
    wanted, columns, found, scores = [f"({which})"], [], [], []
    for i, term in enumerate(terms):
        parameters[f"any{i}"] = " | ".join(f"({form})" for form in term.forms)
        matches = f"{term.column} @@ %(any{i})s::tsquery"
        if not term.is_asking:
            wanted.append(f"not {matches}")
            continue
        if term.clause.is_required:
            wanted.append(matches)
        parameters |= {f"form{i}_{j}": form for j, form in enumerate(term.forms)}
        parameters[f"times{i}"] = term.clause.times
        columns.append(
            f"{_frequency(i, term) if term.is_counted else f'({matches})::int'} as tf{i}"
        )
        found.append(matches)
        scores.append((i, _SCORE.format(i=i, k1=K1, b=B)))
    sql = _QUESTION.format(
        which=" and ".join(wanted),
        columns=", ".join(columns),
        any=" or ".join(found),
        frequencies=", ".join(
            f"count(*) filter (where is_current and tf{i} > 0) as df{i}" for i, _ in scores
        ),
        score=" + ".join(score for _, score in scores),
    )
    return sql.encode(), parameters


def _conditions(where: Filters) -> Iterator[str]:
    yield "captured_at >= %(since)s and captured_at < %(before)s and number <= %(up_to)s"
    if where.as_of == inf:
        yield "retired_at = 'infinity'"
    else:
        yield "captured_at <= %(as_of)s and retired_at > %(as_of)s"
    if where.domains:
        yield "domains && %(domains)s"
    if where.languages:
        yield "language = any(%(languages)s)"
    if where.types:
        yield "types && %(types)s"
    if where.collections:
        yield "collections && %(collections)s"
    if where.tags:
        yield "tags && %(tags)s"


def _frequency(i: int, term: Term) -> str:
    names = [f"form{i}_{j}" for j in range(len(term.forms))]
    ranks = ", ".join(_RANK.format(column=term.column, name=name) for name in names)
    return _FREQUENCY.format(ranks=ranks)


def _beginning(clause: Clause, connection: psycopg.Connection[Any]) -> list[Term]:
    """The unstemmed prefix: `connecti*` does not match stems."""
    forms = tuple(f"{form}:*" for form in _phrases(clause, ["simple"], connection))
    return [Term(clause, forms, "words", is_counted=False)] if forms else []


def _in_order(
    clause: Clause, configs: Sequence[str], connection: psycopg.Connection[Any]
) -> list[Term]:
    forms = _phrases(clause, configs, connection)
    return [Term(clause, forms, is_counted=False)] if forms else []


def _loosely(
    clause: Clause, configs: Sequence[str], connection: psycopg.Connection[Any]
) -> list[Term]:
    """For a word of several parts (`high-speed`) any part matches."""
    rows = connection.execute(
        "select distinct tsvector_to_array(to_tsvector(config::regconfig, %s))"
        " from unnest(%s::text[]) as config order by 1",
        (spaced_query(clause.words[0]), list(configs)),
    ).fetchall()
    lexemes = dict.fromkeys(_quoted(lexeme) for row in rows for lexeme in row[0])
    if not lexemes:
        return []
    if all(len(row[0]) <= 1 for row in rows):
        return [Term(clause, tuple(lexemes))]
    return [Term(clause, (lexeme,)) for lexeme in lexemes]


def _phrases(
    clause: Clause, configs: Sequence[str], connection: psycopg.Connection[Any]
) -> tuple[str, ...]:
    rows = connection.execute(
        "select distinct phraseto_tsquery(config::regconfig, %s)::text"
        " from unnest(%s::text[]) as config order by 1",
        (" ".join(map(spaced_query, clause.words)), list(configs)),
    ).fetchall()
    return tuple(row[0] for row in rows if row[0])


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
