"""Configuration: who wins, and what a mistake is called (G16, R1)."""

import math
from pathlib import Path
from typing import Any

import pytest

from crawl4r.errors import SettingsError
from crawl4r.frontier.priority import Strategy
from crawl4r.settings import Settings, load_settings, overrides_of, profile_names, profile_text


def load(**sections: Any) -> Settings:
    return load_settings(overrides=sections, environment={})


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


def test_a_mistake_never_repeats_a_secret() -> None:
    message = str(problem_of(fetch={"auth": {"http://e.org": ["me:hunter2"]}}))
    assert "hunter2" not in message


@pytest.mark.parametrize("text", ["- a list", "just words", "a: [", "\x00", "a: 1\na: {b: c", "7"])
def test_a_file_that_is_no_mapping_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as problem:
        load_file(tmp_path, text)
    assert problem.value.key == str(tmp_path / "crawl4r.yaml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "crawl4r.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"crawl4r\.yaml: cannot be read"):
        load_settings(file, environment={})


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "---\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, text: str) -> None:
    assert load_file(tmp_path, text) == load()


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
    with pytest.raises(ValueError, match="frozen"):
        load().limits.pages = 3  # type: ignore[misc]
