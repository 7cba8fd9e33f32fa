"""Two rankings become one, whatever the scores."""

from hypothesis import given
from hypothesis import strategies as st

from crawl4r.search.rank.fusion import combine, ranked, reciprocal_ranks, with_support

SCORES = st.dictionaries(
    st.integers(0, 40), st.floats(0, 50, allow_nan=False, allow_infinity=False), max_size=30
)
COSINES = st.dictionaries(
    st.integers(0, 40), st.floats(-1, 1, allow_nan=False, allow_infinity=False), max_size=30
)


@given(SCORES, COSINES)
def test_every_candidate_gets_a_score_between_none_and_all(keyword: dict, cosine: dict) -> None:
    fused = combine(keyword, cosine)
    assert fused.keys() == keyword.keys() | cosine.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())


@given(SCORES, COSINES)
def test_better_in_both_halves_is_better_in_the_end(keyword: dict, cosine: dict) -> None:
    both = keyword.keys() & cosine.keys()
    fused = combine(keyword, cosine)
    for a in both:
        for b in both:
            if keyword[a] >= keyword[b] and cosine[a] >= cosine[b]:
                assert fused[a] >= fused[b] - 1e-9


def test_the_weights_decide_between_the_halves() -> None:
    keyword, cosine = {1: 10.0, 2: 1.0}, {1: 0.1, 2: 0.9}
    assert combine(keyword, cosine, keyword_weight=1, vector_weight=0)[1] == 1.0
    meant = combine(keyword, cosine, keyword_weight=0, vector_weight=1)
    assert (round(meant[1], 6), meant[2]) == (round(0.1 / 0.9, 6), 1.0)


def test_what_has_no_vector_yet_is_judged_by_its_words() -> None:
    fused = combine({1: 10.0, 2: 5.0}, {2: 0.9, 3: 0.1})
    assert fused[1] == 1.0
    assert ranked(fused)[0].number == 1


def test_reciprocal_ranks_add_up_over_the_rankings() -> None:
    fused = reciprocal_ranks([[7, 8], [8]], [1.0, 2.0], k=60)
    assert fused == {7: 1 / 61, 8: 1 / 62 + 2 / 61}
    assert [hit.number for hit in ranked(fused)] == [8, 7]


@given(SCORES)
def test_the_order_is_always_the_same(scores: dict) -> None:
    order = ranked(scores)
    again = ranked(dict(reversed(list(scores.items()))))
    assert order == again
    assert sorted(order, key=lambda hit: (-hit.score, hit.number)) == order


@given(SCORES, st.integers(1, 5))
def test_support_keeps_the_order_inside_a_document(scores: dict, documents: int) -> None:
    scores = {number: score / 50 for number, score in scores.items()}
    supported = with_support(scores, {number: str(number % documents) for number in scores})
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in supported.values())
    for a in scores:
        for b in scores:
            if a % documents == b % documents and scores[a] > scores[b]:
                assert supported[a] >= supported[b] - 1e-9


def test_a_document_that_answers_in_several_places_comes_first() -> None:
    scores = {1: 0.80, 2: 0.79, 3: 0.75, **dict.fromkeys(range(10, 30), 0.1)}
    documents = {1: "alone", 2: "both", 3: "both", **{n: f"other{n}" for n in range(10, 30)}}
    supported = with_support(scores, documents)
    assert [hit.number for hit in ranked(supported)][:2] == [2, 3]


def test_many_passages_that_do_not_stand_out_are_no_merit() -> None:
    scores = {1: 0.9, **dict.fromkeys(range(2, 30), 0.5)}
    supported = with_support(scores, {1: "a", **dict.fromkeys(range(2, 30), "b")})
    assert supported == scores
