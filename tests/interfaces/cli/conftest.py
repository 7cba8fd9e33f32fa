"""One site and one finished crawl, shared by the tests that only look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.running import crawl
from tests.site.process import SiteProcess


@pytest.fixture(scope="package")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.fixture(autouse=True)
def _held_by_no_test_before(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "site" in request.fixturenames:
        request.getfixturevalue("site").release()


@pytest.fixture(scope="package")
def crawled(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that holds /site/12/ whole. Only for tests that leave it as it is."""
    workspace = tmp_path_factory.mktemp("crawled") / "ws"
    answer = crawl(site.url("/site/12/"), workspace)
    assert (answer.code, answer.json["pages"]) == (0, 12)
    return workspace
