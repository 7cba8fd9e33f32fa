"""Configuration: who wins, and what a mistake is called (G16, R1)."""

import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from crawl4r.errors import SettingsError
from crawl4r.fetch.proxies import Rotation
from crawl4r.frontier.priority import Strategy
from crawl4r.settings.load import Settings, load_settings, overrides_of, profile_names, profile_text
from crawl4r.settings.sections.fetch import Agent


def load(**sections: Any) -> Settings:
    return load_settings(overrides=sections, environment={})


def nested(key: str, value: Any) -> dict[str, Any]:
    """`a.b` and a value as `{a: {b: value}}`."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def value_of(settings: Settings, key: str) -> Any:
    found: Any = settings
    for part in key.split("."):
        found = getattr(found, part)
    return found


def load_file(folder: Path, text: str, **more: Any) -> Settings:
    file = folder / "crawl4r.yaml"
    file.write_text(text, "utf-8")
    return load_settings(file, **{"environment": {}, **more})


def problem_of(**sections: Any) -> SettingsError:
    with pytest.raises(SettingsError) as problem:
        load(**sections)
    assert str(problem.value).startswith(problem.value.key)
    return problem.value


def test_the_defaults_are_polite() -> None:
    settings = load()
    rules = settings.politeness.host_rules()
    assert (rules.delay, rules.per_host, settings.politeness.obey_robots) == (1.0, 1, True)
    assert settings.network.allow_private == []
    assert settings.robots_rules().agents == ("crawlr", "crawl4r")


MISTAKES = {
    "an unknown section": ({"politness": {}}, "politness"),
    "an unknown key": ({"politeness": {"speed": 1}}, "politeness.speed"),
    "a section that is no mapping": ({"politeness": 3}, "politeness"),
    "an empty section": ({"politeness": None}, "politeness"),
    "a word for a number": ({"politeness": {"rate": "fast"}}, "politeness.rate"),
    "a negative rate": ({"politeness": {"rate": -1}}, "politeness.rate"),
    "a rate that is no number": ({"politeness": {"rate": math.nan}}, "politeness.rate"),
    "nobody at once": ({"politeness": {"per_host": 0}}, "politeness.per_host"),
    "too many at once": ({"politeness": {"concurrency": 9999}}, "politeness.concurrency"),
    "half a page": ({"limits": {"pages": 1.5}}, "limits.pages"),
    "a negative depth": ({"limits": {"depth": -1}}, "limits.depth"),
    "no time": ({"fetch": {"timeout": 0}}, "fetch.timeout"),
    "endless time": ({"fetch": {"timeout": math.inf}}, "fetch.timeout"),
    "endless time to connect": ({"fetch": {"connect_timeout": math.inf}}, "fetch.connect_timeout"),
    "endless reading": ({"reading": {"seconds": math.inf}}, "reading.seconds"),
    "an unknown strategy": ({"strategy": "random"}, "strategy"),
    "an unknown store": ({"store": {"kind": "cloud"}}, "store.kind"),
    "permissions that are not octal": ({"store": {"permissions": "rw-"}}, "store.permissions"),
    "permissions that YAML read as decimal": ({"store": {"permissions": 644}}, "store.permissions"),
    "permissions that are a boolean": ({"store": {"permissions": True}}, "store.permissions"),
    "a digit in the token": ({"agent": {"robots_token": "crawl4r"}}, "agent.robots_token"),
    "an empty token": ({"agent": {"robots_token": ""}}, "agent.robots_token"),
    "a pattern": ({"scope": {"deny": ["ok", "("]}}, "scope.deny[1]"),
    "a page type": ({"scope": {"page_types": {"a": "("}}}, "scope.page_types.a"),
    "a host that is no text": ({"scope": {"hosts": ["a", 7]}}, "scope.hosts.1"),
    "a group's pattern": (
        {"limits": {"groups": {"a": {"per": "(", "max": 1}}}},
        "limits.groups.a.per",
    ),
    "a group without a cap": ({"limits": {"groups": {"a": {"per": "x"}}}}, "limits.groups.a.max"),
    "a group's name": ({"limits": {"groups": {"a b": {"per": "x", "max": 1}}}}, "limits.groups"),
    "a network": ({"network": {"allow_private": ["10.0.0.0/99"]}}, "network.allow_private[0]"),
    "a header that smuggles": ({"fetch": {"headers": {"X-A": "b\r\nC: d"}}}, "fetch.headers.X-A"),
    "a header that is no name": ({"fetch": {"headers": {"X A": "b"}}}, "fetch.headers.X A"),
    "a header of ours": ({"fetch": {"headers": {"Host": "b"}}}, "fetch.headers.Host"),
    "a user agent that smuggles": ({"agent": {"user_agent": "a\nb"}}, "agent.user_agent"),
    "a contact that smuggles": ({"agent": {"contact": "a@b.org\nX: y"}}, "agent.contact"),
    "no contact where one is needed": ({"agent": {"require_contact": True}}, "agent.contact"),
    "a rotation": ({"fetch": {"proxies": {"rotation": "often"}}}, "fetch.proxies.rotation"),
    "a language that smuggles": ({"fetch": {"language": "en\nX: y"}}, "fetch.language"),
    "a proxy that is no URL": (
        {"fetch": {"proxies": {"servers": ["what"]}}},
        "fetch.proxies.servers",
    ),
    "a resolved address": ({"network": {"resolve": {"e.org": "home"}}}, "network.resolve.e.org"),
    "credentials without a password": ({"fetch": {"auth": {"http://e.org": "me"}}}, "fetch.auth"),
    "credentials without an origin": ({"fetch": {"auth": {"e.org": "me:secret"}}}, "fetch.auth"),
}


@pytest.mark.parametrize(("sections", "key"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_with_its_key(sections: dict[str, Any], key: str) -> None:
    assert problem_of(**sections).key.startswith(key)


GROUP = {"per": "x", "max": 1}
REFUSED: list[tuple[str, Any, str]] = [  # where, what, and the rest of the name that is blamed
    ("limits.pages", "five", ""),
    ("limits.pages", "", ""),
    ("limits.pages", "null", ""),
    ("limits.pages", "5.5", ""),
    ("limits.pages", "-1", ""),
    ("limits.pages", math.nan, ""),
    ("limits.pages", math.inf, ""),
    ("limits.pages", [5], ""),
    ("limits.pages", {}, ""),
    ("limits.pages", True, ""),
    ("limits.seconds", False, ""),
    ("politeness.per_host", True, ""),
    ("politeness.rate", True, ""),
    ("limits.seconds", "nan", ""),
    ("limits.seconds", "-inf", ""),
    ("limits.seconds", "1e999", ""),
    ("limits.seconds", 10**400, ""),
    ("limits.seconds", -math.inf, ""),
    ("limits.seconds", "null", ""),
    ("limits.groups", None, ""),
    ("limits.groups", [], ""),
    ("limits.groups", {"a": None}, ".a"),
    ("limits.groups", {"a": 3}, ".a"),
    ("limits.groups", {"a": {}}, ".a.per"),
    ("limits.groups", {"a": {"per": 3, "max": 1}}, ".a.per"),
    ("limits.groups", {"a": GROUP, "b": {**GROUP, "max": -1}}, ".b.max"),
    ("limits.groups", {"a": GROUP, "b": {**GROUP, "max": "many"}}, ".b.max"),
    ("limits.groups", {"a": {**GROUP, "ignore_case": "maybe"}}, ".a.ignore_case"),
    ("limits.traps", None, ""),
    ("limits.traps", {"repeats": 1}, ".repeats"),
    ("limits.traps", {"segments": 3}, ".segments"),
    ("limits", [], ""),
    ("limits", "many", ""),
    ("limits", True, ""),
    ("politeness.rate", None, ""),
    ("politeness.rate", "-1", ""),
    ("politeness.per_host", "x", ""),
    ("politeness.concurrency", "2001", ""),
    ("politeness.obey_robots", 2, ""),
    ("politeness.obey_robots", 0.5, ""),
    ("politeness.obey_robots", None, ""),
    ("politeness.obey_robots", "", ""),
    ("politeness.obey_robots", "maybe", ""),
    ("politeness.obey_robots", [], ""),
    ("fetch.timeout", "0", ""),
    ("fetch.max_bytes", 1.5, ""),
    ("fetch.types", "text/html", ""),
    ("fetch.types", [1], ".0"),
    ("fetch.types", [None], ".0"),
    ("fetch.types", {"text/html": 1}, ""),
    ("fetch.types", b"text/html", ""),
    ("fetch.types", None, ""),
    ("fetch.headers", {"X-A": 1}, ".X-A"),
    ("fetch.headers", {"X-A": "b", "X-B": None}, ".X-B"),
    ("fetch.headers", {"X-A": True}, ".X-A"),
    ("fetch.headers", "X-A: b", ""),
    ("fetch.headers", [("X-A", "b")], ""),
    ("fetch.headers", None, ""),
    ("fetch.auth", {"http://e.org": 7}, ".http://e.org"),
    ("fetch.auth", ["me:secret"], ""),
    ("fetch.proxies", None, ""),
    ("fetch.proxies", "http://p:1", ""),
    ("fetch.proxies", {"servers": "http://p:1"}, ".servers"),
    ("fetch.proxies", {"servers": ["http://p:1", 3]}, ".servers.1"),
    ("fetch.proxies", {"rotation": "RANDOM"}, ".rotation"),
    ("fetch.proxies", {"rotation": None}, ".rotation"),
    ("fetch.proxies", {"rotation": 3}, ".rotation"),
    ("fetch.language", 3, ""),
    ("fetch.language", False, ""),
    ("network.resolve", {"e.org": 7}, ".e.org"),
    ("network.resolve", ["e.org"], ""),
    ("network.ca_file", 3, ""),
    ("network.allow_private", "10.0.0.0/8", ""),
    ("network.allow_private", ["10.0.0.0/8", None], ".1"),
    ("reading.workers", 65, ""),
    ("reading.memory_mb", 63, ""),
    ("index.languages", "en", ""),
    ("index.languages", [False], ".0"),
    ("index.min_tokens", -1, ""),
    ("index.overlap_tokens", -1, ""),
    ("search.rrf_k", 0, ""),
    ("index.collection", "Crawls", ""),
    ("index.collection", "crawl4r\n", ""),
    ("index.collection", "a" * 42, ""),
    ("index.collection", 3, ""),
    ("index.max_tokens", 15, ""),
    ("index.max_tokens", 8193, ""),
    ("embedder.kind", "AUTO", ""),
    ("embedder.kind", "auto\n", ""),
    ("embedder.kind", ["auto"], ""),
    ("embedder.kind", None, ""),
    ("embedder", {"kind": "tei", "threads": -1}, ".threads"),
    ("search.fusion", "other", ""),
    ("search.keyword_weight", -0.1, ""),
    ("spool.drained", "kept", ""),
    ("spool.max_backlog", 0, ""),
    ("store.kind", None, ""),
    ("store.level", 20, ""),
    ("resilience.probe_hosts", [3], ".0"),
    ("resilience.leak_mb_hour", math.inf, ""),
    ("strategy", "DFS", ""),
    ("strategy", None, ""),
    ("strategy", 3, ""),
    ("strategy", ["bfs"], ""),
    ("seeds", "http://e.org/", ""),
    ("seeds", {}, ""),
    ("seeds", ["a", 3], ".1"),
    ("keywords", None, ""),
    ("agent.user_agent", None, ""),
    ("agent.contact", ["me@e.org"], ""),
    ("scope", None, ""),
    ("scope", Agent(), ""),
    ("scope.page_types", {"a": 3}, ".a"),
    ("scope.page_types", ["a"], ""),
    ("scope.deny", "(", ""),
    ("logs.enabled", None, ""),
    ("logs.metrics_seconds", 0, ""),
    ("explore.again_after", -1, ""),
]


@pytest.mark.parametrize(("key", "value", "rest"), REFUSED)
def test_a_value_that_cannot_be_is_refused_in_plain_words(key: str, value: Any, rest: str) -> None:
    problem = problem_of(**nested(key, value))
    assert problem.key == key + rest
    assert problem.problem[0].islower()
    assert "$." not in problem.problem


NO_SETTING = "is not a setting; `crawl4r configure --show` lists them all"
NO_SHARE = "must be a number of pages like 500, or a share of them like 20%"
NO_TOKEN = "must be letters, '-' and '_' only (RFC 9309 allows no digit)"
NO_COLLECTION = "must be up to 41 of a-z, 0-9 and '_', the first of them a letter"
NO_CREDENTIALS = "the value for http://e.org is not 'user:password' or 'Bearer ...'"
IN_WORDS: list[tuple[str, Any, str, str]] = [
    ("politness", None, "", "is not a setting; did you mean politeness?"),
    ("limits.max_page", 3, "", "is not a setting; did you mean limits.pages?"),
    ("rate", 3, "", "is not a setting; did you mean politeness.rate?"),
    ("politeness.speed", 1, "", NO_SETTING),
    ("limits.traps", {"what": 3}, ".what", NO_SETTING),
    ("limits.groups", {"a": {**GROUP, "more": 2}}, ".a.more", NO_SETTING),
    ("fetch.proxies", {"more": 1}, ".more", NO_SETTING),
    (
        "embedder",
        {"kind": "tei", "more": 1},
        ".more",
        "is not a setting; did you mean embedder.model?",
    ),
    ("limits.groups", {"a b": GROUP}, "", "the name 'a b' has a space"),
    *(("limits.revisits", value, "", NO_SHARE) for value in ("", "101%", "null", 12.5, -1)),
    *(("limits.revisits", value, "", NO_SHARE) for value in (True, [1], {})),
    *(("store.permissions", value, "", "must be octal, like '0644'") for value in ("64", "00644")),
    *(("store.permissions", value, "", "must be octal, like '0644'") for value in (None, [], 4.5)),
    ("store.permissions", 644, "", "must be octal; quote it, like '0644'"),
    ("store.permissions", -1, "", "must be octal; quote it, like '0644'"),
    ("store.permissions", True, "", "must be octal; quote it, like '0644'"),
    ("agent.robots_token", "crawl4r", "", NO_TOKEN),
    ("agent.robots_token", "a\n", "", NO_TOKEN),
    ("fetch.types", ["html"], "", "'html' is not a media type like text/html or text/*"),
    ("fetch.auth", {"e.org": "a:b"}, "", "'e.org' is not an origin like https://example.org"),
    ("fetch.auth", {"http://e.org": "hunter2"}, "", NO_CREDENTIALS),
    ("fetch.auth", {"http://e.org": "a:b\nc"}, "", NO_CREDENTIALS),
    ("fetch.proxies.servers", ["what"], "", "'what' is not like http://host:3128"),
    (
        "fetch.proxies.servers",
        ["http://a:b@p:x"],
        "",
        "'http://***@p:x' is not like http://host:3128",
    ),
    ("network.resolve", {"a.org": "::1", "e.org": "home"}, ".e.org", "'home' is not an address"),
    (
        "index.overlap_tokens",
        257,
        "",
        "must be at most 256, half of index.max_tokens",
    ),
    (
        "search",
        {"keyword_weight": 0, "vector_weight": 0},
        ".keyword_weight",
        "or vector_weight must be more than 0, both finite",
    ),
    ("embedder.kind", "tei", "!", "kind tei needs the address of the server in embedder.url"),
    (
        "embedder",
        {"kind": "openai", "url": "http://127.0.0.1"},
        "",
        "kind openai needs the name of a model in embedder.model",
    ),
    ("resilience.probe_hosts", ["e.org"], "", "'e.org' is neither like host:443 nor a URL"),
    ("resilience.probe_hosts", ["e:25"], "", "'e:25': the egress gate connects to no such port"),
    ("resilience.probe_hosts", ["e.org:99999"], "", "port out of range 0-65535"),
    ("scope.hosts", ["a b"], "[0]", "'a b' is not a host or host:port"),
    ("limits.pages", "five", "", "must be a whole number of at least 0"),
    ("limits.pages", True, "", "must be a whole number of at least 0"),
    ("limits.seconds", math.nan, "", "must be a finite number"),
    ("limits.seconds", "inf", "", "must be a finite number"),
    ("fetch.timeout", 0, "", "must be a number of seconds above 0, or like 90s, 10m or 1h30m"),
    ("reading.workers", 65, "", "must be a whole number from 1 to 64"),
    ("politeness.obey_robots", "maybe", "", "must be true or false"),
    ("fetch.language", None, "", "must be text"),
    ("fetch.language", False, "", "must be text: put it in quotes"),
    ("fetch.headers", {7: "b"}, ".7", "must be text: put the name in quotes"),
    ("fetch.headers", [], "", "must be a mapping, like {name: value}"),
    ("seeds", "http://e.org/", "", "must be a list, like [a, b]"),
    ("strategy", "random", "", "must be one of bfs, dfs, best-first"),
    ("store.kind", "cloud", "", "must be one of auto, segments, files"),
    ("scope", None, "", "must be a section, with its keys below it"),
    ("limits.groups", {"a": {"per": "x"}}, ".a.max", "is missing and has no default"),
    ("index.collection", "1a", "", NO_COLLECTION),
]


@pytest.mark.parametrize(("key", "value", "rest", "words"), IN_WORDS)
def test_a_mistake_is_explained(key: str, value: Any, rest: str, words: str) -> None:
    problem = problem_of(**nested(key, value))
    blamed = key.rpartition(".")[0] if rest == "!" else key + rest
    assert (problem.key, problem.problem) == (blamed, words)


TAKEN: list[tuple[str, Any, Any]] = [
    ("limits.pages", "5", 5),
    ("limits.pages", " 5 ", 5),
    ("limits.pages", "1_000", 1000),
    ("limits.pages", "5.0", 5),
    ("limits.pages", 5.0, 5),
    ("limits.pages", 10**30, 10**30),
    ("limits.pages", None, None),
    ("limits.seconds", 5, 5.0),
    ("limits.seconds", "5.5", 5.5),
    ("limits.seconds", "1e3", 1000.0),
    ("limits.seconds", None, None),
    ("limits.revisits", 500, "500"),
    ("limits.revisits", 0, "0"),
    ("limits.revisits", "20.5%", "20.5%"),
    ("limits.revisits", None, None),
    ("limits.traps", {}, load().limits.traps),
    ("limits", {}, load().limits),
    ("politeness.rate", 2, 2.0),
    ("politeness.rate", "2", 2.0),
    ("politeness.per_host", "3", 3),
    ("politeness.concurrency", 2000, 2000),
    *(("politeness.obey_robots", no, False) for no in (0, "0", "no", "off", "False", "FALSE", "n")),
    *(("agent.require_contact", no, False) for no in (0, "f", "Off", "false")),
    *(("logs.enabled", yes, True) for yes in (1, "1", "yes", "on", "true", "True", "t", "Y")),
    ("fetch.types", ("text/html", "TEXT/*"), ["text/html", "text/*"]),
    ("fetch.types", {"a/b"}, ["a/b"]),
    ("fetch.types", {"a/b": 1}.keys(), ["a/b"]),
    ("fetch.headers", {"X-A": ""}, {"X-A": ""}),
    ("fetch.headers", MappingProxyType({"X-A": "b"}), {"X-A": "b"}),
    ("fetch.auth", {"HTTP://E.org:80/": "Bearer x"}, {"http://e.org": "Bearer x"}),
    ("fetch.proxies.rotation", "least-used", Rotation.LEAST_USED),
    ("fetch.language", "", ""),
    ("network.resolve", {"E.org": "::1"}, {"e.org": "::1"}),
    ("network.ca_file", "null", "null"),
    ("network.ca_file", None, None),
    ("index.languages", [], []),
    ("index.languages", ["EN", "de-CH", "All"], ["en", "de", "all"]),
    ("index.overlap_tokens", 256, 256),
    ("index.min_tokens", 0, 0),
    ("search.rrf_k", 1, 1),
    ("index.collection", "a" * 41, "a" * 41),
    ("index.max_tokens", 16, 16),
    ("search.keyword_weight", 0, 0.0),
    ("store.permissions", 0o644, "0644"),
    ("store.permissions", 0, "0000"),
    ("store.permissions", "0o640", "640"),
    ("store.level", "19", 19),
    ("strategy", Strategy.DFS, Strategy.DFS),
    ("seeds", ("a",), ["a"]),
    ("scope", {}, load().scope),
    ("scope", load(scope={"hosts": ["e.org"]}).scope, load(scope={"hosts": ["e.org"]}).scope),
]


@pytest.mark.parametrize(("key", "value", "expected"), TAKEN)
def test_a_value_may_be_written_in_the_ways_that_people_write_it(
    key: str, value: Any, expected: Any
) -> None:
    found = value_of(load(**nested(key, value)), key)
    assert (found, type(found)) == (expected, type(expected))


def test_the_members_of_a_group_are_read_like_any_setting() -> None:
    written = {"s": {"per": "/(x)/", "max": "7", "ignore_case": "yes"}}
    group = load(limits={"groups": written}).limits.groups["s"]
    assert (group.per, group.max, group.ignore_case) == ("/(x)/", 7, True)


@pytest.mark.parametrize("key", [1, None, True, 1.5])
def test_a_key_that_is_no_text_is_refused_where_it_stands(key: Any) -> None:
    assert problem_of(fetch={"headers": {key: "b"}}).key.startswith("fetch.headers.")
    assert problem_of(fetch={key: "b"}).key.startswith("fetch.")
    assert problem_of(limits={"groups": {key: GROUP}}).key.startswith("limits.groups.")


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"fetch": {"timeout": 0}, "agent": {"user_agent": 3}}, "agent.user_agent"),
        ({"what": 1, "fetch": {"what": 1, "timeout": 0}}, "fetch.timeout"),
        ({"what": 1, "fetch": {"what": 1}}, "fetch.what"),
        ({"what": 1, "scope": {"deny": ["("]}}, "what"),
    ],
)
def test_of_many_mistakes_the_first_setting_is_named(sections: dict[str, Any], key: str) -> None:
    assert problem_of(**sections).key == key


SECRETS: list[tuple[str, Any]] = [
    ("fetch.auth", {"http://e.org": ["me:hunter2"]}),
    ("fetch.auth", {"http://e.org": {"me": "hunter2"}}),
    ("fetch.auth", {"http://e.org": "hunter2"}),
    ("fetch.auth", {"http://e.org": "me:hunter2\r\nX: y"}),
    ("fetch.auth", {"e.org": "me:hunter2"}),
    ("fetch.auth", "me:hunter2"),
    ("fetch.auth", ["me:hunter2"]),
    ("fetch.headers", {"X-Key": ["hunter2"]}),
    ("fetch.headers", {"X-Key": "hunter2\n"}),
    ("fetch.proxies.servers", "http://me:hunter2@p:1"),
    ("fetch.proxies.servers", ["http://me:hunter2@p:x"]),
    ("fetch.proxies", "http://me:hunter2@p:1"),
    ("index.vectors_key", ["hunter2"]),
    ("embedder", {"kind": "tei", "api_key": "hunter2"}),
    ("embedder.api_key", {"key": "hunter2"}),
    ("embedder", "hunter2"),
    ("embedder.kind", "hunter2"),
]


@pytest.mark.parametrize(("key", "value"), SECRETS)
def test_a_mistake_never_repeats_a_secret(key: str, value: Any) -> None:
    problem = problem_of(**nested(key, value))
    assert "hunter2" not in str(problem)
    assert problem.__cause__ is None
    assert problem.__suppress_context__ or problem.__context__ is None


@pytest.mark.parametrize("text", ["- a list", "just words", "a: [", "\x00", "a: 1\na: {b: c", "7"])
def test_a_file_that_is_no_mapping_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as problem:
        load_file(tmp_path, text)
    assert problem.value.key == str(tmp_path / "crawl4r.yaml")


LINES = {  # text of a file: the line of the mistake, and the key
    "limits:\n  pages: 3\n  max_page: 7\n": (3, "limits.max_page"),
    "scope:\n  hosts: [a.org]\n  deny:\n    - ok\n    - '('\n": (5, "scope.deny[1]"),
    "scope:\n  hosts:\n    - a.org\n    - 7\n": (4, "scope.hosts.1"),
    "fetch:\n  auth:\n    http://e.org: me\n": (2, "fetch.auth"),
    "network:\n  resolve:\n    a.b: 1.2.3.4\n    a.b.c: home\n": (4, "network.resolve.a.b.c"),
    "limits:\n  groups:\n    a: {per: x}\n": (3, "limits.groups.a.max"),
    "agent: {}\n\npolitness: {}\n": (3, "politness"),
    "limits: {pages: 3}\nscope:\n": (2, "scope"),
    "a: &x {rate: fast}\npoliteness: *x\n": (1, "politeness.rate"),
}


@pytest.mark.parametrize("text", LINES)
def test_a_mistake_in_a_file_is_reported_with_its_line(tmp_path: Path, text: str) -> None:
    line, key = LINES[text]
    with pytest.raises(SettingsError) as problem:
        load_file(tmp_path, text)
    where = tmp_path / "crawl4r.yaml"
    assert str(problem.value).startswith(f"{where}, line {line}: {key}: ")


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("CRAWL4R_POLITENESS__RATE", "fast", "politeness.rate"),
        ("CRAWL4R_LIMITS__MAX_PAGE", "3", "limits.max_page"),
        ("CRAWL4R_POLITNESS__RATE", "3", "politness"),
        ("CRAWL4R_SCOPE__DENY", "['(']", "scope.deny[0]"),
    ],
)
def test_a_mistake_in_a_variable_is_reported_with_its_name(
    tmp_path: Path, name: str, text: str, key: str
) -> None:
    with pytest.raises(SettingsError) as problem:
        load_file(tmp_path, "politeness:\n  rate: 3\n", environment={name: text})
    assert str(problem.value).startswith(f"{name}: {key}: ")


def test_a_mistake_in_an_option_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as problem:
        load_file(tmp_path, "politeness: {rate: 3}\n", overrides={"politeness": {"rate": -1}})
    assert str(problem.value).startswith("politeness.rate: ")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "crawl4r.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"crawl4r\.yaml: cannot be read"):
        load_settings(file, environment={})


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "---\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, text: str) -> None:
    assert load_file(tmp_path, text) == load()


def test_a_section_with_nothing_below_it_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as problem:
        load_file(tmp_path, "limits: {pages: 3}\nscope:\n")
    assert problem.value.key == "scope"


def test_an_absent_file_says_nothing(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.yaml", environment={}) == load()


def test_a_file_is_read(tmp_path: Path) -> None:
    settings = load_file(
        tmp_path,
        "seeds: [http://e.org/]\nstrategy: dfs\nlimits:\n  groups:\n    s: {per: '/(x)/', max: 3}\n"
        "store: {permissions: '0o640'}\nscope: {keep_params: [Page]}\n",
    )
    assert (settings.seeds, settings.strategy) == (["http://e.org/"], Strategy.DFS)
    assert settings.limits.groups["s"].max == 3
    assert settings.store.mode == 0o640
    assert settings.scope.canonical().keep_params == {"page"}


ENVIRONMENT = {
    "CRAWL4R_POLITENESS__RATE": ("2.5", lambda s: s.politeness.rate, 2.5),
    "CRAWL4R_POLITENESS__OBEY_ROBOTS": ("no", lambda s: s.politeness.obey_robots, False),
    "CRAWL4R_SCOPE__HOSTS": ("[a.org, b.org]", lambda s: s.scope.hosts, ["a.org", "b.org"]),
    "CRAWL4R_FETCH__PROXIES__ROTATION": ("random", lambda s: s.fetch.proxies.rotation, "random"),
    "CRAWL4R_LIMITS__PAGES": ("", lambda s: s.limits.pages, None),
    "CRAWL4R_STORE__PERMISSIONS": ("0640", lambda s: s.store.mode, 0o640),
    "CRAWL4R_STRATEGY": ("dfs", lambda s: s.strategy, Strategy.DFS),
    "CRAWL4R_SEEDS": ("[http://e.org/]", lambda s: s.seeds, ["http://e.org/"]),
}


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_the_environment_sets_any_setting(name: str) -> None:
    text, read, expected = ENVIRONMENT[name]
    assert read(load_settings(environment={name: text})) == expected


@pytest.mark.parametrize(
    ("name", "text", "key", "expected"),
    [
        ("CRAWL4R_POLITENESS__RATE", '"2"', "politeness.rate", 2.0),
        ("CRAWL4R_LIMITS__PAGES", '"500"', "limits.pages", 500),
        ("CRAWL4R_LIMITS__PAGES", "1_000", "limits.pages", 1000),
        ("CRAWL4R_LIMITS__REVISITS", "500", "limits.revisits", "500"),
        ("CRAWL4R_LOGS__ENABLED", '"yes"', "logs.enabled", True),
        ("CRAWL4R_STORE__PERMISSIONS", "'0640'", "store.permissions", "0640"),
        ("CRAWL4R_FETCH__HEADERS", "{X-A: b}", "fetch.headers", {"X-A": "b"}),
    ],
)
def test_quotes_in_the_environment_change_nothing(
    name: str, text: str, key: str, expected: Any
) -> None:
    found = value_of(load_settings(environment={name: text}), key)
    assert (found, type(found)) == (expected, type(expected))


def test_what_belongs_to_others_in_the_environment_is_left_alone() -> None:
    others = {"PATH": "/bin", "POLITENESS__RATE": "9", "XCRAWL4R_POLITENESS__RATE": "9"}
    assert load_settings(environment=others) == load()


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"CRAWL4R_POLITENESS__RATE": "fast"}, "politeness.rate"),
        ({"CRAWL4R_POLITENESS__SPEED": "1"}, "politeness.speed"),
        ({"CRAWL4R_POLITNESS__RATE": "1"}, "politness"),
        ({"CRAWL4R_SCOPE__HOSTS": "[a"}, "CRAWL4R_SCOPE__HOSTS"),
        ({"CRAWL4R_FETCH__PROXIES": "x", "CRAWL4R_FETCH__PROXIES__SERVERS": "[]"}, "fetch.proxies"),
    ],
)
def test_a_mistake_in_the_environment_is_reported_with_its_key(
    environment: dict[str, str], key: str
) -> None:
    with pytest.raises(SettingsError) as problem:
        load_settings(environment=environment)
    assert problem.value.key == key


@pytest.mark.parametrize(
    "server", ["https://me:secret@proxy", "socks5h://10.0.0.1:1", "http://[::1]:80"]
)
def test_a_proxy_may_live_anywhere(server: str) -> None:
    assert load(fetch={"proxies": {"servers": [server]}}).fetch.proxies.servers == [server]


def test_the_real_environment_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWL4R_LIMITS__DEPTH", "7")
    assert load_settings().limits.depth == 7


def test_options_win_over_the_environment_over_the_file_over_the_profile(tmp_path: Path) -> None:
    contact = {"CRAWL4R_AGENT__CONTACT": "me@e.org"}
    rate = {"CRAWL4R_POLITENESS__RATE": "3"}
    file = "politeness: {rate: 2}\n"
    option = {"politeness": {"rate": 4}}
    steps = [
        load_settings(profile="github", environment=contact),
        load_file(tmp_path, file, profile="github", environment=contact),
        load_file(tmp_path, file, profile="github", environment=contact | rate),
        load_file(tmp_path, file, profile="github", environment=contact | rate, overrides=option),
    ]
    assert [settings.politeness.rate for settings in steps] == [1, 2, 3, 4]
    assert all(settings.limits.depth == 4 for settings in steps)


def test_what_somebody_calls_a_default_gives_way_to_whatever_is_said(tmp_path: Path) -> None:
    defaults = {"logs": {"enabled": True}, "limits": {"pages": 3}}
    told = load_file(tmp_path, "logs: {enabled: false}\n", defaults=defaults)
    assert (told.logs.enabled, told.limits.pages) == (False, 3)
    assert load_settings(environment={}, defaults=defaults).logs.enabled


def test_every_profile_that_ships_can_be_loaded() -> None:
    for name in profile_names():
        load_settings(profile=name, environment={"CRAWL4R_AGENT__CONTACT": "me@e.org"})


@pytest.mark.parametrize("name", ["none", "../settings", "github.yaml"])
def test_an_unknown_profile_is_reported_with_those_there_are(name: str) -> None:
    with pytest.raises(SettingsError, match="github") as problem:
        profile_text(name)
    assert problem.value.key == "profile"


@pytest.mark.parametrize(
    ("agent", "has_contact"),
    [
        ({}, False),
        ({"contact": "me"}, False),
        ({"contact": "me@e.org"}, True),
        ({"contact": "https://e.org/bot"}, True),
        ({"user_agent": "Bot/1 (+https://e.org/)"}, True),
    ],
)
def test_a_contact_is_an_address_or_a_page(agent: dict[str, str], has_contact: bool) -> None:
    assert load(agent=agent).agent.has_contact is has_contact


def test_the_contact_stands_in_the_user_agent_once() -> None:
    assert load(agent={"contact": "me@e.org"}).agent.header.endswith("(+me@e.org)")
    agent = {"user_agent": "Bot (me@e.org)", "contact": "me@e.org"}
    assert load(agent=agent).agent.header == "Bot (me@e.org)"


def test_short_names_lead_to_their_settings() -> None:
    plain = overrides_of(rate=2, hosts=("a.org",), max_pages=None, allow=(), obey_robots=False)
    assert plain == {
        "politeness": {"rate": 2, "obey_robots": False},
        "scope": {"hosts": ["a.org"]},
    }
    with pytest.raises(SettingsError) as problem:
        overrides_of(speed=3)
    assert problem.value.key == "speed"


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        load().limits.pages = 3  # type: ignore[misc]


def test_what_is_done_to_one_configuration_is_not_done_to_the_next() -> None:
    first = load(limits={"pages": 1})
    lists = (first.seeds, first.scope.hosts, first.index.languages, first.fetch.proxies.servers)
    for values in lists:
        values.append("x")
    first.fetch.headers["X-A"] = "b"
    assert load() == load(limits={"pages": None})
    assert load().fetch.proxies.servers == load().scope.hosts == load().seeds == []
    assert (load().index.languages, load().fetch.headers) == (["en"], {})
