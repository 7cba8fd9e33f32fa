"""Six kinds of pages are kept under their names, and nothing else is ever asked for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.github.conftest import Crawled
from tests.github.crawling import crawl, pages_asked, prepare, rows_of, was_asked_for
from tests.github.repositories import (
    BEE,
    GONE,
    MEMBERS,
    OLD_NAME,
    PEAR,
    PROFILE,
    REED,
    SECRET,
    SHELF,
    Repository,
)
from tests.github.routes import FORBIDDEN, ROBOTS, kind_of
from tests.github.server import GithubSite
from tests.interfaces.cli.running import run

KINDS = {"topic", "trending", "repo_root", "blob", "issues", "pull"}
HOME = "https://github.com"


def pages_of(repository: Repository) -> set[str]:
    """Every page of a repository that is small enough for its caps."""
    root = HOME + repository.path
    tails = ["", "/issues", "/pulls"]
    tails += [f"/issues/{number}" for number in range(1, repository.issues + 1)]
    tails += [f"/pull/{number}" for number in range(1, repository.pulls + 1)]
    files = {HOME + repository.blob(file) for file in repository.files if "archive/" not in file}
    return {root + tail for tail in tails} | files


def test_every_page_is_kept_as_the_kind_that_it_is(crawled: Crawled) -> None:
    kept = [row for row in crawled.rows.values() if row["verdict"] == "ok"]
    assert {row["page_type"] for row in kept} == KINDS
    for row in crawled.rows.values():
        if was_asked_for(row):
            assert row["page_type"] == kind_of(urlsplit(row["url"]).path), row["url"]


def test_nothing_but_the_six_kinds_is_ever_asked_for(crawled: Crawled) -> None:
    assert {record.host_header for record in crawled.records} == {"github.com"}
    assert {record.method for record in crawled.records} == {"GET"}
    assert [path for path in pages_asked(crawled.records) if not kind_of(path)] == []


def test_every_link_that_is_not_followed_names_its_rule(crawled: Crawled) -> None:
    """The pages are full of them; each kind of place must have been seen, and refused."""
    refused = {url: row for url, row in crawled.rows.items() if row["state"] == "refused"}
    kite = f"{HOME}/lantern/kite"
    for url, rule in {
        f"{HOME}/settings/profile": "deny",
        f"{HOME}/login": "deny",
        f"{HOME}/logout": "deny",
        f"{HOME}/search": "deny",
        f"{HOME}/marketplace": "deny",
        f"{kite}/settings": "deny",
        f"{kite}/commits": "deny",
        f"{kite}/commits/main": "deny",
        f"{kite}/raw/main/part_00.py": "deny",
        f"{kite}/stargazers": "deny",
        f"{kite}/tree/main/src": "no page type",
        f"{kite}/pull/40/files": "no page type",
        f"{kite}/issues/new/choose": "no page type",
        f"{HOME}/lantern": "no page type",
        f"{HOME}/": "no page type",
        "http://github.com/lantern/kite": "no page type",
        "https://gist.github.com/lantern/0123456789abcdef": "denied host gist.github.com",
        "https://api.github.com/repos/lantern/kite": "denied host api.github.com",
        "https://docs.github.com/en": "host docs.github.com is not in scope",
        "https://raw.githubusercontent.com/lantern/kite/main/part_00.py": "denied host raw.",
    }.items():
        assert refused[url]["verdict"] == "out-of-scope"
        assert refused[url]["reason"].startswith(rule), url


@pytest.mark.parametrize("repository", [PEAR, BEE, PROFILE, REED, SHELF], ids=lambda r: r.name)
def test_a_small_repository_is_kept_whole(crawled: Crawled, repository: Repository) -> None:
    root = HOME + repository.path
    kept = {url for url, row in crawled.rows.items() if row["verdict"] == "ok"}
    assert {url for url in kept if f"{url}/".startswith(f"{root}/")} == pages_of(repository)


def test_robots_txt_is_asked_for_first_and_once_and_obeyed(crawled: Crawled) -> None:
    paths = [record.path for record in sorted(crawled.records, key=lambda r: r.arrived_monotonic)]
    assert paths[0] == "/robots.txt"
    assert paths.count("/robots.txt") == 1
    assert [path for path in paths if FORBIDDEN.search(path)] == []
    denied = [row for row in crawled.rows.values() if row["verdict"] == "robots-denied"]
    assert {row["url"] for row in denied} == {
        HOME + SHELF.blob(file) for file in SHELF.files if file.startswith("archive/")
    }
    line = ROBOTS.splitlines().index("Disallow: /*/archive/") + 1
    assert {row["reason"] for row in denied} == {f"robots.txt: Disallow: /*/archive/ (line {line})"}


def test_however_a_link_is_spelled_its_page_is_one(crawled: Crawled) -> None:
    """Queries, fragments, slashes at the end, ports and loud hosts stand in links of every page."""
    asked = Counter(pages_asked(crawled.records))
    assert {path for path, times in asked.items() if times > 1} == set()
    assert [path for path in asked if "?" in path or path.endswith("/")] == []
    assert [url for url in crawled.rows if "?" in url or "#" in url or "GitHub" in url] == []


def test_a_renamed_repository_is_found_under_its_new_name(
    github: GithubSite, tmp_path: Path
) -> None:
    workspace = prepare(github, tmp_path)
    old, issue = HOME + OLD_NAME, f"{HOME}{OLD_NAME}/issues/60"
    assert crawl(workspace, "--depth", "0", seeds=[old, issue]).json["pages"] == 2
    rows = rows_of(workspace)
    for url in (old, issue):
        new = url.replace("old-kite", "kite")
        assert (rows[url]["verdict"], rows[url]["reason"]) == ("redirect", f"to {new}")
        assert (rows[new]["verdict"], rows[new]["referrer"]) == ("ok", url)
        assert rows[new]["page_type"] == rows[url]["page_type"]


def test_a_missing_and_a_closed_repository_are_told_apart_from_pages(crawled: Crawled) -> None:
    rows = crawled.rows
    gone, members, secret = (rows[HOME + path] for path in (GONE, MEMBERS, SECRET))
    assert (gone["state"], gone["status"], gone["reason"]) == ("done", 404, "http-404")
    assert (members["status"], members["verdict"]) == (200, "login-wall")
    assert (secret["verdict"], secret["reason"]) == ("redirect", f"to {HOME}/login")
    for path in (GONE, MEMBERS, SECRET):
        answer = run("get", HOME + path, "-w", crawled.workspace, "--markdown")
        assert (answer.code, answer.out) == (2, b"")


def test_a_crawl_is_one_visitor_who_can_be_written_to(crawled: Crawled) -> None:
    (agent,) = {record.user_agent for record in crawled.records}
    assert agent is not None and "crawl@example.org" in agent
    cookies = [record.header("Cookie") for record in crawled.records]
    assert cookies[:2] == [None, None]  # robots.txt sets none, the first page does
    assert set(cookies[2:]) == {"visit=0123abcd"}
