"""One site for the folder, and one finished crawl of it for the tests that only look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.github.crawling import crawl, prepare, rows_of
from tests.github.server import GithubSite
from tests.interfaces.cli.running import Answer
from tests.site.access_log import AccessRecord


@dataclass(frozen=True, slots=True)
class Crawled:
    """A finished crawl: its summary, what it says of each URL, and what the site saw of it."""

    workspace: Path
    answer: Answer
    rows: dict[str, dict[str, Any]]
    records: list[AccessRecord]


@pytest.fixture(scope="package")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GithubSite]:
    """A local github.com. `crawling.prepare(github, workspace)` tells a workspace where it is."""
    with GithubSite(tmp_path_factory.mktemp("github")) as site:
        yield site


@pytest.fixture(scope="package")
def crawled(github: GithubSite, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """The whole site by the profile, with no delay. Only for tests that leave it as it is."""
    workspace = prepare(github, tmp_path_factory.mktemp("crawled") / "ws")
    before = len(github.requests())
    answer = crawl(workspace)
    assert answer.code == 0, answer.err
    return Crawled(workspace, answer, rows_of(workspace), github.requests(before))
