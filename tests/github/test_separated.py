"""Separated mode keeps to the profile as one crawl does: its kinds, its caps, its pace."""

from __future__ import annotations

from pathlib import Path

from tests.github.crawling import PROFILE, SEEDS, pages_asked, prepare, rows_of, was_asked_for
from tests.github.routes import kind_of
from tests.github.server import GithubSite
from tests.github.test_caps import assert_caps_are_exact
from tests.interfaces.cli.running import run


def test_both_sides_together_keep_what_one_crawl_keeps(github: GithubSite, tmp_path: Path) -> None:
    workspace = prepare(github, tmp_path / "ws")
    before = len(github.requests())
    words = ("--no-extract", "--json")
    answer = run("spool", "run", *SEEDS, "-w", workspace, *PROFILE, *words)
    assert answer.code == 0, answer.err
    rows = rows_of(workspace)
    assert_caps_are_exact(rows)
    for url, row in rows.items():
        if was_asked_for(row):
            assert row["page_type"] == kind_of(url.removeprefix("https://github.com"))
    records = github.requests(before)
    assert {record.in_flight for record in records} == {1}, "two processes, one budget"
    assert [path for path in pages_asked(records) if not kind_of(path)] == []
