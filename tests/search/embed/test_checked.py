"""The vectors of a model are checked before any use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from crawl4r.errors import BadEmbedding
from crawl4r.search.embed.checked import CheckedEmbedder
from crawl4r.search.port import Embedder, Vector, Vectors


class Scripted:
    """Gives what it was told to, and remembers what it was asked."""

    model = "scripted"
    dimension = 3

    def __init__(self, rows: Sequence[Sequence[float]]) -> None:
        self.rows = rows
        self.asked: list[str] = []
        self.is_closed = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array(self.rows, np.float32)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector

    def close(self) -> None:
        self.is_closed = True


AXES = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
nan, inf = float("nan"), float("inf")


def test_good_vectors_pass_as_they_are() -> None:
    checked: Embedder = CheckedEmbedder(Scripted(AXES))
    assert checked.embed(["a", "b"]).tolist() == AXES
    assert (checked.model, checked.dimension) == ("scripted", 3)


def test_a_length_off_by_rounding_is_mended() -> None:
    vectors = CheckedEmbedder(Scripted([[0.0, 1.004, 0.0]])).embed(["a"])
    assert vectors.tolist() == [[0.0, 1.0, 0.0]]
    assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    "row", [[nan, 0, 1], [inf, 0, 0], [0, 0, 0], [0.5, 0, 0], [3, 4, 0]], ids=str
)
def test_a_vector_that_is_none_is_named_by_model_and_text(row: list[float]) -> None:
    with pytest.raises(BadEmbedding, match=r"scripted gave a vector of length .* for text 2 "):
        CheckedEmbedder(Scripted([AXES[0], row])).embed(["a", " ", "b"])


@pytest.mark.parametrize(
    "rows", [AXES, [[1.0, 0.0]], [1.0, 0.0, 0.0]], ids=["count", "dimension", "flat"]
)
def test_the_wrong_shape_is_told(rows: list[list[float]]) -> None:
    with pytest.raises(BadEmbedding, match=r"scripted gave vectors of shape .* not \(1, 3\)"):
        CheckedEmbedder(Scripted(rows)).embed(["a"])


def test_blank_texts_get_the_first_axis_and_the_model_is_not_asked() -> None:
    inner = Scripted(AXES)
    checked = CheckedEmbedder(inner)
    axis = [1.0, 0.0, 0.0]
    assert checked.embed(["", "a", " \n", "b"]).tolist() == [axis, AXES[0], axis, AXES[1]]
    assert inner.asked == ["a", "b"]
    assert checked.embed_query("\t").tolist() == axis
    assert checked.embed([" "]).tolist() == [axis]
    assert checked.embed([]).shape == (0, 3)
    assert inner.asked == ["a", "b"]


def test_the_last_queries_are_remembered() -> None:
    inner = Scripted(AXES)
    checked = CheckedEmbedder(inner, kept_queries=2)
    for query in ("a", "b", "a", "c", "a", "b"):
        assert checked.embed_query(query).tolist() == AXES[0]
    assert inner.asked == ["a", "b", "c", "b"]


def test_nobody_can_write_into_a_remembered_vector() -> None:
    checked = CheckedEmbedder(Scripted(AXES))
    with pytest.raises(ValueError, match="read-only"):
        checked.embed_query("a")[0] = 7


def test_a_bad_query_vector_is_not_remembered() -> None:
    inner = Scripted([[0, 0, 0]])
    checked = CheckedEmbedder(inner)
    with pytest.raises(BadEmbedding):
        checked.embed_query("a")
    inner.rows = AXES
    assert checked.embed_query("a").tolist() == AXES[0]


def test_closing_closes_the_model() -> None:
    inner = Scripted(AXES)
    CheckedEmbedder(inner).close()
    assert inner.is_closed
