"""The sections of the configuration: every key, its unit, its default and its check."""

from __future__ import annotations

import re
from ipaddress import ip_address
from math import inf
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import asdict, force_setattr

from crawl4r._version import __version__
from crawl4r.errors import InvalidUrl, SettingsError
from crawl4r.fetch.headers import is_public
from crawl4r.fetch.port import FetchLimits
from crawl4r.fetch.proxies import Rotation
from crawl4r.politeness.backoff import Backoff
from crawl4r.politeness.breaker import BreakerRules
from crawl4r.politeness.host_budget import HostRules
from crawl4r.resilience.probes import endpoint_of
from crawl4r.resilience.stall import WatchRules
from crawl4r.search.languages import ALL, language_code, not_a_language
from crawl4r.settings.validate import ADDRESS, AS_WRITTEN, DURATION, IS_SET, SECRET, SIZE, Section
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split
from crawl4r.urls.credentials import are_hidden, without_credentials
from crawl4r.urls.egress import BAD_PORTS

_CONTACT = re.compile(r"\+?https?://[^\s)]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PROXY = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^@/\s]*@)?(?:[^@/:\s]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?/?"
)
_LAST_PORT = 65535
_CREDENTIALS = re.compile(r"[^:\s]*:.*|[A-Z][a-z]+ \S.*")
_TOKEN = re.compile(r"[A-Za-z_-]+")
Count = Annotated[int, Meta(ge=0)]
Bytes = Annotated[int, Meta(ge=0), SIZE]  # or 10MB, 1GiB
MoreBytes = Annotated[int, Meta(gt=0), SIZE]  # more than none
Seconds = Annotated[float, Meta(ge=0), DURATION]  # or 90s, 10m, 1h30m
MoreSeconds = Annotated[float, Meta(gt=0), DURATION]  # more than none
Share = Annotated[str, AS_WRITTEN]  # 500 or 20%
Secret = Annotated[str, SECRET]
Address = Annotated[str, ADDRESS]  # of a server, perhaps with a name and password
Octal = Annotated[str, AS_WRITTEN]  # '0644', or the number that YAML reads without quotes


class Agent(Section, frozen=True):
    """Who we say we are."""

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


class ScopeSection(Section, frozen=True):
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


class GroupLimit(Section, frozen=True):
    per: str  # RE2 pattern; its first group names what is counted
    max: Count  # URLs for each
    ignore_case: bool = False  # names that differ in their case only are one


class Traps(Section, frozen=True):
    """Places that make URLs without end. Budgets grow while their pages bring new content."""

    enabled: bool = True  # without them, only the limits above end such a place
    folder: Annotated[int, Meta(ge=1)] = 10_000  # URLs below one folder
    path: Annotated[int, Meta(ge=1)] = 500  # combinations of filters of one path
    repeats: Annotated[int, Meta(ge=2)] = 3  # times in a row that a part of a path may not come
    segments: Annotated[int, Meta(ge=4)] = 24  # of a path
    streak: Annotated[int, Meta(ge=1)] = 30  # pages in a row without new content


class Limits(Section, frozen=True):
    """How much, at most. Absent means no limit."""

    pages: Count | None = None  # kept, over the life of the workspace
    depth: Count | None = None  # links from a seed
    bytes: Bytes | None = None  # of content, over the life of the workspace; or 500MB, 2GiB
    seconds: Seconds | None = None  # of one run; or 90s, 10m, 1h30m, as wherever seconds are meant
    revisits: Share | None = None  # in a refresh, of pages likeliest to have changed: 500, or 20%
    traps: Traps = field(default_factory=Traps)
    groups: dict[str, GroupLimit] = {}  # name: {per: RE2 pattern, max: N for each, ignore_case}

    def __post_init__(self) -> None:
        for name in self.groups:
            if " " in name:
                raise SettingsError("groups", f"the name {name!r} has a space")
        if self.revisits is not None:
            force_setattr(self, "revisits", _number_or_share(self.revisits))

    def most_revisits(self, known: int) -> int:
        """How many of the known pages a refresh visits; of a share that is not 0, at least one."""
        text = self.revisits or "100%"
        if not text.endswith("%"):
            return int(text)
        share = float(text.removesuffix("%"))
        return max(int(known * share / 100), 1 if share else 0)


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


class Reading(Section, frozen=True):
    """The process that parses pages, which may be hostile."""

    seconds: MoreSeconds = 5.0  # of CPU time a page; then its reader is killed
    memory_mb: Annotated[int, Meta(ge=64)] = 1024  # for a reading process
    workers: Annotated[int, Meta(ge=1, le=64)] = 1  # reading processes


class Content(Section, frozen=True):
    """What is made of kept pages, and how it is told that they are pages."""

    extract: bool = True  # documents while pages are crawled; `crawl4r reprocess` makes them later
    probe: bool = True  # ask a host once for a page that cannot exist, when one looks like it
    seconds: MoreSeconds = 20.0  # of CPU time a page; then its reader is killed
    memory_mb: Annotated[int, Meta(ge=64)] = 1024  # for an extracting process
    workers: Annotated[int, Meta(ge=1, le=64)] = 1  # extracting processes
    # of a document's markdown; the bytes of its page stay whole
    max_characters: Annotated[int, Meta(ge=10_000, le=100_000_000)] = 4_000_000


class Indexing(Section, frozen=True):
    """What of the documents can be searched, and in which pieces."""

    enabled: bool = True  # index while pages are crawled; `crawl4r index` does it later
    languages: list[str] = field(
        default_factory=lambda: ["en"]
    )  # ISO 639, of crawled documents; all, or empty, for every language
    near_duplicates: bool = False  # also documents that say almost the same as an older one
    max_tokens: Annotated[int, Meta(ge=16, le=8192)] = 512  # in a passage
    # in the last passage of a section, if the one before it has enough; half of max_tokens at most
    min_tokens: Annotated[int, Meta(ge=0, le=4096)] = 32
    # that a passage repeats of the one before it in its section; half of max_tokens at most
    overlap_tokens: Annotated[int, Meta(ge=0, le=4096)] = 0
    keyword: Address = "embedded"  # or postgresql://..., when one machine is not enough
    vectors: Address = "embedded"  # or the http:// address of a Qdrant server
    vectors_key: Secret = ""  # its API key; better in the environment: CRAWL4R_INDEX__VECTORS_KEY
    # How names of schemas and collections on those servers begin; each index gets one of its own.
    collection: str = "crawl4r"

    def __post_init__(self) -> None:
        languages = [language_code(name) or name.lower() for name in self.languages]
        for code, name in zip(languages, self.languages, strict=True):
            if code != ALL and not language_code(name):
                raise SettingsError("languages", f"{not_a_language(name)}; {ALL} is every language")
        force_setattr(self, "languages", languages)
        if self.overlap_tokens > self.max_tokens // 2:
            raise SettingsError(
                "overlap_tokens",
                f"must be at most {self.max_tokens // 2}, half of index.max_tokens",
            )
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", self.collection):
            raise SettingsError(
                "collection", "must be up to 41 of a-z, 0-9 and '_', the first of them a letter"
            )


class Embedding(Section, frozen=True):
    """Who turns texts into vectors."""

    # auto: the local model where it is installed, else none; minilm, static, tei, openai or none
    kind: Literal["auto", "minilm", "static", "tei", "openai", "none"] = "auto"
    url: Address = ""  # of a TEI or an OpenAI-compatible server
    model: str = ""  # the name that an OpenAI-compatible server knows it by
    api_key: Secret = ""  # better in the environment: CRAWL4R_EMBEDDER__API_KEY
    threads: Annotated[int, Meta(ge=0)] = 0  # of the local model; 0: one a core

    def __post_init__(self) -> None:
        if self.kind in {"tei", "openai"} and not self.url:
            raise SettingsError(
                "", f"kind {self.kind} needs the address of the server in embedder.url"
            )


class Searching(Section, frozen=True):
    """How results are ranked."""

    fusion: Literal["convex", "rrf"] = "convex"  # of scores, or of ranks
    keyword_weight: Annotated[float, Meta(ge=0)] = 0.3  # of both, in convex fusion
    vector_weight: Annotated[float, Meta(ge=0)] = 0.7  # of both, in convex fusion
    rrf_k: Annotated[int, Meta(ge=1)] = 60  # of rrf: the more, the less a first rank is worth
    per_document: Count = 2  # passages of one document; 0: any number
    reranker: Address = ""  # of a TEI server, or a folder with an ONNX cross-encoder

    def __post_init__(self) -> None:
        if not 0 < self.keyword_weight + self.vector_weight < inf:
            raise SettingsError(
                "keyword_weight", "or vector_weight must be more than 0, both finite"
            )


class Exploring(Section, frozen=True):
    """What is tried when the links of a host run dry."""

    enabled: bool = True  # all that follows; without it, links alone are followed
    sitemaps: bool = True  # those that robots.txt names, else the usual places
    feeds: bool = True  # that the first pages name
    pagination: bool = True  # one past the last known page of a list, while that brings new pages
    archives: bool = True  # /archive and the like, and date paths like those of known pages
    common_crawl: Address = ""  # of an index, e.g. https://.../CC-MAIN-2026-40-index
    again_after: Seconds = 24 * 3600.0  # seconds, then sitemaps are read again
    max_listings: Count = 500  # sitemaps, their indexes and further pages of feeds, a host
    max_nesting: Annotated[int, Meta(ge=1)] = 3  # sitemaps in sitemaps: an index, and what it names


class Spooling(Section, frozen=True):
    """Separated mode: what a discoverer finds, for a scraper to fetch."""

    max_backlog: Annotated[int, Meta(ge=1)] = 10_000  # discoveries that wait; then it is held
    segment_mb: Annotated[int, Meta(ge=1)] = 16  # then a new segment begins
    # What becomes of segments that were read: archive (spool/archived), delete or keep.
    drained: Literal["archive", "delete", "keep"] = "archive"


class Resilience(Section, frozen=True):
    """How a crawl that nobody looks at goes on, or says why it does not."""

    stall_seconds: MoreSeconds = 300.0  # of silence though something is due
    probe_hosts: list[str] = []  # host:port or URLs that answer if anybody does; empty: our hosts
    probe_seconds: MoreSeconds = 30.0  # between looks for a network that is gone
    network_failures: Annotated[int, Meta(ge=1)] = 10  # in a row, then the probes are asked at once
    memory_mb: Count = 0  # without mapped files; above it the crawl ends with code 6; 0: no limit
    leak_mb_hour: Annotated[float, Meta(ge=0)] = 0.0  # likewise when every hour adds more; 0: off
    store_patience: Seconds = 600.0  # for a store that cannot be written; then code 4; 0: at once

    def __post_init__(self) -> None:
        for place in self.probe_hosts:
            try:
                port = endpoint_of(place).port
            except ValueError as problem:
                words = without_credentials(str(problem))
                raise SettingsError("probe_hosts", words[:1].lower() + words[1:]) from None
            if port in BAD_PORTS:
                raise SettingsError(
                    "probe_hosts",
                    f"{without_credentials(place)!r}: the egress gate connects to no such port",
                )

    def rules(self) -> WatchRules:
        return WatchRules(**asdict(self))


class Store(Section, frozen=True):
    """How bytes are kept. A workspace stays with the kind it began with."""

    # segments, or files: one a page; auto: what the workspace has, segments in a new one
    kind: Literal["auto", "segments", "files"] = "auto"
    level: Annotated[int, Meta(ge=1, le=19)] = 3  # zstd
    segment_mb: Annotated[int, Meta(ge=1)] = 256  # then a new segment begins
    permissions: Octal = "0644"  # octal, of stored files

    def __post_init__(self) -> None:
        force_setattr(self, "permissions", _octal(self.permissions))

    @property
    def mode(self) -> int:
        return int(self.permissions, 8)


class Logs(Section, frozen=True):
    """CSV files for analysts in logs/, exact after any crash; `crawl4r replay` makes them later."""

    enabled: bool = False  # write them while crawling
    pages: bool = True  # pages.csv, a row a capture
    edges: bool = True  # edges.csv, a row a link of a kept page
    metrics: bool = True  # crawl_metrics.csv, tallies and gauges over time
    metrics_seconds: MoreSeconds = 10.0  # between two looks at them


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


def _number_or_share(written: object) -> str:
    text = str(written)
    share = text.removesuffix("%")
    if re.fullmatch(r"\d{1,12}", text):
        return text
    if text == share or not re.fullmatch(r"\d{1,3}(\.\d+)?", share) or float(share) > 100:
        raise SettingsError(
            "revisits", "must be a number of pages like 500, or a share of them like 20%"
        )
    return text


def _octal(written: object) -> str:
    """YAML reads 0644 as the number that it is in octal."""
    if isinstance(written, bool) or (isinstance(written, int) and not 0 <= written <= 0o777):
        raise SettingsError("permissions", "must be octal; quote it, like '0644'")
    text = f"{written:04o}" if isinstance(written, int) else str(written).removeprefix("0o")
    if not re.fullmatch(r"[0-7]{3,4}", text):
        raise SettingsError("permissions", "must be octal, like '0644'")
    return text
