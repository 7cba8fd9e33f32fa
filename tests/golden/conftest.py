"""One archive for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden.archive import Archive, golden_archive


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with golden_archive(tmp_path_factory.mktemp("golden")) as made:
        yield made
