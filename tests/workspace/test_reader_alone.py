"""A program that only reads a workspace, such as a server for it, loads no part of the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crawl4r.sample.server import SampleSite
from tests.interfaces.cli.running import LOOPBACK, run

READ = """
import sys
from pathlib import Path
from crawl4r.workspace.reader import WorkspaceReader
with WorkspaceReader(Path(sys.argv[1]), read_only=True) as opened:
    (url, *_) = [row.url for row in opened.pages("done")]
    assert opened.document(url).document.markdown
    assert opened.why(url)["state"] == "done"
    assert opened.status()["pages"] == 3
    assert opened.crawls() and opened.history(url) and list(opened.documents())
    assert opened.captures.of_url(url) and opened.report.counts()
print(*sys.modules)
"""
ENGINE = {"crawling", "processes", "documents", "indexing", "discovery", "logs"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("read") / "ws"
    with SampleSite() as site:
        assert run("crawl", site.url, "-w", path, *LOOPBACK, "--max-pages", "3").code == 0
    return path


def test_reading_a_workspace_loads_no_part_of_the_engine(workspace: Path) -> None:
    command = [sys.executable, "-c", READ, str(workspace)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    loaded = set(ended.stdout.split())
    rooms = {name.split(".")[1] for name in loaded if name.startswith("crawl4r.")}
    assert rooms & ENGINE == set()
    assert loaded & {"pycurl", "crawl4r.frontier.sqlite", "crawl4r.fetch.curl"} == set()
