"""Keyword search inside the process: BM25 by tantivy, stored in a folder.

There are two tantivy indexes: `current/` and, after the first retirement, `past/`. Retired passages
are kept apart, because they must not change how rare a word is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from pathlib import Path

from crawl4r.search.keyword.tantivy_index import TantivyFolder
from crawl4r.search.keyword.tantivy_query import conditions, matching, numbered
from crawl4r.search.keyword.words import Stemming, spaced, split_words, stemmer_of
from crawl4r.search.port import Filters, KeywordQuery, Passage, Scored


class TantivyIndex:
    """`KeywordIndex` in a folder. A reader of an empty folder finds no passages.

    Raises WorkspaceError if another process writes, StorageDamaged if the files are unreadable.
    """

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._current = TantivyFolder(folder / "current", writable=writable)
        self._past = TantivyFolder(folder / "past", writable=writable)

    def put(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            is_retired = passage.facets.retired_at < inf
            here, there = (self._past, self._current) if is_retired else (self._current, self._past)
            there.delete(passage.number)
            here.put(passage)

    def delete(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._current.delete(number)
            self._past.delete(number)

    def delete_beyond(self, number: int) -> None:
        self._current.delete_beyond(number)
        self._past.delete_beyond(number)

    def commit(self) -> None:
        # `past/` first: after a crash in between, a retired passage is in both indexes, not lost.
        self._past.commit()
        self._current.commit()

    def best(self, query: KeywordQuery, limit: int, where: Filters) -> list[Scored]:
        found = self._best_of(self._current, query, limit, where)
        if where.as_of < inf:
            known = {hit.number for hit in found}
            past = self._best_of(self._past, query, limit, where)
            found += [hit for hit in past if hit.number not in known]
            found.sort(key=lambda hit: (-hit.score, hit.number))
        return found[:limit]

    def scores(self, query: KeywordQuery, numbers: Sequence[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for shelf in (self._past, self._current):
            searcher = shelf.searcher()
            if searcher is None or not numbers:
                continue
            wanted = matching(query, searcher, shelf.stemmers())
            if wanted is not None:
                hits = shelf.best(numbered(wanted, numbers), len(numbers))
                found.update((hit.number, hit.score) for hit in hits)
        return found

    def stems(self, words: Sequence[str], language: str) -> list[str]:
        stemmer = stemmer_of(language)
        return [_stem(word, stemmer) for word in words]

    def count(self) -> int:
        return self._current.count()

    def close(self) -> None:
        self._past.close()
        self._current.close()

    def _best_of(
        self, shelf: TantivyFolder, query: KeywordQuery, limit: int, where: Filters
    ) -> list[Scored]:
        searcher = shelf.searcher()
        if searcher is None or limit < 1:
            return []
        asked = {stemmer_of(language) for language in where.languages}
        wanted = matching(query, searcher, sorted(asked) or shelf.stemmers())
        if wanted is None:
            return []
        return shelf.best(conditions(wanted, where, is_past=shelf is self._past), limit)


@lru_cache(20_000)
def _stem(word: str, stemmer: str) -> str:
    return " ".join(Stemming(stemmer)(split_words(spaced(word))))
