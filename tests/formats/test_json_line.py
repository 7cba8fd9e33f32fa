"""Lines of the archive have the same bytes from every writer."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crawl4r.formats.json_line import as_json

TEXTS = st.text(st.characters())  # with lone surrogates
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e15, 1e15).filter(
    lambda number: number == 0 or abs(number) > 1e-4
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES)
def test_they_are_what_the_standard_library_would_write(value: Any) -> None:
    expected = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert as_json(value) == expected


def test_half_a_pair_of_surrogates_is_kept() -> None:
    line = as_json({"url": "http://a/\ud800"})
    assert json.loads(line.decode("utf-8", "surrogatepass")) == {"url": "http://a/\ud800"}
