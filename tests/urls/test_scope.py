"""Which URLs belong to the crawl, and which rule says so (G1, G6)."""

import pytest

from crawl4r.errors import SettingsError
from crawl4r.urls.scope import GroupCap, Scope, ScopeRules


def refusal(rules: ScopeRules, url: str) -> str | None:
    """The rule that refused a URL, or None when it was admitted."""
    ruling = Scope(rules).judge(url)
    return None if ruling.admitted else ruling.rule


HOSTS = {
    "the host itself": (["e.org"], False, "http://e.org/a", True),
    "its other scheme": (["e.org"], False, "https://e.org/a", True),
    "the case of the setting": (["E.Org"], False, "http://e.org/", True),
    "another host": (["e.org"], False, "http://f.org/", False),
    "a port that is not listed": (["e.org"], False, "http://e.org:81/", False),
    "a port that is listed": (["e.org:81"], False, "http://e.org:81/", True),
    "the bare host when a port is listed": (["e.org:81"], False, "http://e.org/", False),
    "a subdomain": (["e.org"], False, "http://www.e.org/", False),
    "a subdomain when they are included": (["e.org"], True, "http://a.b.e.org/", True),
    "a subdomain with a listed port": (["e.org:81"], True, "http://a.e.org:81/", True),
    "a host that only ends alike": (["e.org"], True, "http://evil-e.org/", False),
    "a host in the path": (["e.org"], True, "http://f.org/.e.org", False),
    "an IPv6 address": (["[::1]:81"], False, "http://[::1]:81/", True),
    "any host when none is listed": ([], False, "http://f.org:81/", True),
}


@pytest.mark.parametrize(("hosts", "subdomains", "url", "admitted"), HOSTS.values(), ids=HOSTS)
def test_hosts_are_matched_whole(
    hosts: list[str], subdomains: bool, url: str, admitted: bool
) -> None:
    rules = ScopeRules(hosts=hosts, include_subdomains=subdomains)
    assert Scope(rules).judge(url).admitted is admitted


@pytest.mark.parametrize("host", ["https://e.org/", "BÜCHER.example", "e.org:80", "e.org."])
def test_a_host_that_can_never_match_is_refused_or_respelled(host: str) -> None:
    """A setting that silently admits nothing is the worst of both."""
    seen = {"http://e.org/", "https://e.org/", "http://xn--bcher-kva.example/"}
    try:
        scope = Scope(ScopeRules(hosts=[host]))
    except SettingsError:
        return
    assert any(scope.judge(url).admitted for url in seen)


@pytest.mark.parametrize(
    "url", ["http://ads.e.org/", "http://x.ads.e.org:81/", "https://ads.e.org/"]
)
def test_a_denied_host_takes_everything_below_it(url: str) -> None:
    rules = ScopeRules(hosts=["e.org"], include_subdomains=True, denied_hosts=["ADS.e.org"])
    assert refusal(rules, url) == "denied host ads.e.org"
    assert refusal(rules, "http://roads.e.org/") is None


def test_a_denied_host_may_name_a_port() -> None:
    rules = ScopeRules(denied_hosts=["e.org:81"])
    assert refusal(rules, "http://e.org:81/") == "denied host e.org:81"
    assert refusal(rules, "http://e.org/") is None


def test_deny_is_asked_before_allow() -> None:
    rules = ScopeRules(allow=["/docs/"], deny=[r"\.pdf$"])
    assert refusal(rules, "http://e.org/docs/a") is None
    assert refusal(rules, "http://e.org/docs/a.pdf") == r"deny \.pdf$"
    assert refusal(rules, "http://e.org/blog/") == "no allow pattern matches"


def test_a_host_is_asked_before_any_pattern() -> None:
    rules = ScopeRules(hosts=["e.org"], allow=["."], deny=["f.org"])
    assert refusal(rules, "http://f.org/") == "host f.org is not in scope"


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        (ScopeRules(), "no host limit"),
        (ScopeRules(hosts=["e.org"]), "host in scope"),
        (ScopeRules(allow=["/x", "/a", "e.org"]), "allow /a"),
    ],
)
def test_an_admission_names_its_rule(rules: ScopeRules, rule: str) -> None:
    assert Scope(rules).judge("http://e.org/a") == (True, rule, "", ())


def test_the_first_page_type_that_matches_names_the_page() -> None:
    types = {"post": r"/\d{4}/[^/]+$", "archive": r"/\d{4}/", "any": "."}
    scope = Scope(ScopeRules(page_types=types))
    assert scope.judge("http://e.org/2024/hello").page_type == "post"
    assert scope.judge("http://e.org/2024/").page_type == "archive"
    assert scope.judge("http://e.org/").page_type == "any"


def test_pages_of_no_type_can_be_refused() -> None:
    types = {"post": "/post/"}
    assert Scope(ScopeRules(page_types=types)).judge("http://e.org/").admitted
    rules = ScopeRules(page_types=types, only_page_types=True)
    assert refusal(rules, "http://e.org/") == "no page type matches"
    assert refusal(rules, "http://e.org/post/1") is None


def test_groups_are_keyed_by_what_their_pattern_captures() -> None:
    caps = [
        GroupCap("section", r"^http://e\.org/([^/]+)/", 3),
        GroupCap("year", r"/(\d{4})/", 2),
        GroupCap("pdf", r"\.pdf$", 1),
    ]
    scope = Scope(ScopeRules(caps=caps))
    assert scope.judge("http://e.org/news/2024/a.pdf").groups == [
        "section news",
        "year 2024",
        "pdf",
    ]
    assert list(scope.judge("http://e.org/").groups) == []


def test_a_group_that_took_no_part_in_the_match_captures_nothing() -> None:
    scope = Scope(ScopeRules(caps=[GroupCap("page", r"/list(?:/(\d+))?$", 3)]))
    assert scope.groups("http://e.org/list/7") == ["page 7"]
    assert scope.groups("http://e.org/list") == ["page"]


def test_a_refused_url_counts_against_no_group() -> None:
    rules = ScopeRules(deny=["/a"], caps=[GroupCap("all", ".", 1)])
    assert list(Scope(rules).judge("http://e.org/a").groups) == []


def test_a_pattern_that_explodes_elsewhere_ends_at_once_here() -> None:
    """On a backtracking engine this would outlive us all."""
    scope = Scope(ScopeRules(deny=["(a+)+$", "(a|aa)+$", "(.*,){12}x$"]))
    url = "http://e.org/" + "a" * 50_000 + "," * 1_000 + "!"
    assert scope.judge(url).admitted


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        (ScopeRules(allow=["a", "("]), "scope.allow[1]"),
        (ScopeRules(deny=["(?=a)"]), "scope.deny[0]"),
        (ScopeRules(deny=[r"(a)\1"]), "scope.deny[0]"),
        (ScopeRules(page_types={"post": "["}), "scope.page_types.post"),
        (ScopeRules(caps=[GroupCap("all", "*", 1)]), "limits.groups.all.per"),
    ],
)
def test_a_pattern_that_cannot_run_is_an_error_of_its_key(rules: ScopeRules, key: str) -> None:
    with pytest.raises(SettingsError) as problem:
        Scope(rules)
    assert problem.value.key == key
