"""Translate a query into tantivy's queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf

from tantivy import FieldType, Occur, Query, Searcher

from crawl4r.search.keyword.tantivy_index import SCHEMA
from crawl4r.search.keyword.words import (
    UNSTEMMED,
    asks_for_something,
    is_one_letter_of_a_run,
    query_words,
    without_stop_words,
)
from crawl4r.search.port import Clause, Filters, KeywordQuery

MOST_COMPLETIONS = 64  # for a prefix, the most frequent words

_HYPHENS = re.compile("[-\u2010-\u2015]")


def matching(query: KeywordQuery, searcher: Searcher, stemmers: Sequence[str]) -> Query | None:
    """The query for the clauses, scored by BM25; None when it cannot match."""
    clauses: Sequence[Clause] = without_stop_words(query.clauses, stemmers)
    if not asks_for_something(clauses):
        clauses = query.clauses
    parts = []
    for clause in clauses:
        asked = _clause(clause, searcher, stemmers)
        if asked is None:
            if clause.is_required:
                return None
            continue
        if clause.times > 1:
            asked = Query.boost_query(asked, float(clause.times))
        parts.append((_occur(clause), asked))
    is_asking = any(occur != Occur.MustNot for occur, _ in parts)
    return Query.boolean_query(parts) if is_asking else None


def conditions(query: Query, where: Filters, *, is_past: bool) -> Query:
    """Restrict the query by the filters, with the same scores."""
    held = [(Occur.Must, Query.const_score_query(each, 0.0)) for each in _filters(where, is_past)]
    return Query.boolean_query([(Occur.Must, query), *held]) if held else query


def numbered(query: Query, numbers: Sequence[int]) -> Query:
    """Restrict the query to these passages, with the same scores."""
    # One clause per number is faster than a term set, which walks the whole dictionary.
    clauses = [(Occur.Should, Query.term_query(SCHEMA, "number", n, "basic")) for n in numbers]
    these = Query.const_score_query(Query.boolean_query(clauses), 0.0)
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, these)])


def _filters(where: Filters, is_past: bool) -> Iterator[Query]:
    terms = {
        "domain": [domain.lower() for domain in where.domains],
        "language": [language.lower() for language in where.languages],
        "type": [kind.lower() for kind in where.types],
        "collection": where.collections,
        "tag": where.tags,
    }
    for field, values in terms.items():
        if values:
            yield _any([Query.term_query(SCHEMA, field, value, "basic") for value in values])
    if where.since > -inf:
        yield _times("captured_at", lower_bound=where.since)
    if where.before < inf:
        yield _times("captured_at", upper_bound=where.before, include_upper=False)
    if where.as_of < inf:
        yield _times("captured_at", upper_bound=where.as_of)
        if is_past:
            yield _times("retired_at", lower_bound=where.as_of, include_lower=False)
    if where.up_to < Filters().up_to:
        yield Query.range_query(SCHEMA, "number", FieldType.Integer, upper_bound=where.up_to)


def _times(
    field: str,
    *,
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    include_lower: bool = True,
    include_upper: bool = True,
) -> Query:
    return Query.range_query(
        SCHEMA, field, FieldType.Float, lower_bound, upper_bound, include_lower, include_upper
    )


def _occur(clause: Clause) -> Occur:
    if clause.is_excluded:
        return Occur.MustNot
    return Occur.Must if clause.is_required else Occur.Should


def _clause(clause: Clause, searcher: Searcher, stemmers: Sequence[str]) -> Query | None:
    """Match any stem of the clause in the languages of the index."""
    *firsts, last = clause.words
    if clause.is_prefix or is_one_letter_of_a_run(last):
        return _beginning(firsts, last, searcher, stemmers)
    if firsts or clause.is_required or clause.is_excluded:
        return _in_order({_forms(clause.words, stemmer) for stemmer in stemmers})
    parts = _HYPHENS.split(last)
    loose = {tuple(_forms([part], stemmer) for part in parts) for stemmer in stemmers}
    return _best_of([_loosely(form) for form in sorted(loose) if any(form)])


def _loosely(parts: Sequence[tuple[str, ...]]) -> Query:
    """A word of several parts: any part matches; parts in order score higher.

    Hyphens bind less than that (`high-speed`): asking for the order costs .008 nDCG@10 on cranfield.
    """
    terms = [_text((form,)) for part in parts for form in part]
    phrases = [_text(part) for part in parts if len(part) > 1]
    return terms[0] if len(terms) == 1 else _any(terms + phrases)


def _beginning(
    firsts: Sequence[str], last: str, searcher: Searcher, stemmers: Sequence[str]
) -> Query | None:
    """A phrase whose last word is a prefix: match any of its most frequent completions."""
    *inner, beginning = query_words(last, UNSTEMMED) or [""]
    if not beginning:
        return None
    found = searcher.terms_with_prefix("words", beginning, limit=MOST_COMPLETIONS)
    completions = [word for word, _ in found]
    if not firsts and not inner:
        return _best_of([Query.term_query(SCHEMA, "words", word, "basic") for word in completions])
    words = (*firsts, *inner)
    return _in_order(
        {_forms((*words, each), stemmer) for each in completions for stemmer in stemmers}
    )


def _forms(words: Sequence[str], stemmer: str) -> tuple[str, ...]:
    return tuple(form for word in words for form in query_words(word, stemmer))


def _in_order(forms: set[tuple[str, ...]]) -> Query | None:
    return _best_of([_text(form) for form in sorted(forms) if form])


def _text(form: tuple[str, ...]) -> Query:
    if len(form) == 1:
        return Query.term_query(SCHEMA, "text", form[0], "freq")
    return Query.phrase_query(SCHEMA, "text", list(form))


def _best_of(queries: list[Query]) -> Query | None:
    if len(queries) < 2:
        return queries[0] if queries else None
    return Query.disjunction_max_query(queries)


def _any(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])
