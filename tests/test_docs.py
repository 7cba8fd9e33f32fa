"""The reference pages say what the code says."""

import pytest

from docs.generate import FOLDER, pages


@pytest.mark.parametrize("name", pages())
def test_the_reference_is_what_the_code_would_write(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == pages()[name], "run `make docs`"
