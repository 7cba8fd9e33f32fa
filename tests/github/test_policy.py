"""`why` and `check-policy` tell what the crawl did, and the profile's own demands are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.github.conftest import Crawled
from tests.github.crawling import (
    CONTACT,
    PROFILE,
    SEEDS,
    crawl,
    pages_asked,
    prepare,
    was_asked_for,
)
from tests.github.repositories import BASKET, KITE, SHELF
from tests.github.routes import ROBOTS, kind_of
from tests.github.server import GithubSite
from tests.interfaces.cli.running import run

HOME = "https://github.com"


def why(crawled: Crawled, url: str) -> str:
    answer = run("why", url, "-w", crawled.workspace)
    assert answer.code == 0
    return answer.text


def test_why_names_the_rule_that_denies_a_url_however_it_is_spelled(crawled: Crawled) -> None:
    for url in (f"{HOME}/login", "https://GitHub.com/login/?return_to=%2Ftopics#x"):
        told = why(crawled, url)
        assert "state: refused, out-of-scope" in told
        assert "reason: deny ^https://github\\.com/(settings|login|" in told


def test_why_names_the_cap_that_a_url_came_too_late_for(crawled: Crawled) -> None:
    late = next(u for u, r in crawled.rows.items() if "issues lantern/kite" in str(r["reason"]))
    told = why(crawled, late)
    assert "state: refused, capped" in told
    assert "reason: cap of 10 reached for issues lantern/kite" in told


def test_why_names_the_line_of_robots_txt(crawled: Crawled) -> None:
    line = ROBOTS.splitlines().index("Disallow: /*/archive/") + 1
    told = why(crawled, HOME + SHELF.blob("archive/part_00.py"))
    assert "state: refused, robots-denied" in told
    assert f"reason: robots.txt: Disallow: /*/archive/ (line {line})" in told


def test_why_knows_a_url_by_the_rules_of_the_profile(crawled: Crawled) -> None:
    """They were given on the command line of the crawl, not in the workspace's file."""
    story = run("why", f"{HOME}{KITE.path}/?tab=readme#use", "-w", crawled.workspace, "--json").json
    assert (story["url"], story["verdict"]) == (HOME + KITE.path, "ok")
    story = run("why", f"{HOME}/settings/emails", "-w", crawled.workspace, "--json").json
    assert (story["known"], story["scope_now"]["admitted"]) == (False, False)
    assert story["scope_now"]["rule"].startswith("deny ")


@pytest.mark.parametrize("profile", [(), ("--profile", "github")], ids=["as crawled", "as told"])
def test_check_policy_agrees_with_the_crawl_on_every_url(
    crawled: Crawled, profile: tuple[str, ...]
) -> None:
    asked = {HOME + path for path in pages_asked(crawled.records)}
    urls = sorted(asked | crawled.rows.keys())
    answer = run("check-policy", *urls, "-w", crawled.workspace, *profile, "--json")
    assert answer.code == 1  # some are denied
    policies = dict(zip(urls, answer.lines, strict=True))
    for url, policy in policies.items():
        row = crawled.rows[url]
        assert policy["url"] == url
        assert policy["allowed"] == (url in asked) == was_asked_for(row), url
        if not policy["allowed"]:
            assert policy["reason"] == row["verdict"], url
            assert policy["rule"] == row["reason"].removeprefix("robots.txt: "), url
        assert policy["page_type"] == (row["page_type"] or ""), url


def test_check_policy_knows_that_a_cap_is_full_for_what_nobody_found(crawled: Crawled) -> None:
    """An issue that no list has shown."""
    unseen = f"{HOME}{KITE.path}/issues/1"
    assert unseen not in crawled.rows
    told = run("check-policy", unseen, f"{HOME}{BASKET.path}/issues/1", "-w", crawled.workspace)
    full, free = told.text.splitlines()
    # The pages' cap comes before that of the issues.
    assert full == f"{unseen} denied: capped (cap of 30 reached for pages lantern/kite)"
    assert free.startswith(f"{HOME}{BASKET.path}/issues/1 allowed: robots-allowed")


def test_nothing_is_guessed_that_the_profile_denies(github: GithubSite, tmp_path: Path) -> None:
    """When links run dry a crawl tries sitemaps and archives: here, none that is of no kind."""
    workspace, before = prepare(github, tmp_path), len(github.requests())
    answer = crawl(workspace, "--explore", "--depth", "1", seeds=[HOME + BASKET.path])
    assert answer.code == 0
    urls = sorted({HOME + path for path in pages_asked(github.requests(before))})
    policies = run("check-policy", *urls, "-w", workspace, *PROFILE[:2], "--json").lines
    assert [policy["url"] for policy in policies if not policy["allowed"]] == []


def test_without_a_contact_nothing_is_asked_for(github: GithubSite, tmp_path: Path) -> None:
    workspace, before = prepare(github, tmp_path), len(github.requests())
    answer = run("crawl", *SEEDS, "-w", workspace, "--profile", "github")
    assert (answer.code, answer.out) == (2, b"")
    assert "agent.contact" in answer.err and "--contact" in answer.err
    assert github.requests(before) == []
    assert [file.name for file in workspace.iterdir()] == ["crawl4r.yaml"]


def test_a_seed_of_no_kind_is_refused_with_its_rule(github: GithubSite, tmp_path: Path) -> None:
    workspace, before = prepare(github, tmp_path), len(github.requests())
    for seed, rule in {f"{HOME}/lantern": "no page type", f"{HOME}/login": "deny"}.items():
        answer = run("crawl", seed, "-w", workspace, *PROFILE)
        assert answer.code == 2
        assert f"{seed} is out of scope: {rule}" in answer.err
    assert github.requests(before) == []


def test_a_deny_rule_of_ones_own_comes_on_top_of_the_profiles(
    github: GithubSite, tmp_path: Path
) -> None:
    workspace, before = prepare(github, tmp_path), len(github.requests())
    own = ("--deny", "/(topics|trending)", "--depth", "1")
    assert run("crawl", HOME + BASKET.path, "-w", workspace, *PROFILE, *own, "--json").code == 0
    asked = pages_asked(github.requests(before))
    assert {kind_of(path) for path in asked} == {"repo_root", "issues", "pull", "blob"}


def test_owners_are_told_apart_from_pages_of_the_site_itself(tmp_path: Path) -> None:
    """Both have two words in their path."""
    owners = [f"{HOME}/desktop/desktop", f"{HOME}/actions/checkout"]
    pages = [f"{HOME}/github-copilot/signup", f"{HOME}/customer-terms/updates"]
    pages += [f"{HOME}/enterprises/lantern", f"{HOME}/mcp/lantern"]
    urls = [*owners, *pages]
    answer = run("check-policy", *urls, "-w", tmp_path, "--profile", "github", "--json")
    assert [line["allowed"] for line in answer.lines] == [True, True, False, False, False, False]


def test_configure_writes_a_profile_that_a_crawl_needs_no_options_for(
    github: GithubSite, tmp_path: Path
) -> None:
    written = run("configure", HOME + BASKET.path, "-w", tmp_path, "--profile", "github", *CONTACT)
    assert written.code == 0
    with (tmp_path / "crawl4r.yaml").open("a") as file:
        file.write(f"network: {github.settings}\n")
    answer = run("crawl", "-w", tmp_path, "--rate", "0", "--depth", "0", "--json")
    assert (answer.code, answer.json["pages"]) == (0, 1)
