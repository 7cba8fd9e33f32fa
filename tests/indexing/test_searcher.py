"""Questions and their answers, on a small index of real parts."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawl4r.errors import UsageError
from crawl4r.indexing.rules import IndexRules
from crawl4r.indexing.searcher import Searcher
from crawl4r.search.port import Filters
from crawl4r.search.request import Answer, Fusion, Mode, SearchRequest
from tests.indexing.indexed import WordVectors, index, indexing, opened, put

SAVEPOINT = """# Transactions

A transaction groups statements so that all of them happen or none.

## Savepoints

A savepoint is a mark inside a transaction. ROLLBACK TO SAVEPOINT undoes what came after it.

## Locks

A lock keeps others from writing the same row until the transaction ends.
"""
COOKING = """# Soup

Chop the onions, heat the oil, and add the stock after ten minutes.

## Salt

Salt comes last. A pinch is enough for a pot.
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("searched")
    put(
        path,
        {"id": "db", "title": "Database manual", "text": SAVEPOINT},
        {"id": "soup", "title": "Cookbook", "text": COOKING},
        {"url": "https://other.example/x", "title": "Elsewhere", "text": "A savepoint elsewhere."},
    )
    index(path)
    return path


@pytest.fixture(scope="module")
def searcher(workspace: Path) -> Iterator[Searcher]:
    with opened(workspace / "index" / "one", writable=False) as parts:
        yield Searcher(parts, WordVectors())


def texts(answer: Answer) -> list[str]:
    return [hit.found.entry.text for hit in answer.hits]


@pytest.mark.parametrize("mode", list(Mode))
def test_the_passage_that_answers_comes_first(searcher: Searcher, mode: Mode) -> None:
    answer = searcher.search(SearchRequest("rollback to a savepoint", mode))
    assert "ROLLBACK TO SAVEPOINT" in texts(answer)[0]


def test_a_hit_names_where_it_comes_from(searcher: Searcher) -> None:
    hit = searcher.search(SearchRequest("rollback", limit=1)).hits[0]
    entry, version = hit.found
    assert SAVEPOINT[entry.start : entry.end] == entry.text
    assert entry.headings == ("Transactions", "Savepoints")
    assert (version.title, version.external_id) == ("Database manual", "db")
    assert len(version.sha256) == 64
    assert version.captured_at > 0
    assert [entry.text[a:b] for a, b in hit.highlights] == ["ROLLBACK"]
    assert ":~:text=" in hit.link


def test_filters_and_syntax_narrow_both_halves(searcher: Searcher) -> None:
    def urls(query: str, **filters: object) -> set[str]:
        request = SearchRequest(query, filters=Filters(**filters))
        return {hit.found.version.url for hit in searcher.search(request).hits}

    assert urls("savepoint site:other.example") == {"https://other.example/x"}
    assert urls("savepoint", domains=("other.example",)) == {"https://other.example/x"}
    assert "https://other.example/x" not in urls("savepoint -elsewhere")
    assert urls("+elsewhere savepoint") == {"https://other.example/x"}
    assert urls("savepoint before:1999") == set()


def test_at_most_so_many_passages_of_a_document(searcher: Searcher) -> None:
    request = SearchRequest("transaction savepoint lock statements", limit=20, per_document=1)
    documents = [hit.found.version.document_id for hit in searcher.search(request).hits]
    assert len(documents) == len(set(documents))
    more = searcher.search(replace(request, per_document=0))
    assert len(more.hits) > len(documents)


def test_pages_of_results_go_on_without_repeats_while_the_index_grows(tmp_path: Path) -> None:
    put(tmp_path, *({"id": str(n), "text": f"river stone number{n}"} for n in range(12)))
    rules = IndexRules(max_tokens=60, with_near=True)
    index(tmp_path, rules)
    seen: list[int] = []
    cursor = None
    with opened(tmp_path / "index" / "one", writable=False) as parts:
        searcher = Searcher(parts, WordVectors())
        for page in range(4):
            answer = searcher.search(SearchRequest("river stone", limit=3, cursor=cursor))
            seen += [hit.found.entry.number for hit in answer.hits]
            cursor = answer.cursor
            new = [{"id": f"new{page}{n}", "text": f"river stone new{page}{n}"} for n in range(4)]
            put(tmp_path, *new)
            index(tmp_path, rules)
    assert sorted(seen) == list(range(1, 13))
    assert cursor is None


def test_neighbours_come_along_when_asked_for(searcher: Searcher) -> None:
    hit = searcher.search(SearchRequest("rollback", limit=1, neighbours=1)).hits[0]
    assert [found.entry.headings[-1] for found in hit.neighbours] == ["Transactions", "Locks"]


def test_both_halves_are_explained(searcher: Searcher) -> None:
    answer = searcher.search(SearchRequest("savepoint"))
    assert all(hit.keyword_score is not None for hit in answer.hits if hit.source != "vector")
    assert all(hit.vector_score is not None for hit in answer.hits)
    assert {"keyword", "embed", "vector", "total"} <= answer.milliseconds.keys()


def test_an_answer_is_kept_until_the_index_changes(tmp_path: Path) -> None:
    put(tmp_path, {"id": "1", "text": "first river"})
    index(tmp_path)
    with opened(tmp_path / "index" / "one", writable=False) as parts:
        searcher = Searcher(parts, WordVectors())
        assert not searcher.search(SearchRequest("river")).is_cached
        assert searcher.search(SearchRequest("river")).is_cached
        put(tmp_path, {"id": "2", "text": "second river"})
        index(tmp_path)
        fresh = searcher.search(SearchRequest("river"))
        assert not fresh.is_cached
        assert len(fresh.hits) == 2


def test_scores_below_the_least_are_left_out(searcher: Searcher) -> None:
    every = searcher.search(SearchRequest("savepoint", limit=20))
    least = every.hits[0].score - 1e-9
    assert len(searcher.search(SearchRequest("savepoint", min_score=least)).hits) == 1


def test_reciprocal_ranks_can_be_asked_for(searcher: Searcher) -> None:
    answer = searcher.search(SearchRequest("savepoint", fusion=Fusion.RRF))
    usual = searcher.search(SearchRequest("savepoint"))
    assert answer.hits[0].found == usual.hits[0].found
    assert abs(answer.hits[0].score - usual.hits[0].score) < 1e-9, "on the same scale"
    flat = searcher.search(SearchRequest("savepoint", fusion=Fusion.RRF, rrf_k=10_000))
    assert flat.hits[-1].score / flat.hits[0].score > answer.hits[-1].score / answer.hits[0].score


def test_similar_documents_are_others(workspace: Path, searcher: Searcher) -> None:
    hits = searcher.similar("https://other.example/x", limit=2)
    assert hits[0].found.version.external_id == "db"
    with pytest.raises(UsageError, match="not in the index"):
        searcher.similar("https://nowhere.example/")


def test_a_reranker_orders_the_best(workspace: Path) -> None:
    class ShortestFirst:
        model = "short"

        def scores(self, query: str, texts: list[str]) -> list[float]:
            return [-float(len(text)) for text in texts]

        def close(self) -> None:
            pass

    with opened(workspace / "index" / "one", writable=False) as parts:
        searcher = Searcher(parts, WordVectors(), ShortestFirst())
        answer = searcher.search(SearchRequest("savepoint", rerank=True, per_document=0))
        lengths = [len(text) for text in texts(answer)]
        assert lengths == sorted(lengths)
        with pytest.raises(UsageError, match=r"search\.reranker"):
            Searcher(parts, WordVectors()).search(SearchRequest("x", rerank=True))


def test_without_vectors_words_still_answer(tmp_path: Path) -> None:
    put(tmp_path, {"id": "1", "text": "first river"})
    with indexing(tmp_path) as (indexer, _, _):
        indexer.catch_up()
    with opened(tmp_path / "index" / "one", writable=False) as parts:
        assert len(Searcher(parts, WordVectors()).search(SearchRequest("river")).hits) == 1
        nobody = Searcher(parts, None)
        answer = nobody.search(SearchRequest("river"))
        assert len(answer.hits) == 1
        assert any("embed install" in note for note in answer.notes)
        with pytest.raises(UsageError, match="embed install"):
            nobody.search(SearchRequest("river", Mode.VECTOR))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200))
def test_no_query_raises(searcher: Searcher, query: str) -> None:
    with contextlib.suppress(UsageError):  # a condition that cannot hold, or no words
        answer = searcher.search(SearchRequest(query))
        assert len(answer.hits) <= 10
        assert all(0 <= hit.score <= 1 for hit in answer.hits)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD])
def test_a_score_says_how_much_of_the_query_is_there(searcher: Searcher, mode: Mode) -> None:
    def best(query: str) -> float:
        return searcher.search(SearchRequest(query, mode)).hits[0].score

    whole = best("rollback savepoint")
    assert whole > best("rollback savepoint zebra giraffe") > best("rollback zebra giraffe lion")
    assert 0 < whole <= 1


def test_a_score_does_not_change_what_comes_first(searcher: Searcher) -> None:
    request = SearchRequest("transaction savepoint lock statements", limit=20)
    scores = [hit.score for hit in searcher.search(request).hits]
    assert scores == sorted(scores, reverse=True)
    filtered = searcher.search(replace(request, filters=Filters(types=("record",))))
    assert filtered.hits[0].score == pytest.approx(scores[0]), "filters change no score"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"keyword_weight": 0.0, "vector_weight": 0.0}, "weights"),
        ({"vector_weight": float("nan")}, "weights"),
        ({"keyword_weight": float("inf")}, "weights"),
        ({"rrf_k": 0}, "1 or more"),
        ({"min_score": 1.5}, "from 0 to 1"),
        ({"filters": Filters(types=("spreadsheet",))}, "not a type"),
        ({"filters": Filters(languages=("english",))}, "not a language code"),
        ({"query": "savepoint " * 500}, "5,000 characters"),
        ({"query": "  "}, "empty"),
    ],
)
def test_what_cannot_be_meant_is_a_mistake(
    searcher: Searcher, changed: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=named):
        searcher.search(replace(SearchRequest("savepoint"), **changed))


class KnownModel(WordVectors):
    """The vectors of the tests under the name of a model whose cosines are known."""

    model = "all-MiniLM-L6-v2-int8"


def test_words_that_occur_nowhere_with_nothing_near_find_nothing(workspace: Path) -> None:
    with opened(workspace / "index" / "one", writable=False) as parts:
        known, unknown = Searcher(parts, KnownModel()), Searcher(parts, WordVectors())
        nothing = known.search(SearchRequest("zebra"))
        assert (nothing.hits, nothing.candidates) == ([], 0)
        assert "none of these words occur" in nothing.notes[0]
        assert "nothing is near in meaning" in nothing.notes[0]
        assert not known.search(SearchRequest("zebra", Mode.VECTOR)).hits
        some = unknown.search(SearchRequest("zebra"))
        assert some.hits, "of this model it is not known what is far"
        assert "near in meaning alone" in some.notes[0]
        assert known.search(SearchRequest("zebra savepoint")).hits
        assert not known.search(SearchRequest("zebra", Mode.KEYWORD)).hits


def test_what_is_shown_and_the_link_are_words_of_the_passage(searcher: Searcher) -> None:
    hit = searcher.search(SearchRequest("rollback", limit=1)).hits[0]
    assert hit.snippet.text in hit.found.entry.text
    words = unquote(hit.link.partition(":~:text=")[2])
    assert words and words in hit.snippet.text
    near = searcher.similar("https://other.example/x", limit=1)[0]
    assert near.snippet.text and ":~:text=" in near.link


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_has_limits(searcher: Searcher, limit: int) -> None:
    with pytest.raises(UsageError, match="1 to 200"):
        searcher.search(SearchRequest("x", limit=limit))
