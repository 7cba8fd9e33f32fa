"""What both keyword indexes promise."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawl4r.search.port import Facets, Filters, KeywordIndex, KeywordQuery, Passage
from crawl4r.search.query import parse

OpenIndex = Callable[..., KeywordIndex]
TEXTS = (
    "The boundary layer on a heated wing was measured in supersonic flow.",
    "A layer of paint protects the wing; its boundary is sharp.",
    "Connections to the database server are limited by max_connections.",
    "Gardening in winter: which seeds survive the frost?",
    "Ein Garten im Winter braucht Schutz vor dem Frost, sagen die Gärtner.",
    "東京都の天気は晴れです。大阪は雨です。",
)
LANGUAGES = ("en", "en", "en", "en", "de", "ja")


def passage(number: int, text: str, title: str = "", **facets: object) -> Passage:
    return Passage(number, title, (), text, Facets(**facets))  # type: ignore[arg-type]


def keywords(text: str) -> KeywordQuery:
    return parse(text).keywords


def found(
    index: KeywordIndex, text: str, where: Filters | None = None, limit: int = 10
) -> list[int]:
    hits = index.best(keywords(text), limit, where or Filters())
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.number))
    return [hit.number for hit in hits]


def found_any_order(index: KeywordIndex, text: str, where: Filters | None = None) -> set[int]:
    return set(found(index, text, where))


@pytest.fixture
def index(open_index: OpenIndex) -> KeywordIndex:
    index = open_index()
    index.put(
        [
            passage(number, text, language=language)
            for number, (text, language) in enumerate(zip(TEXTS, LANGUAGES, strict=True), 1)
        ]
    )
    index.commit()
    return index


def test_an_index_without_passages_finds_nothing(open_index: OpenIndex) -> None:
    for index in (open_index(writable=False), open_index()):
        assert index.best(keywords("wing"), 10, Filters()) == []
        assert index.best(keywords("wing"), 10, Filters(as_of=5.0)) == []
        assert index.scores(keywords("wing"), [1, 2]) == {}
        assert index.count() == 0


def test_words_are_found_in_any_form(index: KeywordIndex) -> None:
    assert found_any_order(index, "WINGS") == {1, 2}
    assert found(index, "connecting databases") == [3]
    assert found(index, "surviving seed") == [4]


def test_more_and_rarer_words_rank_higher(index: KeywordIndex) -> None:
    assert found(index, "wing supersonic") == [1, 2]
    assert found(index, "paint wing") == [2, 1]


def test_a_word_asked_twice_counts_twice(index: KeywordIndex) -> None:
    once, twice = (index.best(keywords(q), 1, Filters())[0].score for q in ("frost", "frost frost"))
    assert twice == pytest.approx(2 * once, rel=1e-5)


def test_a_word_in_the_title_counts_more(open_index: OpenIndex) -> None:
    index = open_index()
    index.put(
        [passage(1, "all about compressors and wings"), passage(2, "about compressors", "wings")]
    )
    index.commit()
    assert found(index, "wings") == [2, 1]


def test_headings_are_found(open_index: OpenIndex) -> None:
    index = open_index()
    index.put([Passage(1, "Manual", ("Installation", "Windows"), "Press the button.", Facets())])
    index.commit()
    assert found(index, "windows") == [1]


def test_phrases_stand_in_order(index: KeywordIndex) -> None:
    assert found_any_order(index, "boundary layer") == {1, 2}
    assert found(index, '"boundary layer"') == [1]
    assert found(index, '"layer boundary"') == []


def test_prefixes_go_on_as_words_are_written_not_as_they_are_stemmed(index: KeywordIndex) -> None:
    assert found(index, "connecti*") == [3]
    assert found(index, "conne*") == [3]
    assert found(index, "connectivi*") == []
    assert found(index, '"heated wi*"') == [1]
    assert found(index, '"wing heat*"') == []


def test_excluded_words_and_phrases_are_not_found(index: KeywordIndex) -> None:
    assert found(index, "wing -paint") == [1]
    assert found(index, 'wing -"boundary layer"') == [2]
    assert found(index, "wing -conn*") != []
    assert found(index, "-wing") == []


def test_required_words_are_in_every_hit(index: KeywordIndex) -> None:
    assert found(index, "wing +supersonic") == [1]
    assert found(index, 'layer +"of paint"') == [2]
    assert found(index, "wing +zeppelin") == []


def test_identifiers_are_found(index: KeywordIndex) -> None:
    assert found(index, "max_connections")[0] == 3
    assert found(index, "+max_connections") == [3]


def test_each_language_is_stemmed_its_own_way(index: KeywordIndex) -> None:
    assert found(index, "Gärten") == [5]
    assert found_any_order(index, "winter") == {4, 5}


def test_scripts_without_spaces_are_searched(index: KeywordIndex) -> None:
    assert found(index, "天気") == [6]
    assert found(index, "東京都") == [6]
    assert found(index, '"大阪は雨"') == [6]
    assert found(index, "雨") == [6]
    assert found(index, "+京都の天気") == [6]
    assert found(index, "+大阪の天気") == []


def test_stop_words_are_looked_for_when_there_is_nothing_else(index: KeywordIndex) -> None:
    assert found(index, "the frost") == [4, 5]
    assert 1 in found(index, "the")


def test_put_replaces_and_delete_removes(index: KeywordIndex) -> None:
    index.put([passage(1, "quite different")])
    index.delete([2, 999])
    assert found_any_order(index, "wing") == {1, 2}, "not before the commit"
    index.commit()
    assert found(index, "wing") == []
    assert found(index, "different") == [1]
    assert index.count() == 5


def test_within_one_commit_the_last_word_counts(open_index: OpenIndex) -> None:
    index = open_index()
    index.put([passage(1, "first"), passage(1, "second"), passage(2, "gone")])
    index.delete([2])
    index.put([passage(3, "gone"), passage(4, "beyond")])
    index.delete_beyond(3)
    index.put([passage(5, "late")])
    index.commit()
    assert found_any_order(index, "first second gone beyond late") == {1, 3, 5}
    assert found(index, "first") == []
    assert index.count() == 3


def test_delete_beyond_removes_the_higher_numbers(index: KeywordIndex) -> None:
    index.delete_beyond(3)
    index.commit()
    assert index.count() == 3
    assert found(index, "frost") == []
    assert found(index, "database") == [3]


def test_readers_see_a_commit_with_their_next_question(open_index: OpenIndex) -> None:
    first, second = open_index(writable=False), open_index(writable=False)
    writer = open_index()
    for number in range(1, 6):
        writer.put([passage(number, f"word{number} wing")])
        assert found(first, f"word{number}") == []
        writer.commit()
        assert found(first, f"word{number}") == [number]
        assert found(second, "wing") == list(range(1, number + 1))
        assert second.count() == number


def test_what_was_not_committed_is_gone(open_index: OpenIndex) -> None:
    writer = open_index()
    writer.put([passage(1, "kept")])
    writer.commit()
    writer.put([passage(2, "lost")])
    writer.close()
    again = open_index()
    assert (found(again, "kept"), found(again, "lost"), again.count()) == ([1], [], 1)


@pytest.fixture
def faceted(open_index: OpenIndex) -> KeywordIndex:
    index = open_index()
    common = {"kind": "html", "content_type": "prose", "collections": ("web",)}
    index.put(
        [
            passage(1, "wing", **common, domain="example.org", language="en", captured_at=10.0),
            passage(2, "wing", **common, domain="a.b.example.org", language="de", captured_at=20.0),
            passage(3, "wing", domain="notexample.org", kind="pdf", content_type="table",
                    collections=("Papers", "web 2"), tags=("old", "two words"), captured_at=30.0),
            passage(4, "wing", domain="other.test:8000", kind="pdf", content_type="code",
                    tags=("old",), captured_at=40.0),
        ]
    )  # fmt: skip
    index.commit()
    return index


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filters(), {1, 2, 3, 4}),
        (Filters(domains=("example.org",)), {1, 2}),
        (Filters(domains=("B.example.org",)), {2}),
        (Filters(domains=("org", "other.test:8000")), {1, 2, 3, 4}),
        (Filters(domains=("ample.org",)), set()),
        (Filters(languages=("de",)), {2}),
        (Filters(types=("pdf",)), {3, 4}),
        (Filters(types=("prose", "code")), {1, 2, 4}),
        (Filters(collections=("Papers", "none")), {3}),
        (Filters(collections=("web 2",)), {3}),
        (Filters(tags=("old",)), {3, 4}),
        (Filters(tags=("two words",)), {3}),
        (Filters(since=20.0), {2, 3, 4}),
        (Filters(before=20.0), {1}),
        (Filters(since=20.0, before=40.0), {2, 3}),
        (Filters(up_to=2), {1, 2}),
        (Filters(types=("pdf",), since=35.0), {4}),
        (Filters(as_of=25.0), {1, 2}),
        (Filters(as_of=10.0), {1}),
    ],
)
def test_filters(faceted: KeywordIndex, where: Filters, expected: set[int]) -> None:
    hits = faceted.best(keywords("wing"), 10, where)
    assert {hit.number for hit in hits} == expected
    unfiltered = faceted.scores(keywords("wing"), [1, 2, 3, 4])
    assert {hit.number: hit.score for hit in hits} == {n: unfiltered[n] for n in expected}


def test_what_was_retired_is_found_as_of_then_alone(open_index: OpenIndex) -> None:
    index = open_index()
    index.put([passage(1, "wing old", captured_at=10.0), passage(2, "wing", captured_at=10.0)])
    index.commit()
    index.put([passage(1, "wing old", captured_at=10.0, retired_at=20.0)])
    index.put([passage(3, "wing new", captured_at=20.0)])
    index.commit()
    assert found_any_order(index, "wing") == {2, 3}
    assert index.count() == 2
    assert found_any_order(index, "wing", Filters(as_of=9.0)) == set()
    assert found_any_order(index, "wing", Filters(as_of=15.0)) == {1, 2}
    assert found_any_order(index, "wing", Filters(as_of=20.0)) == {2, 3}
    assert set(index.scores(keywords("wing"), [1, 2, 3])) == {1, 2, 3}
    index.delete([1])
    index.put([passage(3, "wing new", captured_at=20.0, retired_at=30.0)])
    index.put([passage(4, "wing old", captured_at=30.0)])
    index.commit()
    assert found_any_order(index, "wing", Filters(as_of=15.0)) == {2}


def test_what_was_retired_does_not_change_the_scores_of_what_was_not(open_index: OpenIndex) -> None:
    index = open_index()
    index.put([passage(1, "wing flow"), passage(2, "flow")])
    index.commit()
    before = index.best(keywords("wing flow"), 10, Filters())
    index.put([passage(n, "wing " * n, retired_at=5.0) for n in range(3, 30)])
    index.commit()
    assert index.best(keywords("wing flow"), 10, Filters()) == before


def test_a_retired_passage_that_comes_back_is_found_again(open_index: OpenIndex) -> None:
    index = open_index()
    index.put([passage(1, "wing", retired_at=5.0)])
    index.commit()
    assert found(index, "wing") == []
    index.put([passage(1, "wing")])
    index.commit()
    assert found(index, "wing") == [1]
    assert index.count() == 1


@pytest.mark.parametrize(
    "query", ["wing", "wing layer wing", '"boundary layer" wing', "wi* frost", "+wing paint"]
)
def test_scores_are_those_of_best(index: KeywordIndex, query: str) -> None:
    hits = index.best(keywords(query), 10, Filters())
    assert hits
    assert index.scores(keywords(query), [6, 5, 4, 3, 2, 1, 99]) == {
        h.number: h.score for h in hits
    }
    assert index.scores(keywords(query), []) == {}


def test_of_equal_scores_the_lowest_numbers_come_first(open_index: OpenIndex) -> None:
    index = open_index()
    for start in (40, 20, 0):
        index.put([passage(number, "equal wing") for number in range(start + 20, start, -1)])
        index.commit()
    assert found(index, "wing", limit=5) == [1, 2, 3, 4, 5]
    assert found(index, "wing", limit=100) == list(range(1, 61))
    assert found(index, "wing", limit=0) == []


def test_odd_texts_can_be_put(open_index: OpenIndex) -> None:
    index = open_index()
    texts = [
        "",
        "\x00 nul wing",
        "a" * 5_000 + " wing",
        "🙂 wing",
        "e\u0301te\u0301 wing",
        "wing\\'; --",
    ]
    index.put([passage(number, text) for number, text in enumerate(texts, 1)])
    index.commit()
    assert found_any_order(index, "wing") == {2, 3, 4, 5, 6}
    assert found(index, "\u00e9t\u00e9") == [5]
    assert index.count() == 6


def test_stems_are_what_words_are_indexed_as(index: KeywordIndex) -> None:
    assert index.stems(["Wings", "flying", "--"], "en") == ["wing", "fli", ""]
    assert index.stems(["Gärten"], "de") == index.stems(["garten"], "de")
    assert index.stems(["wings"], "xx") == ["wings"]


ODD = st.sampled_from(
    [
        "wing",
        "the",
        '"',
        "-",
        "+",
        "*",
        ":",
        "'",
        "\\",
        "|",
        "&",
        "!",
        "(",
        ")",
        "<->",
        " ",
        "東",
        "é",
    ]
)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(text=st.one_of(st.text(max_size=50), st.lists(ODD, max_size=20).map("".join)))
def test_no_query_is_an_error(index: KeywordIndex, text: str) -> None:
    parsed = parse(text)
    hits = index.best(parsed.keywords, 10, parsed.filters._replace(since=-inf, before=inf))
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.number))


def test_a_very_long_query_is_answered(index: KeywordIndex) -> None:
    for text in ("wing " * 2_000, "x:" * 4_000 + " wing", '"' + "wing " * 1_500 + '" wing',
                 " ".join(f"w{i}" for i in range(2_000)) + " wing"):  # fmt: skip
        index.best(keywords(text), 10, Filters())
