"""The sections of the configuration: every key, its unit, its default and its check."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from crawl4r import __version__
from crawl4r.errors import InvalidUrl, SettingsError
from crawl4r.fetch.port import FetchLimits
from crawl4r.fetch.proxies import Rotation
from crawl4r.resilience.breaker import BreakerRules
from crawl4r.resilience.politeness import HostRules
from crawl4r.resilience.probing import endpoint_of
from crawl4r.resilience.retry import Backoff
from crawl4r.resilience.stalling import WatchRules
from crawl4r.urls.address import BAD_PORTS
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split

_CONTACT = re.compile(r"\+?https?://[^\s)]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PROXY = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^@/\s]*@)?(?:[^@/:\s]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?/?"
)
_CREDENTIALS = re.compile(r"[^:\s]*:.*|[A-Z][a-z]+ \S.*")
_TOKEN = re.compile(r"[A-Za-z_-]+")
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False
    )


class Agent(Section):
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


class ScopeSection(Section):
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


class GroupLimit(Section):
    per: str  # RE2 pattern; its first group names what is counted
    max: Count  # URLs for each
    ignore_case: bool = False  # names that differ in their case only are one


class Traps(Section):
    """Places that make URLs without end. Budgets grow while their pages bring new content."""

    enabled: bool = True
    folder: Annotated[int, Field(ge=1)] = 10_000  # URLs below one folder
    path: Annotated[int, Field(ge=1)] = 500  # combinations of filters of one path
    repeats: Annotated[int, Field(ge=2)] = 3  # times in a row that a part of a path may not come
    segments: Annotated[int, Field(ge=4)] = 24  # of a path
    streak: Annotated[int, Field(ge=1)] = 30  # pages in a row without new content


class Limits(Section):
    """How much, at most. Absent means no limit."""

    pages: Count | None = None  # kept, over the life of the workspace
    depth: Count | None = None  # links from a seed
    bytes: Count | None = None  # of content, over the life of the workspace
    seconds: Seconds | None = None  # of one run
    revisits: str | None = None  # in a refresh, of pages likeliest to have changed: 500, or 20%
    traps: Traps = Traps()
    groups: dict[str, GroupLimit] = {}  # name: {per: RE2 pattern, max: N for each, ignore_case}

    @field_validator("groups")
    @classmethod
    def _names_have_no_space(cls, value: dict[str, GroupLimit]) -> dict[str, GroupLimit]:
        for name in value:
            if " " in name:
                raise ValueError(f"the name {name!r} has a space")
        return value

    @field_validator("revisits", mode="before")
    @classmethod
    def _is_number_or_share(cls, value: object) -> str | None:
        text = None if value is None else str(value)
        share = text.removesuffix("%") if text else ""
        if text is None or re.fullmatch(r"\d{1,12}", text):
            return text
        if text == share or not re.fullmatch(r"\d{1,3}(\.\d+)?", share) or float(share) > 100:
            raise ValueError("must be a number of pages like 500, or a share of them like 20%")
        return text

    def most_revisits(self, known: int) -> int:
        """How many of the known pages a refresh visits; of a share that is not 0, at least one."""
        text = self.revisits or "100%"
        if not text.endswith("%"):
            return int(text)
        share = float(text.removesuffix("%"))
        return max(int(known * share / 100), 1 if share else 0)


class Politeness(Section):
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


class Proxies(Section):
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


class Fetching(Section):
    """How a page is asked for, and how much of an answer is taken."""

    connect_timeout: Annotated[float, Field(gt=0)] = 10.0  # seconds
    timeout: Annotated[float, Field(gt=0)] = 60.0  # seconds for the whole answer
    max_bytes: Annotated[int, Field(gt=0)] = 32 * 1024**2  # on the wire
    max_decoded_bytes: Annotated[int, Field(gt=0)] = 32 * 1024**2  # after unpacking
    types: list[str] = []  # media types to keep, like text/html or text/*; empty: all
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

    @field_validator("types")
    @classmethod
    def _are_media_types(cls, value: list[str]) -> list[str]:
        for name in value:
            if not re.fullmatch(r"[\w.+-]+/([\w.+-]+|\*)", name):
                raise ValueError(f"{name!r} is not a media type like text/html or text/*")
        return [name.lower() for name in value]

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

    def limits(self) -> FetchLimits:
        return FetchLimits(
            connect_timeout=self.connect_timeout,
            timeout=self.timeout,
            max_bytes=self.max_bytes,
            max_decoded_bytes=self.max_decoded_bytes,
        )

    def backoff(self) -> Backoff:
        return Backoff(self.retries, self.backoff_base, self.backoff_cap)


class Network(Section):
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


class Reading(Section):
    """The process that parses pages, which may be hostile."""

    seconds: Annotated[float, Field(gt=0)] = 5.0  # for one page, then its reader is killed
    memory_mb: Annotated[int, Field(ge=64)] = 1024  # for a reading process
    workers: Annotated[int, Field(ge=1, le=64)] = 1  # reading processes


class Content(Section):
    """What is made of kept pages, and how it is told that they are pages."""

    extract: bool = True  # documents while pages are crawled; `crawl4r reprocess` makes them later
    probe: bool = True  # ask a host once for a page that cannot exist, when one looks like it
    seconds: Annotated[float, Field(gt=0)] = 20.0  # for one page, then its reader is killed
    memory_mb: Annotated[int, Field(ge=64)] = 1024  # for an extracting process
    workers: Annotated[int, Field(ge=1, le=64)] = 1  # extracting processes


class Indexing(Section):
    """What of the documents can be searched, and in which pieces."""

    enabled: bool = True  # index while pages are crawled; `crawl4r index` does it later
    languages: list[str] = ["en"]  # ISO 639, of crawled documents; empty for all
    near_duplicates: bool = False  # also documents that say almost the same as an older one
    max_tokens: Annotated[int, Field(ge=16, le=8192)] = 512  # in a passage
    keyword: str = "embedded"  # or postgresql://..., when one machine is not enough
    vectors: str = "embedded"  # or the http:// address of a Qdrant server
    vectors_key: str = ""  # its API key; better in the environment: CRAWL4R_INDEX__VECTORS_KEY
    # What schemas and collections on those servers are called; one a workspace.
    collection: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")] = "crawl4r"

    @field_validator("languages")
    @classmethod
    def _are_codes(cls, value: list[str]) -> list[str]:
        for code in value:
            if not re.fullmatch(r"[a-z]{2,3}", code):
                raise ValueError(f"{code!r} is not an ISO 639 code like en")
        return value


class Embedding(Section):
    """Who turns texts into vectors."""

    # auto: the local model where it is installed, else none; minilm, static, tei, openai or none
    kind: Annotated[str, Field(pattern="^(auto|minilm|static|tei|openai|none)$")] = "auto"
    url: str = ""  # of a TEI or an OpenAI-compatible server
    model: str = ""  # the name that an OpenAI-compatible server knows it by
    api_key: str = ""  # better in the environment: CRAWL4R_EMBEDDER__API_KEY
    threads: Annotated[int, Field(ge=0)] = 0  # of the local model; 0: one a core

    @model_validator(mode="after")
    def _has_an_address(self) -> Embedding:
        if self.kind in {"tei", "openai"} and not self.url:
            raise ValueError(f"kind {self.kind} needs the address of the server in embedder.url")
        return self


class Searching(Section):
    """How results are ranked."""

    fusion: Annotated[str, Field(pattern="^(convex|rrf)$")] = "convex"
    keyword_weight: Annotated[float, Field(ge=0)] = 0.3
    vector_weight: Annotated[float, Field(ge=0)] = 0.7
    per_document: Count = 2  # passages of one document; 0: any number
    reranker: str = ""  # http:// address of a TEI server, or a folder with an ONNX cross-encoder


class Exploring(Section):
    """What is tried when the links of a host run dry."""

    enabled: bool = True
    sitemaps: bool = True  # those that robots.txt names, else the usual places
    feeds: bool = True  # that the first pages name
    pagination: bool = True  # one past the last known page of a list, while that brings new pages
    archives: bool = True  # /archive and the like, and date paths like those of known pages
    common_crawl: str = ""  # http(s) address of an index, e.g. https://.../CC-MAIN-2026-40-index
    again_after: Seconds = 24 * 3600.0  # seconds, then sitemaps are read again


class Spooling(Section):
    """Separated mode: what a discoverer finds, for a scraper to fetch."""

    max_backlog: Annotated[int, Field(ge=1)] = 10_000  # discoveries that wait; then it is held
    segment_mb: Annotated[int, Field(ge=1)] = 16  # then a new segment begins
    # What becomes of segments that were read: archive (spool/archived), delete or keep.
    drained: Annotated[str, Field(pattern="^(archive|delete|keep)$")] = "archive"


class Resilience(Section):
    """How a crawl that nobody looks at goes on, or says why it does not."""

    stall_seconds: Annotated[float, Field(gt=0)] = 300.0  # of silence though something is due
    probe_hosts: list[str] = []  # host:port or URLs that answer if anybody does; empty: our hosts
    probe_seconds: Annotated[float, Field(gt=0)] = 30.0  # between looks for a network that is gone
    network_failures: Annotated[int, Field(ge=1)] = (
        10  # in a row, then the probes are asked at once
    )
    memory_mb: Count = 0  # without mapped files; above it the crawl ends with code 6; 0: no limit
    leak_mb_hour: Annotated[float, Field(ge=0)] = 0.0  # likewise when every hour adds more; 0: off
    store_patience: Seconds = 600.0  # for a store that cannot be written; then code 4; 0: at once

    @field_validator("probe_hosts")
    @classmethod
    def _can_be_connected_to(cls, value: list[str]) -> list[str]:
        for place in value:
            if endpoint_of(place).port in BAD_PORTS:
                raise ValueError(f"{place!r}: the egress gate connects to no such port")
        return value

    def rules(self) -> WatchRules:
        return WatchRules(**self.model_dump())


class Store(Section):
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


class Logs(Section):
    """CSV files for analysts in logs/, exact after any crash; `crawl4r replay` makes them later."""

    enabled: bool = False
    pages: bool = True  # pages.csv, a row a capture
    edges: bool = True  # edges.csv, a row a link of a kept page
    metrics: bool = True  # crawl_metrics.csv, tallies and gauges over time
    metrics_seconds: Annotated[float, Field(gt=0)] = 10.0  # between two looks at them


def _without_password(proxy: str) -> str:
    return re.sub(r"//[^@/]*@", "//***@", proxy)
