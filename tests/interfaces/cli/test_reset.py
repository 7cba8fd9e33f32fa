"""`crawl4r reset` deletes a crawl, but only when it was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import crawl, run
from tests.site.process import SiteProcess


@pytest.fixture
def workspace(site: SiteProcess, tmp_path: Path) -> Path:
    """A crawl with a configuration and something of the user's own beside it."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "crawl4r.yaml").write_text("politeness: {rate: 0}\n")
    (folder / "notes.txt").write_text("mine")
    assert crawl(site.url("/site/4/"), folder).code == 0
    return folder


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_deletes_nothing_and_names_what_it_would(
    site: SiteProcess, workspace: Path
) -> None:
    before = files_in(workspace)
    answer = run("reset", "--dry-run", "-w", workspace, "--json")
    assert answer.code == 0
    named = {Path(path).name for path in answer.json["paths"]}
    assert named >= {"state.db", "store", "metadata"}
    assert not named & {"crawl4r.yaml", "notes.txt"}
    assert "state.db" in run("reset", "--dry-run", "-w", workspace).text
    assert files_in(workspace) == before
    assert_every_page_is_stored_once(workspace, expected_bodies(site, 4))


@pytest.mark.parametrize("reply", ["n\n", "\n", ""])
def test_it_asks_and_anything_but_yes_keeps_the_crawl(
    site: SiteProcess, workspace: Path, reply: str
) -> None:
    answer = run("reset", "-w", workspace, stdin=reply)
    assert answer.code != 0
    assert "state.db" in answer.text + answer.err
    assert str(workspace) in answer.text + answer.err
    assert_every_page_is_stored_once(workspace, expected_bodies(site, 4))


def test_yes_deletes_the_crawl_and_nothing_else(site: SiteProcess, workspace: Path) -> None:
    answer = run("reset", "-w", workspace, "--json", stdin="y\n")
    assert answer.code == 0
    assert answer.json["action"] == "deleted from"  # the question is on stderr
    assert files_in(workspace) - {"crawl.lock"} == {"crawl4r.yaml", "notes.txt"}
    nothing = run("reset", "--yes", "-w", workspace, "--json")
    assert (nothing.code, nothing.json["paths"]) == (0, [])
    assert crawl(site.url("/site/4/"), workspace).json["new_pages"] == 4
    assert_every_page_is_stored_once(workspace, expected_bodies(site, 4))


def test_a_workspace_that_is_not_there_is_nothing_to_delete(tmp_path: Path) -> None:
    answer = run("reset", "--yes", "-w", tmp_path / "none")
    assert answer.code == 0
    assert not (tmp_path / "none").exists()
