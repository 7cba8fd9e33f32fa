"""Crawled workspaces of the bundled site, one in each kind of store, to be copied and then damaged."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawl4r.sample.server import SampleSite
from tests.interfaces.cli.running import LOOPBACK, crawl, run
from tests.workspace.recover.looking import STATE, WORDS

STORES = ("segments", "files")


@pytest.fixture(scope="package")
def sample() -> Iterator[SampleSite]:
    with SampleSite() as site:
        yield site


@pytest.fixture(scope="package")
def other() -> Iterator[SampleSite]:
    """The same pages on another host."""
    with SampleSite() as site:
        yield site


@pytest.fixture(scope="package")
def sound(
    sample: SampleSite, other: SampleSite, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Crawled twice and indexed; of the second crawl some links are not visited."""
    folder = tmp_path_factory.mktemp("sound")
    for store in STORES:
        workspace = folder / store
        options = ("--store", store, "--per-host", "8")
        assert crawl(sample.url, workspace, *options, "--name", "guide").code == 0
        assert run("crawl", "-w", workspace, "--refresh", "--json").code == 0
        more = ("--name", "few", "--max-pages", "3", *LOOPBACK)
        assert run("crawl", other.url, "-w", workspace, *more, "--json").code == 0
        _organise(workspace)
        assert run("index", "-w", workspace, env=WORDS).code == 0
    return {store: folder / store for store in STORES}


def _organise(workspace: Path) -> None:
    """What a person decided about documents."""
    with contextlib.closing(sqlite3.connect(workspace / STATE)) as connection:
        ((first,),) = connection.execute("SELECT id FROM documents ORDER BY url LIMIT 1")
        connection.execute(
            "INSERT INTO collections (id, name, created_at) VALUES (1, 'reading', 1.0)"
        )
        connection.execute("INSERT INTO collection_documents VALUES (1, ?, 1.0)", (first,))
        connection.execute("INSERT INTO tags VALUES (1, 'later', 1.0)")
        connection.execute("INSERT INTO document_tags VALUES (1, ?, 1.0)", (first,))
        connection.commit()
    workspace.joinpath("state.sum").unlink()  # another program has written
    assert run("reprocess", "-w", workspace, "--missing").code == 0  # writes a new sum


@pytest.fixture
def copy(sound: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """A workspace of its own for a test."""
    return lambda store: Path(shutil.copytree(sound[store], tmp_path / "ws"))
