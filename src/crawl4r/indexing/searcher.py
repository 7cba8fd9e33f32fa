"""Search: turn a query into ranked passages.

query ─> words and conditions ─┬─> keyword index: best 100 ─┐
                               └─> embedder ─> vectors: 100 ─┴─> fuse ─> once each, few a document
                      ─> scores that all queries share ─> neighbours, reranker, snippets ─> answer
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf

import numpy as np
from msgspec.structs import replace

from crawl4r.content.markdown.plain_text import plain_text
from crawl4r.errors import UsageError
from crawl4r.search.answer_cache import AnswerCache
from crawl4r.search.cursor import Cursor
from crawl4r.search.index import Index
from crawl4r.search.languages import language_code, not_a_language
from crawl4r.search.port import (
    Embedder,
    Filters,
    KeywordQuery,
    Reranker,
    Scored,
    Vector,
)
from crawl4r.search.query import ParsedQuery, check_types, parse_checked
from crawl4r.search.rank.fusion import combine, ranked, reciprocal_ranks, with_support
from crawl4r.search.rank.halves import Halves
from crawl4r.search.rank.highlight import highlights
from crawl4r.search.rank.snippet import snippet_of, with_fragment
from crawl4r.search.rank.strength import cosine_scale, ideal_score
from crawl4r.search.request import Answer, Fusion, Hit, Mode, SearchRequest

CANDIDATES = 100  # of each half
_LIKELY = 60  # of both; all results are among them
MOST_RESULTS = 200
_NOTHING = KeywordQuery(())
_NO_MODEL = "found by words alone; `crawl4r embed install` adds meaning"
_NO_VECTORS = "found by words alone: this index has no vectors yet; `crawl4r index` adds them"


class NotIndexed(UsageError):
    """The URL has no document in the index."""


class Searcher:
    """Searches one index. Use it in one thread; threads may share the cache."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder | None,
        reranker: Reranker | None = None,
        *,
        cache: AnswerCache[Answer] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._index = index
        self._embedder = embedder if index.vectors else None
        self._why_words_alone = _NO_VECTORS if embedder else _NO_MODEL
        self._reranker = reranker
        self._beside = ThreadPoolExecutor(1, "embed")  # ends with this object
        self._cache = cache or AnswerCache(256)
        self._clock = clock

    def search(self, request: SearchRequest) -> Answer:
        """Search. Raises UsageError for an invalid request or query."""
        started = self._clock()
        request = self._checked(request)
        parsed = parse_checked(request.query)
        mark = self._index.catalogue.change_mark()
        answer, was_there = self._cache.get(request, mark, lambda: self._answer(request, parsed))
        total = 1_000 * (self._clock() - started)
        return replace(
            answer, is_cached=was_there, milliseconds={**answer.milliseconds, "total": total}
        )

    def similar(self, url: str, limit: int = 10) -> list[Hit]:
        """The passages of other documents nearest to the document of a URL, one per document."""
        versions = [v for v in self._index.catalogue.versions_of(url) if v.retired_at is None]
        if not versions:
            raise NotIndexed(f"{url} is not in the index")
        if self._index.vectors is None:
            raise UsageError(
                "there are no vectors in this index: set embedder.kind and index again"
            )
        own = self._index.catalogue.passages_of(versions[0])
        vectors = self._index.vectors.vectors([found.entry.number for found in own])
        if not vectors:
            raise UsageError(f"{url} has no vectors yet; `crawl4r index` makes them")
        middle = np.mean(list(vectors.values()), axis=0)
        middle /= np.linalg.norm(middle) or 1.0
        near = self._index.vectors.nearest(middle, limit * 5 + len(own), Filters())
        documents = self._index.catalogue.documents_of([hit.number for hit in near])
        seen = {versions[0].document_id}
        chosen = []
        for rank, hit in enumerate(near, 1):
            document = documents.get(hit.number, ("", ""))[0]
            if document and document not in seen:
                seen.add(document)
                chosen.append((hit, rank))
        found = self._index.catalogue.find([hit.number for hit, _ in chosen[:limit]])
        return [
            self._shown(Hit(found[hit.number], hit.score, None, hit.score, None, rank))
            for hit, rank in chosen[:limit]
            if hit.number in found
        ]

    def _checked(self, request: SearchRequest) -> SearchRequest:
        if not 1 <= request.limit <= MOST_RESULTS:
            raise UsageError(f"a search gives 1 to {MOST_RESULTS} results, not {request.limit}")
        if request.mode is Mode.VECTOR and self._embedder is None:
            raise UsageError(
                "there are no vectors to search: `crawl4r embed install` gets the model,"
                " `crawl4r index` makes them; --mode keyword works without"
            )
        if request.rerank and self._reranker is None:
            raise UsageError(
                "no reranker is configured: set search.reranker to the URL of a TEI server or to"
                " the folder of an ONNX cross-encoder"
            )
        weights = (request.keyword_weight, request.vector_weight)
        if not (min(weights) >= 0 and 0 < sum(weights) < inf):
            raise UsageError("weights are numbers of 0 or more, and one of both is more than 0")
        if request.rrf_k < 1:
            raise UsageError(f"k of reciprocal rank fusion is 1 or more, not {request.rrf_k}")
        if not 0 <= request.min_score <= 1:
            raise UsageError(f"scores are from 0 to 1; the least cannot be {request.min_score:g}")
        return replace(request, filters=_checked_filters(request.filters))

    def _answer(self, request: SearchRequest, parsed: ParsedQuery) -> Answer:
        watch = _Watch(self._clock)
        notes = list(parsed.notes)
        if request.mode is Mode.HYBRID and self._embedder is None:
            notes.append(self._why_words_alone)
        cursor = Cursor.read(request.cursor, self._index.catalogue.last_number())
        where = _both(request.filters, parsed.filters)._replace(up_to=cursor.up_to)
        watch.lap("parse")
        halves = self._candidates(request, parsed, where, watch)
        notes = _why_few(request, halves) + notes
        scores = [] if halves.is_chance else self._fuse(request, halves)
        likely = scores[: max(_LIKELY, 4 * (request.limit + len(cursor.shown)))]
        sources = self._index.catalogue.documents_of([hit.number for hit in likely])
        if request.mode is Mode.HYBRID and request.fusion is Fusion.CONVEX:
            documents = {number: document for number, (document, _) in sources.items()}
            likely = ranked(with_support(dict(scores), documents))[: len(likely)]
        likely = _on_common_scale(likely, request, halves)
        likely = [hit for hit in likely if hit.score >= request.min_score]
        chosen = self._choose(request, likely, sources, cursor)
        watch.lap("fuse")
        found = self._index.catalogue.find([hit.number for hit in chosen])
        hits = [halves.hit(found[hit.number], hit.score) for hit in chosen if hit.number in found]
        watch.lap("fetch")
        if request.rerank:
            hits = self._reranked(parsed.plain, hits)
            watch.lap("rerank")
        page = hits[: request.limit]
        hits_shown = [self._finished(hit, parsed, request.neighbours) for hit in page]
        watch.lap("highlight")
        has_more = len(hits) > len(page)
        return Answer(
            hits_shown,
            len(scores),
            cursor.after([hit.found.entry.number for hit in page]) if has_more else None,
            notes,
            milliseconds=watch.laps,
        )

    def _candidates(
        self, request: SearchRequest, parsed: ParsedQuery, where: Filters, watch: _Watch
    ) -> Halves:
        """Both rankings, with both scores of every candidate."""
        keyword, vectors = self._index.keyword, self._index.vectors
        by_words: list[Scored] = []
        by_meaning: list[Scored] = []
        ideal = 0.0
        vector = None
        embedding: Future[Vector] | None = None
        if request.mode is not Mode.KEYWORD and self._embedder and vectors and parsed.plain.strip():
            # Both searches release the interpreter's lock, so in hybrid mode they run at once.
            embedding = self._beside.submit(self._embedder.embed_query, parsed.plain)
        if request.mode is not Mode.VECTOR:
            by_words = keyword.best(parsed.keywords, CANDIDATES, where)
            ideal = ideal_score(keyword, parsed.keywords) if by_words else 0.0
            watch.lap("keyword")
        if embedding and vectors:
            vector = embedding.result()
            watch.lap("embed")
            by_meaning = vectors.nearest(vector, CANDIDATES, where)
            by_meaning = self._permitted(by_meaning, parsed.keywords)
            watch.lap("vector")
        scale = cosine_scale(self._embedder.model) if self._embedder and by_meaning else None
        halves = Halves(by_words, by_meaning, ideal=ideal, scale=scale)
        if request.mode is Mode.HYBRID and vector is not None and vectors:
            only_meant = [n for n in halves.vector_ranks if n not in halves.keyword_ranks]
            only_said = [n for n in halves.keyword_ranks if n not in halves.vector_ranks]
            halves.keyword_scores |= keyword.scores(parsed.keywords, only_meant)
            halves.vector_scores |= vectors.cosines(vector, only_said)
            watch.lap("both scores")
        return halves

    def _permitted(self, hits: list[Scored], query: KeywordQuery) -> list[Scored]:
        """Drop vector candidates with excluded words or without required ones."""
        numbers = [hit.number for hit in hits]
        excluded = [c._replace(is_excluded=False) for c in query.clauses if c.is_excluded]
        required = [c for c in query.clauses if c.is_required and not c.is_excluded]
        if excluded and numbers:
            out = self._index.keyword.scores(KeywordQuery(tuple(excluded)), numbers)
            hits = [hit for hit in hits if hit.number not in out]
        if required and numbers:
            kept = self._index.keyword.scores(KeywordQuery(tuple(required)), numbers)
            hits = [hit for hit in hits if hit.number in kept]
        return hits

    def _fuse(self, request: SearchRequest, halves: Halves) -> list[Scored]:
        if request.mode is Mode.KEYWORD:
            scores = halves.keyword_scores
        elif request.mode is Mode.VECTOR:
            scores = halves.vector_scores
        elif request.fusion is Fusion.RRF:
            rankings = [list(halves.keyword_ranks), list(halves.vector_ranks)]
            weights = [request.keyword_weight, request.vector_weight]
            scores = reciprocal_ranks(rankings, weights, request.rrf_k)
        else:
            scores = combine(
                halves.keyword_scores,
                halves.vector_scores,
                keyword_weight=request.keyword_weight,
                vector_weight=request.vector_weight,
            )
        return ranked(scores)

    def _choose(
        self,
        request: SearchRequest,
        scores: Sequence[Scored],
        sources: Mapping[int, tuple[str, str]],
        cursor: Cursor,
    ) -> list[Scored]:
        """Keep equal texts once and few passages per document; one extra shows a next page."""
        most = request.per_document or len(scores)
        wanted = max(request.limit, request.rerank_top if request.rerank else 0) + 1
        per_document: Counter[str] = Counter()
        texts: set[str] = set()
        chosen = []
        shown = set(cursor.shown)
        for hit in scores:
            document, chunk = sources.get(hit.number, ("", ""))
            if not document or chunk in texts or per_document[document] >= most:
                continue
            texts.add(chunk)
            per_document[document] += 1
            if hit.number not in shown:
                chosen.append(hit)
                if len(chosen) == wanted:
                    break
        return chosen

    def _reranked(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        assert self._reranker is not None
        scores = self._reranker.scores(query, [hit.found.entry.text for hit in hits])
        scored = [replace(hit, rerank_score=s) for hit, s in zip(hits, scores, strict=True)]
        return sorted(scored, key=lambda hit: -(hit.rerank_score or 0.0))

    def _finished(self, hit: Hit, parsed: ParsedQuery, reach: int) -> Hit:
        around = self._index.catalogue.neighbours(hit.found, reach) if reach else ()
        marks = self._marks(hit.found.entry.text, hit, parsed.keywords)
        return self._shown(replace(hit, highlights=marks, neighbours=around), parsed.keywords)

    def _shown(self, hit: Hit, query: KeywordQuery = _NOTHING) -> Hit:
        plain = plain_text(hit.found.entry.text)
        snippet = snippet_of(plain, self._marks(plain, hit, query))
        return replace(hit, snippet=snippet, link=with_fragment(hit.found.version.url, snippet))

    def _marks(self, text: str, hit: Hit, query: KeywordQuery) -> list[tuple[int, int]]:
        language = hit.found.version.language
        return highlights(text, query, lambda words: self._index.keyword.stems(words, language))


class _Watch:
    """Milliseconds by step."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = self._clock()
        self.laps[name] = self.laps.get(name, 0.0) + 1_000 * (now - self._last)
        self._last = now


def _on_common_scale(
    ranked: Sequence[Scored], request: SearchRequest, halves: Halves
) -> list[Scored]:
    """The same order; each score becomes its share of the best one, times the strength of the best."""
    if not ranked or ranked[0].score <= 0:
        return [hit._replace(score=0.0) for hit in ranked]
    factor = halves.strength(ranked[0].number, request) / ranked[0].score
    return [hit._replace(score=max(hit.score, 0.0) * factor) for hit in ranked]


def _why_few(request: SearchRequest, halves: Halves) -> list[str]:
    """Notes about the candidates when no word occurs."""
    if request.mode is Mode.VECTOR:
        return ["nothing is near in meaning"] if halves.is_chance else []
    if halves.keyword_ranks:
        return []
    none = "none of these words occur in what was searched"
    if halves.nearest is None:
        return [none]
    if halves.is_chance:
        return [f"{none}, and nothing is near in meaning"]
    return [f"{none}; the results are near in meaning alone"]


def _checked_filters(filters: Filters) -> Filters:
    """Check the languages and types. Raises UsageError for values that no document can have."""
    check_types(filters.types)
    for language in filters.languages:
        if not language_code(language):
            raise UsageError(not_a_language(language))
    return filters._replace(languages=tuple(map(language_code, filters.languages)))


def _both(asked: Filters, written: Filters) -> Filters:
    """Conditions of the request and those in the query's text."""
    return Filters(
        domains=(*asked.domains, *written.domains),
        languages=(*asked.languages, *written.languages),
        types=(*asked.types, *written.types),
        collections=(*asked.collections, *written.collections),
        tags=(*asked.tags, *written.tags),
        since=max(asked.since, written.since),
        before=min(asked.before, written.before),
        as_of=asked.as_of,
    )
