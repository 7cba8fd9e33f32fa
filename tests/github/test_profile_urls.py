"""The GitHub profile admits the six kinds of pages and refuses the rest (G1, G6)."""

import pytest

from crawl4r.settings.load import Settings, load_settings
from crawl4r.urls.canonical import canonicalize
from crawl4r.urls.scope import Ruling, Scope


@pytest.fixture(scope="module")
def settings() -> Settings:
    overrides = {"agent": {"contact": "crawl@example.org"}}
    return load_settings(profile="github", overrides=overrides, environment={})


def judge(settings: Settings, url: str) -> Ruling:
    spelled = canonicalize(url, rules=settings.scope.canonical())
    return Scope(settings.scope_rules([])).judge(spelled)


ADMITTED = {
    "https://github.com/topics": "topic",
    "https://github.com/topics/python": "topic",
    "https://github.com/topics/python?page=2": "topic",
    "https://github.com/trending": "trending",
    "https://github.com/trending/rust?since=weekly": "trending",
    "https://github.com/psf/requests": "repo_root",
    "https://GitHub.com/psf/requests/": "repo_root",
    "https://github.com/psf/requests?tab=readme-ov-file#usage": "repo_root",
    "https://github.com/psf/.github": "repo_root",
    "https://github.com/psf/requests/blob/main/README.md": "blob",
    "https://github.com/psf/requests/blob/main/src/requests/api.py#L10": "blob",
    "https://github.com/psf/requests/issues": "issues",
    "https://github.com/psf/requests/issues?q=is%3Aopen": "issues",
    "https://github.com/psf/requests/issues/6000": "issues",
    "https://github.com/psf/requests/pulls": "pull",
    "https://github.com/psf/requests/pull/6001": "pull",
}


@pytest.mark.parametrize(("url", "page_type"), ADMITTED.items())
def test_a_page_of_a_known_kind_is_admitted_under_its_name(
    settings: Settings, url: str, page_type: str
) -> None:
    ruling = judge(settings, url)
    assert (ruling.admitted, ruling.page_type) == (True, page_type)


REFUSED = {
    "https://github.com/": "no page type",
    "https://github.com/psf": "no page type",
    "https://github.com/psf/requests/tree/main/docs": "no page type",
    "https://github.com/psf/requests/releases": "no page type",
    "https://github.com/psf/requests/issues/6000/events": "no page type",
    "https://github.com/psf/requests/pull/6001/files": "no page type",
    "https://github.com/psf/requests/blob": "no page type",
    "https://github.com/topics/python/extra": "no page type",
    "http://github.com/psf/requests": "no page type",
    "https://github.com/login": "deny",
    "https://github.com/login/oauth": "deny",
    "https://github.com/settings/profile": "deny",
    "https://github.com/marketplace/actions": "deny",
    "https://github.com/orgs/psf": "deny",
    "https://github.com/sponsors/psf": "deny",
    "https://github.com/search?q=a": "deny",
    "https://github.com/issues": "deny",
    "https://github.com/features/copilot": "deny",
    "https://github.com/psf/requests/raw/main/a.py": "deny",
    "https://github.com/psf/requests/commits/main": "deny",
    "https://github.com/psf/requests/commit/0123abc": "deny",
    "https://github.com/psf/requests/edit/main/a.py": "deny",
    "https://github.com/psf/requests/archive/main.zip": "deny",
    "https://github.com/psf/requests/actions": "deny",
    "https://gist.github.com/a/b": "denied host gist.github.com",
    "https://api.github.com/repos/psf/requests": "denied host api.github.com",
    "https://raw.githubusercontent.com/a/b": "denied host raw.githubusercontent.com",
    "https://www.github.com/psf/requests": "host www.github.com is not in scope",
    "https://docs.github.com/en": "host docs.github.com is not in scope",
    "https://github.com.evil.org/psf/requests": "host github.com.evil.org is not in scope",
}


@pytest.mark.parametrize(("url", "rule"), REFUSED.items())
def test_everything_else_is_refused_by_a_named_rule(
    settings: Settings, url: str, rule: str
) -> None:
    ruling = judge(settings, url)
    assert not ruling.admitted
    assert ruling.rule.startswith(rule)


@pytest.mark.parametrize(
    "path", ["solutions/use-case", "resources/articles", "advisories/GHSA-jfh8-c2jp-5v3q"]
)
def test_a_page_of_github_itself_is_no_repository(settings: Settings, path: str) -> None:
    """Every page's header and footer link to these; none is a repository."""
    assert judge(settings, f"https://github.com/{path}").page_type != "repo_root"


def test_pages_issues_and_pulls_are_capped_for_each_repository(settings: Settings) -> None:
    root = "https://github.com/psf/requests"
    assert judge(settings, f"{root}/issues/1").groups == [
        "pages psf/requests",
        "issues psf/requests",
    ]
    assert judge(settings, f"{root}/issues").groups == ["pages psf/requests", "issues psf/requests"]
    assert judge(settings, f"{root}/pull/1").groups == ["pages psf/requests", "pulls psf/requests"]
    assert judge(settings, root).groups == ["pages psf/requests"]
    assert {name: cap.max for name, cap in settings.limits.groups.items()} == {
        "pages": 30,
        "issues": 10,
        "pulls": 10,
    }


def test_the_profile_asks_for_somebody_to_write_to() -> None:
    with pytest.raises(Exception, match=r"agent\.contact"):
        load_settings(profile="github", environment={})
