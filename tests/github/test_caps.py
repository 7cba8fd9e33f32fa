"""Thirty pages, ten issues and ten pulls of a repository: exactly, however often the crawl dies."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

from tests.github.conftest import Crawled
from tests.github.crawling import (
    ISSUES,
    PAGES,
    PULLS,
    by_repository,
    crawl,
    crawl_beside,
    issues_among,
    pages_asked,
    prepare,
    pulls_among,
    rows_of,
    was_asked_for,
)
from tests.github.repositories import ATLAS, LISTED, LOUD, REPOSITORIES, Repository
from tests.github.server import GithubSite
from tests.interfaces.cli.running import run, wait_until

CONCURRENCY = 2  # of the profile: what a kill can make it ask for again
KILLS_AFTER = (20, 40, 60)  # pages more each time
STOP_AFTER = 80  # pages
NO_TEXT = ("--no-extract",)  # what is made of the pages is not looked at here


def expected(repository: Repository) -> tuple[int, int, int]:
    """Pages, issues and pulls that must be asked for, as far as links lead to so many."""
    loud = [path for path in LOUD if path.lower().startswith(repository.path)]
    issues = 1 + min(repository.issues, LISTED) + sum("/issues" in path for path in loud)
    pulls = 1 + min(repository.pulls, LISTED)
    issues, pulls = min(issues, ISSUES), min(pulls, PULLS)
    roots = 1 + sum("/issues" not in path for path in loud)
    files = [file for file in repository.files if not file.startswith("archive/")]
    pages = roots + issues + pulls + len(files) + len(repository.mentioned)
    return min(pages, PAGES), issues, pulls


def assert_caps_are_exact(rows: dict[str, dict[str, Any]]) -> None:
    asked = by_repository(url for url, row in rows.items() if was_asked_for(row))
    for repository in REPOSITORIES.values():
        tails = asked[repository.path.strip("/")]
        pages, issues, pulls = expected(repository)
        assert len(tails) == pages, repository
        if repository is ATLAS:  # its files have all the places, but for those of the two lists
            issues, pulls = 1, 1
        assert (len(issues_among(tails)), len(pulls_among(tails))) == (issues, pulls), repository


def assert_the_site_saw_the_same(site: GithubSite, since: int, workspace: Path) -> Counter[str]:
    """The pages that the crawl says it asked for are those in the site's log; how often each was."""
    asked = Counter(pages_asked(site.requests(since)))
    told = {url for url, row in rows_of(workspace).items() if was_asked_for(row)}
    assert {f"https://github.com{path}" for path in asked} == told
    return asked


def test_each_cap_is_exact(crawled: Crawled) -> None:
    assert_caps_are_exact(crawled.rows)
    by_path = by_repository(set(pages_asked(crawled.records)))
    for tails in by_path.values():
        assert len(tails) <= PAGES
        assert len(issues_among(tails)) <= ISSUES
        assert len(pulls_among(tails)) <= PULLS


def test_whatever_a_cap_keeps_out_names_it(crawled: Crawled) -> None:
    """Each page of a kind was asked for, forbidden by the site, or came too late."""
    of_a_kind = [row for row in crawled.rows.values() if row["page_type"]]
    left = [row for row in of_a_kind if not was_asked_for(row)]
    assert {row["verdict"] for row in left} == {"capped", "robots-denied"}
    reasons = Counter(row["reason"] for row in left if row["verdict"] == "capped")
    assert reasons["cap of 10 reached for issues lantern/kite"] == LISTED - (ISSUES - 1)
    assert reasons["cap of 10 reached for pulls lantern/kite"] == LISTED - (PULLS - 1)
    assert "cap of 30 reached for pages lantern/atlas" in reasons
    full = {"quarry/slate", "quarry/chalk"}  # they fit their caps to the page
    assert [reason for reason in reasons if any(name in reason for name in full)] == []


def test_caps_are_exact_when_the_crawl_is_killed_in_the_middle(
    github: GithubSite, tmp_path: Path
) -> None:
    workspace, before = prepare(github, tmp_path), len(github.requests())
    for more in KILLS_AFTER:
        github.hold(more)
        with crawl_beside(workspace, *NO_TEXT) as crawling:
            wait_until(lambda: github.held() == 1)
            crawling.send(signal.SIGKILL)
            crawling.process.wait()
        github.release()
        wait_until(lambda: github.held() == 0)
    assert crawl(workspace, *NO_TEXT).code == 0
    assert_caps_are_exact(rows_of(workspace))
    asked = assert_the_site_saw_the_same(github, before, workspace)
    assert asked.total() - len(asked) <= CONCURRENCY * len(KILLS_AFTER)
    robots = [record for record in github.requests(before) if record.path == "/robots.txt"]
    assert len(robots) == 1


def test_caps_are_exact_when_the_crawl_is_stopped_and_resumed(
    github: GithubSite, tmp_path: Path
) -> None:
    workspace, before = prepare(github, tmp_path), len(github.requests())
    github.hold(STOP_AFTER)
    with crawl_beside(workspace, *NO_TEXT) as crawling:
        wait_until(lambda: github.held() == 1)
        crawling.send(signal.SIGINT)
        crawling.wait_until_it_says("finishing")
        github.release()
        assert crawling.end().code == 3
    resumed = run("resume", "-w", workspace, "--json")
    assert (resumed.code, resumed.json["ended"]) == (0, "nothing left")
    assert_caps_are_exact(rows_of(workspace))
    asked = assert_the_site_saw_the_same(github, before, workspace)
    assert set(asked.values()) == {1}
