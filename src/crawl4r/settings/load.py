"""The only reader of configuration files and of the environment.

`crawl4r.yaml` in the workspace, then the options of its last crawl, then `CRAWL4R_SECTION__KEY`
variables, then command-line options; each overrides the ones before. This module checks every field and
reports an error with its dotted name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import field
from msgspec.structs import replace

from crawl4r.errors import SettingsError
from crawl4r.fetch.headers import check_header
from crawl4r.frontier.priority import Strategy
from crawl4r.settings.field_kinds import Address
from crawl4r.settings.sections.content import Content, Embedding, Indexing, Reading, Searching
from crawl4r.settings.sections.fetch import Agent, Fetching, Network, Politeness
from crawl4r.settings.sections.operation import Logs, Resilience, Spooling, Store
from crawl4r.settings.sections.scope import Exploring, Limits, ScopeSection
from crawl4r.settings.validate import Section, checked
from crawl4r.urls.egress import AddressGate
from crawl4r.urls.policy import CrawlLimits, LinkRules, RobotsRules
from crawl4r.urls.scope import GroupCap, Scope, ScopeRules

FILE_NAME = "crawl4r.yaml"
_PREFIX = "CRAWL4R_"
_PROFILES = Path(__file__).with_name("profiles")
_ADDED_UP = frozenset(["deny", "denied_hosts"])


class Settings(Section, frozen=True):
    """All settings of a crawl."""

    seeds: list[Address] = []  # start here when the command names no URL
    strategy: Strategy = Strategy.BFS  # bfs, dfs or best-first
    keywords: list[str] = []  # for best-first
    agent: Agent = field(default_factory=Agent)
    scope: ScopeSection = field(default_factory=ScopeSection)
    limits: Limits = field(default_factory=Limits)
    politeness: Politeness = field(default_factory=Politeness)
    fetch: Fetching = field(default_factory=Fetching)
    network: Network = field(default_factory=Network)
    reading: Reading = field(default_factory=Reading)
    content: Content = field(default_factory=Content)
    index: Indexing = field(default_factory=Indexing)
    embedder: Embedding = field(default_factory=Embedding)
    search: Searching = field(default_factory=Searching)
    store: Store = field(default_factory=Store)
    logs: Logs = field(default_factory=Logs)
    spool: Spooling = field(default_factory=Spooling)
    resilience: Resilience = field(default_factory=Resilience)
    explore: Exploring = field(default_factory=Exploring)

    def __post_init__(self) -> None:
        """Check patterns, networks and headers now, so that no error appears during the crawl."""
        Scope(self.scope_rules([]))
        AddressGate(self.network.allow_private)
        for name, value in self.fetch.headers.items():
            check_header(name, value, f"fetch.headers.{name}")
        check_header("From", self.agent.contact, "agent.contact")
        check_header("User-Agent", self.agent.header, "agent.user_agent")
        check_header("Accept-Language", self.fetch.language, "fetch.language")
        for origin, value in self.fetch.auth.items():
            check_header("X-Credentials", value, f"fetch.auth.{origin}")
        if self.agent.require_contact and not self.agent.has_contact:
            raise SettingsError(
                "agent.contact",
                "this profile asks for one: give --contact, or this key in crawl4r.yaml, a URL or "
                "an e-mail address where the site's owner can reach you",
            )

    def scope_rules(self, seed_hosts: list[str]) -> ScopeRules:
        caps = [
            GroupCap(name, group.per, group.max, group.ignore_case)
            for name, group in self.limits.groups.items()
        ]
        return ScopeRules(
            hosts=self.scope.hosts or seed_hosts,
            include_subdomains=self.scope.include_subdomains,
            denied_hosts=self.scope.denied_hosts,
            allow=self.scope.allow,
            deny=self.scope.deny,
            page_types=self.scope.page_types,
            only_page_types=self.scope.only_page_types,
            caps=caps,
        )

    def reading_rules(self, seed_hosts: list[str]) -> LinkRules:
        return LinkRules(
            scope=self.scope_rules(seed_hosts),
            canonical=self.scope.canonical(),
            keywords=self.keywords,
            max_depth=self.limits.depth,
            follow_nofollow=self.scope.follow_nofollow,
            follow_feeds=self.explore.enabled and self.explore.feeds and self.limits.depth != 0,
        )

    def without_content(self) -> Settings:
        """The reading rules for links alone."""
        return replace(self, content=replace(self.content, extract=False, probe=False))

    def robots_rules(self) -> RobotsRules:
        token = self.agent.robots_token
        agents = (token, "crawl4r") if token == "crawlr" else (token,)
        return RobotsRules(agents, self.politeness.obey_robots, self.politeness.robots_ttl)

    def crawl_limits(self) -> CrawlLimits:
        return CrawlLimits(
            self.politeness.concurrency, self.limits.pages, self.limits.bytes, self.limits.seconds
        )


def cache_folder() -> Path:
    """The cache folder that all workspaces share; crawl4r can make its files again."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "crawl4r"


def load_settings(
    file: Path | None = None,
    *,
    profile: str | None = None,
    remembered: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Settings:
    """Load settings from a profile, a file, the options of the last crawl (`remembered`), the
    environment and `overrides`; later ones override earlier ones.

    `defaults` supplies missing keys before the built-in defaults.
    """
    merged = dict(defaults or {})
    if profile:
        source = f"profile {profile}"
        below = _sections(_load_yaml(profile_text(profile), source), source)
        # Only `configure` writes them: a continued crawl must not start from them.
        below.pop("seeds", None)
        merged = merge(merged, below)
    if file is not None and os.path.lexists(file):
        merged = merge(merged, _of_file(file))
    merged = merge(merged, remembered or {})
    environment = os.environ if environment is None else environment
    merged = merge(merged, _from_environment(environment))
    merged = merge(merged, overrides or {})
    try:
        return checked(Settings, merged)
    except SettingsError as problem:
        typed = merge(remembered or {}, overrides or {})
        where = _place_of(problem.key, typed, environment, file)
        if not where:
            raise
        raise SettingsError(problem.key, problem.problem, where) from None


def _place_of(
    key: str, overrides: Mapping[str, Any], environment: Mapping[str, str], file: Path | None
) -> str:
    """The variable or file line that set a key, or an empty string."""
    if _is_in(overrides, key):
        return ""
    for name in environment:
        path = name.removeprefix(_PREFIX).lower().replace("__", ".")
        if name.startswith(_PREFIX) and (key == path or key.startswith((f"{path}.", f"{path}["))):
            return name
        if name.startswith(_PREFIX) and "." in path and path.startswith(f"{key}."):
            return name  # a key instead of a section
    if file is None or not os.path.lexists(file):
        return ""
    from crawl4r.settings.yaml_file import line_of  # noqa: PLC0415 - see below

    line = line_of(file, key)
    return f"{file}, line {line}" if line else ""


def _is_in(plain: Any, key: str) -> bool:
    """Whether a source sets the key, or the list or value that contains it."""
    if not isinstance(plain, Mapping):
        return True
    name = next(
        (str(n) for n in plain if key == str(n) or key.startswith((f"{n}.", f"{n}["))), None
    )
    return name is not None and _is_in(plain.get(name), key[len(name) :].lstrip("."))


# The short names of frequent settings on the command line and in the Python API.
SHORT_NAMES = {
    "max_pages": "limits.pages",
    "max_bytes": "limits.bytes",
    "max_seconds": "limits.seconds",
    "budget": "limits.revisits",
    "depth": "limits.depth",
    "concurrency": "politeness.concurrency",
    "per_host": "politeness.per_host",
    "rate": "politeness.rate",
    "obey_robots": "politeness.obey_robots",
    "allow_private": "network.allow_private",
    "resolve": "network.resolve",
    "hosts": "scope.hosts",
    "allow": "scope.allow",
    "deny": "scope.deny",
    "include_subdomains": "scope.include_subdomains",
    "contact": "agent.contact",
    "user_agent": "agent.user_agent",
    "store": "store.kind",
    "store_patience": "resilience.store_patience",
    "extract": "content.extract",
    "probe": "content.probe",
    "collections": "content.collections",
    "tags": "content.tags",
    "index": "index.enabled",
    "languages": "index.languages",
    "explore": "explore.enabled",
    "logs": "logs.enabled",
    "proxies": "fetch.proxies.servers",
    "headers": "fetch.headers",
    "fresh_for": "fetch.fresh_for",
    "strategy": "strategy",
    "keywords": "keywords",
}


def overrides_of(**options: Any) -> dict[str, Any]:
    """Nested overrides from short names; options that are None or empty are ignored."""
    plain: dict[str, Any] = {}
    for name, value in options.items():
        if name not in SHORT_NAMES:
            raise SettingsError(
                name, f"is not an option; there are: {', '.join(sorted(SHORT_NAMES))}"
            )
        if value is None or value in ((), [], {}):
            continue
        *sections, key = SHORT_NAMES[name].split(".")
        place = plain
        for section in sections:
            place = place.setdefault(section, {})
        place[key] = list(value) if isinstance(value, tuple | set) else value
    return plain


def profile_names() -> list[str]:
    return sorted(file.stem for file in _PROFILES.glob("*.yaml"))


def profile_text(name: str) -> str:
    """The YAML of a bundled profile."""
    if name not in profile_names():
        raise SettingsError(
            "profile", f"{name!r} is unknown; there are: {', '.join(profile_names())}"
        )
    return (_PROFILES / f"{name}.yaml").read_text("utf-8")


def _of_file(file: Path) -> dict[str, Any]:
    # Imported late: most workspaces have no file, and importing YAML takes 10 ms.
    from crawl4r.settings.yaml_file import read_yaml_file  # noqa: PLC0415

    return _sections(read_yaml_file(file), str(file))


def _sections(plain: Any, source: str) -> dict[str, Any]:
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise SettingsError(source, "must be a mapping of sections")
    return plain


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge sections key by key; any other value of `above` replaces the one below.

    Deny lists are joined, so that a user's rule does not admit URLs that a profile denies.
    """
    merged = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = merge(merged[key], value)
        elif key in _ADDED_UP and isinstance(value, list) and isinstance(merged.get(key), list):
            merged[key] = [*merged[key], *(item for item in value if item not in merged[key])]
        else:
            merged[key] = value
    return merged


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """`CRAWL4R_POLITENESS__RATE=2` becomes `politeness: {rate: 2}`; values are YAML."""
    plain: dict[str, Any] = {}
    for name, text in environment.items():
        *sections, key = name.removeprefix(_PREFIX).lower().split("__")
        is_ours = bool(sections) or key in Settings.__struct_fields__
        if not name.startswith(_PREFIX) or not is_ours:  # the command line reads CRAWL4R_WORKSPACE
            continue
        place = plain
        for depth, section in enumerate(sections, 1):
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise SettingsError(".".join(sections[:depth]), f"{name} needs a section there")
        place[key] = _load_yaml(text, name)
    return plain


def _load_yaml(text: str, source: str) -> Any:
    from crawl4r.settings.yaml_file import parse_yaml  # noqa: PLC0415 - see above

    return parse_yaml(text, source)
