"""The promises of every vector index, for all adapters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from crawl4r.errors import WorkspaceError
from crawl4r.search.port import Facets, Filters, VectorIndex
from crawl4r.search.vectors.qdrant import QdrantVectors
from crawl4r.search.vectors.scan import ScanVectors
from tests.search.vectors.vector_model import DIMENSION, POOL, ModelVectors

# What qdrant-client's own engine says of settings that concern the server alone.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]

ROUNDING = 0.01  # of a cosine, of vectors kept as int8
NUMBERS = range(1, 25)
ANY = Filters()
Open = Callable[[], VectorIndex]


@pytest.fixture(params=["scan", "qdrant"])
def new_index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Each call an empty index."""
    opened: list[VectorIndex] = []
    folders = itertools.count()

    def scan() -> VectorIndex:
        return ScanVectors(tmp_path / str(next(folders)), DIMENSION, writable=True)

    def qdrant() -> VectorIndex:
        return QdrantVectors(QdrantClient(":memory:"), "passages", DIMENSION)

    def make() -> VectorIndex:
        opened.append(scan() if request.param == "scan" else qdrant())
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def index(new_index: Open) -> VectorIndex:
    return new_index()


def numbers_of(index: VectorIndex, where: Filters = ANY) -> list[int]:
    return [found.number for found in index.nearest(POOL[0], 100, where)]


moments = st.sampled_from([0.0, 10.0, 20.0, 30.0])
facets = st.builds(
    Facets,
    domain=st.sampled_from(["a.org", "docs.a.org", "ba.org", "org", ""]),
    language=st.sampled_from(["en", "de", ""]),
    kind=st.sampled_from(["html", "pdf"]),
    content_type=st.sampled_from(["prose", "code", "html"]),
    collections=st.sampled_from([(), ("one",), ("two",), ("one", "two")]),
    tags=st.sampled_from([(), ("x",), ("x", "y"), ("y",), ('["x"]',)]),
    captured_at=moments,
    retired_at=st.sampled_from([inf, inf, inf, 15.0, 20.0]),
)
filters = st.builds(
    Filters,
    domains=st.sampled_from([(), (), ("a.org",), ("docs.a.org", "ba.org"), ("org",), ("no",)]),
    languages=st.sampled_from([(), (), ("en",), ("en", "de"), ("",)]),
    types=st.sampled_from([(), (), ("html",), ("code", "pdf"), ("no",)]),
    collections=st.sampled_from([(), (), ("one",), ("one", "two")]),
    tags=st.sampled_from([(), (), ("x",), ("x", "y"), ('["x"]',)]),
    since=st.one_of(st.just(-inf), moments),
    before=st.one_of(st.just(inf), moments),
    as_of=st.one_of(st.just(inf), moments),
    up_to=st.one_of(st.just(Filters().up_to), st.sampled_from(NUMBERS)),
)
some_numbers = st.lists(st.sampled_from(NUMBERS), max_size=8)
pool = st.integers(0, len(POOL) - 1)
puts = st.tuples(
    st.just("put"),
    st.lists(
        st.tuples(st.sampled_from(NUMBERS), facets, pool), max_size=8, unique_by=lambda p: p[0]
    ),
)
retirements = st.tuples(st.just("retire"), some_numbers, moments)
deletions = st.tuples(st.just("delete"), some_numbers)
questions = st.tuples(st.just("ask"), pool, st.integers(0, 12), filters)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(st.one_of(puts, puts, retirements, deletions, questions, questions), max_size=14)
)
def test_any_sequence_gives_what_the_model_gives(new_index: Open, steps: list[tuple]) -> None:
    index, model = new_index(), ModelVectors()
    for name, *arguments in steps:
        if name == "put":
            (points,) = arguments
            passages = [(number, facets) for number, facets, _ in points]
            vectors = POOL[[place for *_, place in points]]
            index.put(passages, vectors)
            model.put(passages, vectors)
        elif name == "ask":
            place, limit, where = arguments
            found = index.nearest(POOL[place], limit, where)
            expected = model.nearest(POOL[place], limit, where)
            assert [scored.number for scored in found] == [scored.number for scored in expected]
            scores = [scored.score for scored in expected]
            assert [scored.score for scored in found] == pytest.approx(scores, abs=ROUNDING)
        else:
            getattr(index, name)(*arguments)
            getattr(model, name)(*arguments)
        assert index.count() == model.count()
    asked = [*NUMBERS, 99]
    assert index.cosines(POOL[3], asked) == pytest.approx(
        model.cosines(POOL[3], asked), abs=ROUNDING
    )
    kept, expected_vectors = index.vectors(asked), model.vectors(asked)
    assert kept.keys() == expected_vectors.keys()
    for number, vector in kept.items():
        assert vector.dtype == np.float32
        assert float(vector @ expected_vectors[number]) == pytest.approx(1, abs=0.001)


def test_a_new_index_finds_nothing(index: VectorIndex) -> None:
    assert index.dimension == DIMENSION
    assert index.count() == 0
    assert numbers_of(index) == []
    assert index.cosines(POOL[0], [1]) == {}
    assert index.vectors([]) == {}
    index.retire([1], 5.0)
    index.delete([1])
    index.put([], np.zeros((0, DIMENSION), np.float32))
    assert index.count() == 0


def test_of_many_equal_vectors_the_lowest_numbers_come_first(index: VectorIndex) -> None:
    numbers = [*range(500, 900), *range(100, 400)]
    index.put([(n, Facets()) for n in numbers], np.tile(POOL[0], (len(numbers), 1)))
    index.put([(7, Facets())], POOL[1:2])
    found = index.nearest(POOL[0], 5, Filters())
    assert [scored.number for scored in found] == [100, 101, 102, 103, 104]
    assert len({scored.score for scored in found}) == 1


@pytest.mark.parametrize("count", [3, 5, 7, 11])
def test_equal_vectors_tie_wherever_they_stand(new_index: Open, count: int) -> None:
    for vector in POOL:
        index = new_index()
        index.put([(n, Facets()) for n in range(count, 0, -1)], np.tile(vector, (count, 1)))
        for question in POOL:
            found = index.nearest(question, count, Filters())
            assert [scored.number for scored in found] == list(range(1, count + 1))


def test_a_replaced_passage_has_its_new_vector_and_facets_only(index: VectorIndex) -> None:
    index.put([(1, Facets(domain="old.org"))], POOL[:1])
    index.put([(1, Facets(domain="new.org"))], POOL[1:2])
    assert index.count() == 1
    assert numbers_of(index, Filters(domains=("old.org",))) == []
    assert numbers_of(index, Filters(domains=("new.org",))) == [1]
    assert index.cosines(POOL[1], [1])[1] == pytest.approx(1, abs=0.001)


def test_a_retired_passage_is_found_by_as_of_alone(index: VectorIndex) -> None:
    index.put([(1, Facets(captured_at=10.0))], POOL[:1])
    index.retire([1, 2], 20.0)
    assert index.count() == 0
    assert numbers_of(index) == []
    asked = [9.0, 10.0, 19.0, 20.0]
    assert [numbers_of(index, Filters(as_of=at)) for at in asked] == [[], [1], [1], []]
    assert list(index.cosines(POOL[0], [1])) == [1]


def test_a_deleted_passage_is_gone_until_it_is_put_again(index: VectorIndex) -> None:
    index.put([(1, Facets()), (2, Facets())], POOL[:2])
    index.put([(1, Facets())], POOL[:1])
    index.delete([1])
    index.retire([1], 5.0)
    assert numbers_of(index) == [2]
    assert numbers_of(index, Filters(as_of=1.0)) == [2]
    assert index.cosines(POOL[0], [1]) == index.vectors([1]) == {}
    index.put([(1, Facets())], POOL[:1])
    assert numbers_of(index) == [1, 2]


def test_vectors_of_another_shape_and_no_numbers_are_refused(index: VectorIndex) -> None:
    with pytest.raises(ValueError, match="shape"):
        index.put([(1, Facets())], np.ones((1, DIMENSION + 1), np.float32))
    with pytest.raises(ValueError, match="shape"):
        index.put([(1, Facets())], np.full((1, DIMENSION), np.nan, np.float32))
    assert index.count() == 0


def test_another_dimension_is_an_error_that_names_the_rebuild(tmp_path: Path) -> None:
    ScanVectors(tmp_path / "scan", DIMENSION, writable=True).close()
    for writable in (True, False):
        with pytest.raises(WorkspaceError, match=r"16 dimensions.*384.*crawl4r index --rebuild"):
            ScanVectors(tmp_path / "scan", 384, writable=writable)
    client = QdrantClient(":memory:")
    QdrantVectors(client, "passages", DIMENSION)
    with pytest.raises(WorkspaceError, match=r"16 dimensions.*384.*crawl4r index --rebuild"):
        QdrantVectors(client, "passages", 384)
    client.close()
