"""The commands of README and tutorial are run as they stand there, on sites of the same names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.interfaces.cli.running import EXECUTABLE, environment
from tests.walkthroughs.example_site import example_site

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_LONG = 300  # seconds until a command is given up
# Whole programs with tests of their own, or without an end.
_LEFT_OUT = re.compile(r"^make |selftest|--watch|supervise")


def commands_of(document: str) -> list[str]:
    blocks = _BLOCK.findall((ROOT / document).read_text("utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    found = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [command for command in found if not _LEFT_OUT.search(command)]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a person who has set crawl4r up, and whose network is this machine."""
    with example_site(tmp_path_factory.mktemp("example")) as places:
        pace = {"CRAWL4R_POLITENESS__RATE": "0", "CRAWL4R_INDEX__ENABLED": "true"}
        cache = {"EDITOR": "true", "CRAWL4R_EXPLORE__ENABLED": "true"}
        path = f"{EXECUTABLE.parent}{os.pathsep}{os.environ['PATH']}"
        yield environment(places | pace | cache) | {"PATH": path}


@pytest.mark.parametrize("document", ["README.md", "docs/tutorial.md"])
def test_every_command_of_a_document_works(
    document: str, words: dict[str, str], tmp_path: Path
) -> None:
    """One after the other, in one folder, as a newcomer pastes them."""
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"
    commands = commands_of(document)
    assert len(commands) > 10
    for command in commands:
        typed = _DAY.sub(tomorrow, command)  # what was captured today is known by then
        ended = subprocess.run(
            ["bash", "-o", "pipefail", "-c", typed],
            cwd=tmp_path,
            env=words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONG,
            check=False,
        )
        said = ended.stdout.decode() + ended.stderr.decode()
        assert ended.returncode == 0, f"{typed}\n{said}"
        assert "Traceback" not in said, f"{typed}\n{said}"


@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=str)
def test_every_example_of_the_python_reference_runs(
    example: Path, words: dict[str, str], tmp_path: Path
) -> None:
    ended = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env=words,
        capture_output=True,
        timeout=_LONG,
        check=False,
    )
    said = ended.stdout.decode() + ended.stderr.decode()
    assert ended.returncode == 0, said
    assert ended.stdout, said


def test_the_first_pages_of_others_take_no_more_lines_here() -> None:
    """Their first pages: Crawl4AI fetches a page as markdown, Scrapy collects fields of a list."""
    theirs = {"scrape_a_page.py": 8, "collect_records.py": 15}
    for name, most in theirs.items():
        lines = (ROOT / "docs" / "examples" / name).read_text().splitlines()
        assert sum(bool(line.strip()) for line in lines) <= most, name
