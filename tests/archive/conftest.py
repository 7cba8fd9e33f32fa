"""A state.db for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.storage.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "state.db")
    yield opened
    opened.close()
