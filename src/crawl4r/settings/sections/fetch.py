"""How a server is asked: by whom, how often, through what, and how much of an answer is taken."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any

from msgspec import Meta, field
from msgspec.structs import force_setattr

from crawl4r._version import __version__
from crawl4r.errors import InvalidUrl, SettingsError
from crawl4r.fetch.headers import is_public
from crawl4r.fetch.port import FetchLimits
from crawl4r.fetch.proxies import Rotation
from crawl4r.politeness.backoff import Backoff
from crawl4r.politeness.breaker import BreakerRules
from crawl4r.politeness.host_budget import HostRules
from crawl4r.settings.field_kinds import Address, Count, MoreBytes, MoreSeconds, Seconds, Secret
from crawl4r.settings.validate import IS_SET, Section
from crawl4r.urls.canonical import canonicalize, split
from crawl4r.urls.credentials import are_hidden, without_credentials

_CONTACT = re.compile(r"\+?https?://[^\s)]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PROXY = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^@/\s]*@)?(?:[^@/:\s]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?/?"
)
_LAST_PORT = 65535
_CREDENTIALS = re.compile(r"[^:\s]*:.*|[A-Z][a-z]+ \S.*")
_TOKEN = re.compile(r"[A-Za-z_-]+")


class Agent(Section, frozen=True):
    """The name that requests carry, and how a site can reach its operator."""

    user_agent: str = f"Crawlr/{__version__} (crawl4r)"  # the robots token stands first
    contact: str = ""  # a URL or an address, added to the user agent
    require_contact: bool = False  # refuse to crawl without one
    robots_token: str = "crawlr"  # letters, "-" and "_" only (RFC 9309)

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.robots_token):
            raise SettingsError(
                "robots_token", "must be letters, '-' and '_' only (RFC 9309 allows no digit)"
            )

    @property
    def header(self) -> str:
        if self.contact and self.contact not in self.user_agent:
            return f"{self.user_agent} (+{self.contact})"
        return self.user_agent

    @property
    def has_contact(self) -> bool:
        return bool(_CONTACT.search(self.header))


class Politeness(Section, frozen=True):
    """What one host has to bear."""

    rate: Annotated[float, Meta(ge=0)] = 1.0  # requests a second; 0 is no delay
    per_host: Annotated[int, Meta(ge=1)] = 1  # requests at once
    concurrency: Annotated[int, Meta(ge=1, le=2000)] = 16  # requests at once over all hosts
    obey_robots: bool = True  # RFC 9309
    robots_ttl: Seconds = 24 * 3600.0  # seconds an answer is kept, also across restarts
    delay_cap: Seconds = 60.0  # seconds; the longest crawl-delay or slow-down that is honoured
    retry_after_cap: Seconds = 3600.0  # seconds; the longest Retry-After that is honoured
    challenge_rest: Seconds = 5.0  # seconds after a challenge; twice as many after the next
    breaker_threshold: Annotated[int, Meta(ge=1)] = 5  # failures in a row
    breaker_cooldown: Seconds = 30.0  # seconds, doubling
    breaker_give_up: Annotated[int, Meta(ge=1)] = 6  # openings in a row, then not in this run

    def host_rules(self) -> HostRules:
        return HostRules(
            delay=1.0 / self.rate if self.rate else 0.0,
            per_host=self.per_host,
            delay_cap=self.delay_cap,
            retry_after_cap=self.retry_after_cap,
            challenge_rest=self.challenge_rest,
            breaker=BreakerRules(
                self.breaker_threshold, self.breaker_cooldown, give_up_after=self.breaker_give_up
            ),
        )


class Proxies(Section, frozen=True):
    """A pool; one that fails three times in a row rests for a while."""

    servers: list[Address] = []  # http://, https://, socks5h:// ..., credentials allowed
    rotation: Rotation = Rotation.ROUND_ROBIN  # round-robin, least-used or random

    def __post_init__(self) -> None:
        for server in self.servers:
            found = _PROXY.fullmatch(server)
            if not found or int(found[1] or 0) > _LAST_PORT:
                raise SettingsError(
                    "servers", f"{without_credentials(server)!r} is not like http://host:3128"
                )
            if are_hidden(server):
                raise SettingsError(
                    "servers",
                    f"the name and password of {server} are not kept: give them again by --proxy, in "
                    "crawl4r.yaml or in CRAWL4R_FETCH__PROXIES__SERVERS",
                )


class Fetching(Section, frozen=True):
    """How a page is asked for, and how much of an answer is taken."""

    connect_timeout: MoreSeconds = 10.0  # seconds
    timeout: MoreSeconds = 60.0  # seconds for the whole answer
    max_bytes: MoreBytes = 32 * 1024**2  # on the wire
    max_decoded_bytes: MoreBytes = 32 * 1024**2  # after unpacking
    types: list[str] = []  # media types to keep, like text/html or text/*; empty: all
    max_redirects: Count = 10  # hops, each judged by scope and robots
    retries: Count = 3  # after the first attempt
    fresh_for: Seconds = 3600.0  # an answer also serves other crawls of the store; 0: none
    backoff_base: Seconds = 1.0  # seconds, doubling with jitter
    backoff_cap: Seconds = 60.0  # seconds
    http2: bool = True  # where the server offers it over TLS
    cookies: bool = True  # one jar a crawl
    language: str = "en"  # Accept-Language
    headers: dict[str, str] = {}  # more of them, for every request
    auth: dict[str, Secret] = {}  # origin: "user:password" or "Bearer ...", for that origin only
    proxies: Proxies = field(default_factory=Proxies)

    def __post_init__(self) -> None:
        for name in self.types:
            if not re.fullmatch(r"[\w.+-]+/([\w.+-]+|\*)", name):
                raise SettingsError(
                    "types", f"{name!r} is not a media type like text/html or text/*"
                )
        force_setattr(self, "types", [name.lower() for name in self.types])
        force_setattr(self, "auth", _by_origin(self.auth))

    def shown(self) -> dict[str, Any]:
        headers = {
            name: value if is_public(name) or not value else IS_SET
            for name, value in self.headers.items()
        }
        return {**super().shown(), "headers": headers}

    def limits(self) -> FetchLimits:
        return FetchLimits(
            connect_timeout=self.connect_timeout,
            timeout=self.timeout,
            max_bytes=self.max_bytes,
            max_decoded_bytes=self.max_decoded_bytes,
        )

    def backoff(self) -> Backoff:
        return Backoff(self.retries, self.backoff_base, self.backoff_cap)


class Network(Section, frozen=True):
    """What may be connected to."""

    allow_private: list[str] = []  # networks or hosts that the egress gate lets through
    resolve: dict[str, str] = {}  # host: address, instead of DNS
    ca_file: str | None = None  # PEM, instead of the bundled roots

    def __post_init__(self) -> None:
        for host, address in self.resolve.items():
            try:
                ip_address(address)
            except ValueError:
                raise SettingsError(f"resolve.{host}", f"{address!r} is not an address") from None
        spelled = {host.lower(): address for host, address in self.resolve.items()}
        force_setattr(self, "resolve", spelled)


def _by_origin(auth: dict[str, str]) -> dict[str, str]:
    """The same, with the one spelling of each origin."""
    spelled = {}
    for origin, credentials in auth.items():
        try:
            spelled[split(canonicalize(origin)).origin] = credentials
        except InvalidUrl:
            raise SettingsError(
                "auth", f"{origin!r} is not an origin like https://example.org"
            ) from None
        if not _CREDENTIALS.fullmatch(credentials):
            raise SettingsError(
                "auth", f"the value for {origin} is not 'user:password' or 'Bearer ...'"
            )
    return spelled
