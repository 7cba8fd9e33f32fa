"""The only reader of configuration files and of the environment.

`crawl4r.yaml` in the workspace, then `CRAWL4R_SECTION__KEY` variables, then command-line options, each
over the one before. Every field is checked here; a mistake is reported with its dotted name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import resources
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from crawl4r import __version__
from crawl4r.crawl import CrawlLimits
from crawl4r.errors import InvalidUrl, SettingsError
from crawl4r.fetch.curl import CurlLimits
from crawl4r.fetch.headers import check_header
from crawl4r.fetch.proxies import Rotation
from crawl4r.frontier.priority import Strategy
from crawl4r.reading import ReadingRules
from crawl4r.resilience.breaker import BreakerRules
from crawl4r.resilience.politeness import HostRules
from crawl4r.resilience.retry import Backoff
from crawl4r.robots_gate import RobotsRules
from crawl4r.urls.address import AddressGate
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split
from crawl4r.urls.scope import GroupCap, Scope, ScopeRules

FILE_NAME = "crawl4r.yaml"
_PREFIX = "CRAWL4R_"
_CONTACT = re.compile(r"\+?https?://[^\s)]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PROXY = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^@/\s]*@)?(?:[^@/:\s]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?/?"
)
_CREDENTIALS = re.compile(r"[^:\s]*:.*|[A-Z][a-z]+ \S.*")
_TOKEN = re.compile(r"[A-Za-z_-]+")
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False
    )


class Agent(_Section):
    """Who we say we are."""

    user_agent: str = f"Crawlr/{__version__} (crawl4r)"  # the robots token stands first
    contact: str = ""  # a URL or an address, added to the user agent
    require_contact: bool = False  # refuse to crawl without one
    robots_token: str = "crawlr"  # letters, "-" and "_" only (RFC 9309)

    @field_validator("robots_token")
    @classmethod
    def _is_token(cls, value: str) -> str:
        if not _TOKEN.fullmatch(value):
            raise ValueError("must be letters, '-' and '_' only (RFC 9309 allows no digit)")
        return value

    @property
    def header(self) -> str:
        if self.contact and self.contact not in self.user_agent:
            return f"{self.user_agent} (+{self.contact})"
        return self.user_agent

    @property
    def has_contact(self) -> bool:
        return bool(_CONTACT.search(self.header))


class ScopeSection(_Section):
    """Which URLs belong to the crawl. No hosts: the hosts of the seeds."""

    hosts: list[str] = []  # host or host:port
    include_subdomains: bool = False  # of the hosts above
    denied_hosts: list[str] = []  # with everything below them
    allow: list[str] = []  # RE2 patterns; when given, one must match
    deny: list[str] = []  # RE2 patterns
    page_types: dict[str, str] = {}  # name: RE2 pattern, the first match names the page
    only_page_types: bool = False  # refuse what no page type matches
    drop_all_params: bool = False  # no query at all, but for keep_params
    drop_tracking: bool = True  # utm_..., click ids, session ids
    drop_params: list[str] = []  # more names to drop
    keep_params: list[str] = []  # never dropped
    sort_params: bool = True  # ?b=1&a=2 and ?a=2&b=1 are one page
    strip_trailing_slash: bool = False  # only where /a and /a/ are one page
    follow_nofollow: bool = True  # links marked nofollow are recorded either way

    def canonical(self) -> CanonicalRules:
        return CanonicalRules(
            drop_all_params=self.drop_all_params,
            drop_tracking=self.drop_tracking,
            drop_params=frozenset(name.lower() for name in self.drop_params),
            keep_params=frozenset(name.lower() for name in self.keep_params),
            sort_params=self.sort_params,
            strip_trailing_slash=self.strip_trailing_slash,
        )


class GroupLimit(_Section):
    per: str  # RE2 pattern; its first group names what is counted
    max: Count  # URLs for each


class Limits(_Section):
    """How much, at most. Absent means no limit."""

    pages: Count | None = None  # kept, over the life of the workspace
    depth: Count | None = None  # links from a seed
    bytes: Count | None = None  # of content, over the life of the workspace
    seconds: Seconds | None = None  # of one run
    groups: dict[str, GroupLimit] = {}  # name: {per: RE2 pattern, max: N for each captured text}

    @field_validator("groups")
    @classmethod
    def _names_have_no_space(cls, value: dict[str, GroupLimit]) -> dict[str, GroupLimit]:
        for name in value:
            if " " in name:
                raise ValueError(f"the name {name!r} has a space")
        return value


class Politeness(_Section):
    """What one host has to bear."""

    rate: Annotated[float, Field(ge=0)] = 1.0  # requests a second; 0 is no delay
    per_host: Annotated[int, Field(ge=1)] = 1  # requests at once
    concurrency: Annotated[int, Field(ge=1, le=2000)] = 16  # requests at once over all hosts
    obey_robots: bool = True  # RFC 9309
    robots_ttl: Seconds = 24 * 3600.0  # seconds an answer is kept, also across restarts
    delay_cap: Seconds = 60.0  # seconds; the longest crawl-delay or slow-down that is honoured
    retry_after_cap: Seconds = 3600.0  # seconds; the longest Retry-After that is honoured
    breaker_threshold: Annotated[int, Field(ge=1)] = 5  # failures in a row
    breaker_cooldown: Seconds = 30.0  # seconds, doubling
    breaker_give_up: Annotated[int, Field(ge=1)] = 6  # openings in a row, then not in this run

    def host_rules(self) -> HostRules:
        return HostRules(
            delay=1.0 / self.rate if self.rate else 0.0,
            per_host=self.per_host,
            delay_cap=self.delay_cap,
            retry_after_cap=self.retry_after_cap,
            breaker=BreakerRules(
                self.breaker_threshold, self.breaker_cooldown, give_up_after=self.breaker_give_up
            ),
        )


class Proxies(_Section):
    """A pool; one that fails three times in a row rests for a while."""

    servers: list[str] = []  # http://, https://, socks5h:// ..., credentials allowed
    rotation: Rotation = Rotation.ROUND_ROBIN  # round-robin, least-used or random

    @field_validator("servers")
    @classmethod
    def _are_proxies(cls, value: list[str]) -> list[str]:
        for server in value:
            if not _PROXY.fullmatch(server):
                raise ValueError(f"{_without_password(server)!r} is not like http://host:3128")
        return value


class Fetching(_Section):
    """How a page is asked for, and how much of an answer is taken."""

    connect_timeout: Annotated[float, Field(gt=0)] = 10.0  # seconds
    timeout: Annotated[float, Field(gt=0)] = 60.0  # seconds for the whole answer
    max_bytes: Annotated[int, Field(gt=0)] = 32 * 1024**2  # on the wire
    max_decoded_bytes: Annotated[int, Field(gt=0)] = 32 * 1024**2  # after unpacking
    max_redirects: Count = 10  # hops, each judged by scope and robots
    retries: Count = 3  # after the first attempt
    backoff_base: Seconds = 1.0  # seconds, doubling with jitter
    backoff_cap: Seconds = 60.0  # seconds
    http2: bool = True  # where the server offers it over TLS
    cookies: bool = True  # one jar a crawl
    language: str = "en"  # Accept-Language
    headers: dict[str, str] = {}  # more of them, for every request
    auth: dict[str, str] = {}  # origin: "user:password" or "Bearer ...", for that origin only
    proxies: Proxies = Proxies()

    @field_validator("auth")
    @classmethod
    def _have_an_origin(cls, value: dict[str, str]) -> dict[str, str]:
        spelled = {}
        for origin, credentials in value.items():
            try:
                spelled[split(canonicalize(origin)).origin] = credentials
            except InvalidUrl:
                raise ValueError(f"{origin!r} is not an origin like https://example.org") from None
            if not _CREDENTIALS.fullmatch(credentials):
                raise ValueError(f"the value for {origin} is not 'user:password' or 'Bearer ...'")
        return spelled

    def limits(self) -> CurlLimits:
        return CurlLimits(
            connect_timeout=self.connect_timeout,
            timeout=self.timeout,
            max_bytes=self.max_bytes,
            max_decoded_bytes=self.max_decoded_bytes,
        )

    def backoff(self) -> Backoff:
        return Backoff(self.retries, self.backoff_base, self.backoff_cap)


class Network(_Section):
    """What may be connected to."""

    allow_private: list[str] = []  # networks or hosts that the egress gate lets through
    resolve: dict[str, str] = {}  # host: address, instead of DNS
    ca_file: str | None = None  # PEM, instead of the bundled roots

    @field_validator("resolve")
    @classmethod
    def _are_addresses(cls, value: dict[str, str]) -> dict[str, str]:
        for host, address in value.items():
            try:
                ip_address(address)
            except ValueError:
                raise SettingsError(
                    f"network.resolve.{host}", f"{address!r} is not an address"
                ) from None
        return {host.lower(): address for host, address in value.items()}


class Reading(_Section):
    """The process that parses pages, which may be hostile."""

    seconds: Annotated[float, Field(gt=0)] = 5.0  # for one page, then its reader is killed
    memory_mb: Annotated[int, Field(ge=64)] = 1024  # for a reading process
    workers: Annotated[int, Field(ge=1, le=64)] = 1  # reading processes


class Store(_Section):
    """How bytes are kept. A workspace stays with the kind it began with."""

    kind: Annotated[str, Field(pattern="^(segments|files)$")] = "segments"  # or files: one a page
    level: Annotated[int, Field(ge=1, le=19)] = 3  # zstd
    segment_mb: Annotated[int, Field(ge=1)] = 256  # then a new segment begins
    permissions: str = "0644"  # octal, of stored files

    @property
    def mode(self) -> int:
        return int(self.permissions, 8)

    @field_validator("permissions", mode="before")
    @classmethod
    def _is_octal(cls, value: object) -> str:
        if isinstance(value, bool) or (isinstance(value, int) and not 0 <= value <= 0o777):
            raise ValueError("must be octal; quote it, like '0644'")
        text = f"{value:04o}" if isinstance(value, int) else str(value).removeprefix("0o")
        if not re.fullmatch(r"[0-7]{3,4}", text):
            raise ValueError("must be octal, like '0644'")
        return text


class Settings(_Section):
    """Everything a crawl can be told."""

    seeds: list[str] = []  # where to begin when no URL is given
    strategy: Strategy = Strategy.BFS  # bfs, dfs or best-first
    keywords: list[str] = []  # for best-first
    agent: Agent = Agent()
    scope: ScopeSection = ScopeSection()
    limits: Limits = Limits()
    politeness: Politeness = Politeness()
    fetch: Fetching = Fetching()
    network: Network = Network()
    reading: Reading = Reading()
    store: Store = Store()

    @model_validator(mode="after")
    def _compiles(self) -> Settings:
        """Patterns, networks and headers are tried now, so that a mistake never waits for a page."""
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
                "this profile asks for one: a URL or an e-mail address where the site's owner can "
                "reach you",
            )
        return self

    def scope_rules(self, seed_hosts: list[str]) -> ScopeRules:
        caps = [GroupCap(name, group.per, group.max) for name, group in self.limits.groups.items()]
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

    def reading_rules(self, seed_hosts: list[str]) -> ReadingRules:
        return ReadingRules(
            scope=self.scope_rules(seed_hosts),
            canonical=self.scope.canonical(),
            keywords=self.keywords,
            max_depth=self.limits.depth,
            follow_nofollow=self.scope.follow_nofollow,
        )

    def robots_rules(self) -> RobotsRules:
        token = self.agent.robots_token
        agents = (token, "crawl4r") if token == "crawlr" else (token,)
        return RobotsRules(agents, self.politeness.obey_robots, self.politeness.robots_ttl)

    def crawl_limits(self) -> CrawlLimits:
        return CrawlLimits(
            self.politeness.concurrency, self.limits.pages, self.limits.bytes, self.limits.seconds
        )


def load_settings(
    file: Path | None = None,
    *,
    profile: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from a profile, a file, the environment and `overrides`, the later over the earlier."""
    merged: dict[str, Any] = {}
    if profile:
        merged = _merge(merged, _parse(profile_text(profile), f"profile {profile}"))
    if file is not None and file.exists():
        merged = _merge(merged, _parse(_read(file), str(file)))
    merged = _merge(merged, _from_environment(os.environ if environment is None else environment))
    merged = _merge(merged, overrides or {})
    try:
        return Settings.model_validate(merged)
    except ValidationError as problem:
        raise _first_problem(problem) from None


# What the command line and the Python API call the settings that people change most.
SHORT_NAMES = {
    "max_pages": "limits.pages",
    "max_bytes": "limits.bytes",
    "max_seconds": "limits.seconds",
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
    "proxies": "fetch.proxies.servers",
    "headers": "fetch.headers",
    "strategy": "strategy",
    "keywords": "keywords",
}


def overrides_of(**options: Any) -> dict[str, Any]:
    """Nested overrides from short names; options that are None or empty say nothing."""
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
    folder = resources.files("crawl4r") / "profiles"
    return sorted(
        item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml")
    )


def profile_text(name: str) -> str:
    """The YAML of a profile that ships with crawl4r."""
    if name not in profile_names():
        raise SettingsError(
            "profile", f"{name!r} is unknown; there are: {', '.join(profile_names())}"
        )
    return (resources.files("crawl4r") / "profiles" / f"{name}.yaml").read_text("utf-8")


def _without_password(proxy: str) -> str:
    return re.sub(r"//[^@/]*@", "//***@", proxy)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError(str(file), f"cannot be read: {problem}") from problem


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        plain = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise SettingsError(source, f"is not YAML: {problem}") from problem
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise SettingsError(source, "must be a mapping of sections")
    return plain


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = _merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """`CRAWL4R_POLITENESS__RATE=2` is `politeness: {rate: 2}`; values are read as YAML."""
    plain: dict[str, Any] = {}
    for name, text in environment.items():
        *sections, key = name.removeprefix(_PREFIX).lower().split("__")
        is_ours = bool(sections) or key in Settings.model_fields
        if not name.startswith(_PREFIX) or not is_ours:  # CRAWL4R_WORKSPACE is the command line's
            continue
        place = plain
        for depth, section in enumerate(sections, 1):
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise SettingsError(".".join(sections[:depth]), f"{name} needs a section there")
        try:
            place[key] = yaml.safe_load(text)
        except yaml.YAMLError as problem:
            raise SettingsError(name, f"is not YAML: {problem}") from problem
    return plain


def _first_problem(problem: ValidationError) -> SettingsError:
    error = problem.errors()[0]
    inner = error.get("ctx", {}).get("error")
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return SettingsError(key, "is not a setting; `crawl4r configure --show` lists them all")
    message = str(inner) if inner else error["msg"]
    return SettingsError(key, message[:1].lower() + message[1:])
