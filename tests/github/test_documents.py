"""What is on a page becomes text; what is around it on every page does not."""

from __future__ import annotations

import pytest

from tests.github.conftest import Crawled
from tests.github.markup import NAVIGATION
from tests.github.repositories import KITE, TIDE, Repository, prose, title_of
from tests.interfaces.cli.running import run

HOME = "https://github.com"


def markdown_of(crawled: Crawled, url: str) -> str:
    answer = run("get", url, "-w", crawled.workspace, "--markdown")
    assert answer.code == 0, answer.err
    return answer.text


def test_the_document_of_a_repository_is_its_read_me(crawled: Crawled) -> None:
    markdown = markdown_of(crawled, HOME + KITE.path)
    for seed in (KITE.path, f"{KITE.path} use"):
        assert prose(seed, 5) in markdown
    assert "## How it is used" in markdown
    assert "install kite" in markdown
    assert [word for word in NAVIGATION if word in markdown] == []


@pytest.mark.parametrize("repository", [KITE, TIDE], ids=lambda repository: repository.name)
def test_the_document_of_an_issue_is_its_title_and_every_comment(
    crawled: Crawled, repository: Repository
) -> None:
    one = f"{repository.path}/issues/60"
    markdown = markdown_of(crawled, HOME + one)
    assert title_of(repository, "issues", 60) in markdown
    for turn in range(3):
        assert prose(f"{one} {turn}", 4) in markdown
    assert [word for word in NAVIGATION if word in markdown] == []


def test_the_document_of_a_file_has_its_lines(crawled: Crawled) -> None:
    markdown = markdown_of(crawled, HOME + KITE.blob("part_00.py"))
    for number in range(12):
        assert prose(f"part_00.py{number}", 1) in markdown
    assert [word for word in NAVIGATION if word in markdown] == []


def test_every_kept_page_has_a_document_and_nothing_else_has(crawled: Crawled) -> None:
    kept = {url for url, row in crawled.rows.items() if row["verdict"] == "ok"}
    assert crawled.answer.json["documents"] == len(kept) == crawled.answer.json["new_pages"]
