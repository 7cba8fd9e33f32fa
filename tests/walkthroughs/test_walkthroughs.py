"""The commands of README, tutorial and how-tos are run as they stand, on sites of the same names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawl4r.settings.load import load_settings
from tests.interfaces.cli.running import EXECUTABLE, environment
from tests.walkthroughs.example_site import example_site

ROOT = Path(__file__).resolve().parents[2]
TOURS = ("README.md", "docs/tutorial.md")  # many commands, with the model
HOW_TOS = [  # few commands, and search by words alone, which takes half as long
    file.relative_to(ROOT).as_posix()
    for file in sorted((ROOT / "docs" / "how-to").glob("*.md"))
    if file.name != "README.md"  # the table of them
]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_LONG = 300  # seconds until a command is given up
# Whole programs with tests of their own, or without an end.
_LEFT_OUT = re.compile(r"^make |selftest|--watch")


def blocks_of(document: str, kind: str) -> list[str]:
    blocks = _BLOCK.findall((ROOT / document).read_text("utf-8"))
    return [text for language, text in blocks if language == kind]


def commands_of(document: str) -> list[str]:
    lines = [line for block in blocks_of(document, "console") for line in block.splitlines()]
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


@pytest.mark.parametrize("document", [*TOURS, *HOW_TOS])
def test_every_command_of_a_document_works(
    document: str, words: dict[str, str], tmp_path: Path
) -> None:
    """One after the other, in one folder, as a newcomer pastes them; then its Python."""
    commands = commands_of(document)
    assert len(commands) > (10 if document in TOURS else 2)
    if document in HOW_TOS:
        words = words | {"CRAWL4R_EMBEDDER__KIND": "none"}
    for command in commands:
        run_in(tmp_path, ["bash", "-o", "pipefail", "-c", with_known_days(command)], words)
    for program in blocks_of(document, "python"):
        run_in(tmp_path, [sys.executable, "-c", program], words)


def with_known_days(command: str) -> str:
    """Its days are tomorrow: what was captured today is known by then."""
    return _DAY.sub(f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}", command)


def run_in(folder: Path, command: list[str], words: dict[str, str]) -> bytes:
    """What it prints on stdout."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env=words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LONG,
        check=False,
    )
    said = ended.stdout.decode() + ended.stderr.decode()
    assert ended.returncode == 0, f"{command[-1]}\n{said}"
    assert "Traceback" not in said, f"{command[-1]}\n{said}"
    return ended.stdout


def test_the_table_of_how_tos_has_every_page() -> None:
    table = (ROOT / "docs" / "how-to" / "README.md").read_text("utf-8")
    assert [page for page in HOW_TOS if f"({Path(page).name})" not in table] == []


@pytest.mark.parametrize("document", HOW_TOS)
def test_every_setting_of_a_document_is_one(document: str, tmp_path: Path) -> None:
    for block in blocks_of(document, "yaml"):
        file = tmp_path / "crawl4r.yaml"
        file.write_text(block, "utf-8")
        load_settings(file, environment={})


@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=str)
def test_every_example_of_the_python_reference_runs(
    example: Path, words: dict[str, str], tmp_path: Path
) -> None:
    assert run_in(tmp_path, [sys.executable, str(example)], words)


def test_the_first_pages_of_others_take_no_more_lines_here() -> None:
    """Their first pages: Crawl4AI fetches a page as markdown, Scrapy collects fields of a list."""
    theirs = {"scrape_a_page.py": 8, "collect_records.py": 15}
    for name, most in theirs.items():
        lines = (ROOT / "docs" / "examples" / name).read_text().splitlines()
        assert sum(bool(line.strip()) for line in lines) <= most, name
