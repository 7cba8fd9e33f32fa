"""Fixtures that several of these tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.small_disk import small_disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as path:
        yield path
