"""The values that travel between the stages. They are plain and immutable, and have no behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct, field


class UrlState(StrEnum):
    """Where a known URL stands. Only the frontier moves a URL from one state to another."""

    PENDING = "pending"  # may be leased as soon as its host is free
    LEASED = "leased"  # a running crawl holds it; a crash turns it back into pending
    WAITING = "waiting"  # failed for now, tried again when it is due
    DONE = "done"  # the server's final answer is in the archive (200, 301, 304, 404 ...)
    NEEDS_BROWSER = "needs-browser"  # a shell that scripts fill; a browser must visit it
    FAILED = "failed"  # no usable answer after every retry
    REFUSED = "refused"  # a rule of ours or of the site says no; never requested


class Verdict(StrEnum):
    """How a visit to a URL ended. The reason beside it says which limit, line or status."""

    OK = "ok"
    NOT_MODIFIED = "not-modified"
    REDIRECT = "redirect"
    HTTP_ERROR = "http-error"
    NETWORK_ERROR = "network-error"
    EGRESS_REFUSED = "egress-refused"
    TOO_LARGE = "too-large"
    UNWANTED = "unwanted-type"  # the body is of a type that the settings do not keep
    UNDECODABLE = "undecodable"
    HOSTILE = "hostile"  # headers without end
    UNREADABLE = "unreadable"  # the body made the process that read it fail
    BLOCKED = "blocked"  # a challenge, a captcha, a refusal or a rate limit instead of the page
    NEEDS_BROWSER = "needs-browser"  # a shell that only scripts fill
    LOGIN_WALL = "login-wall"
    PARKED = "parked"  # a domain for sale, or a registrar's or server's default page
    ERROR_PAGE = "error-page"  # an error, sent with status 200
    SOFT_404 = "soft-404"  # what the site shows for pages that do not exist
    TOO_SMALL = "too-small"
    NO_STRUCTURE = "no-structure"
    ROBOTS_DENIED = "robots-denied"
    ROBOTS_UNREACHABLE = "robots-unreachable"
    OUT_OF_SCOPE = "out-of-scope"
    CAPPED = "capped"


# A page came, but not the one that the URL stands for: kept, counted, and never a document.
REJECTED = frozenset(
    [
        Verdict.BLOCKED,
        Verdict.NEEDS_BROWSER,
        Verdict.LOGIN_WALL,
        Verdict.PARKED,
        Verdict.ERROR_PAGE,
        Verdict.SOFT_404,
        Verdict.TOO_SMALL,
        Verdict.NO_STRUCTURE,
    ]
)


_CAPS = ("depth ", "trap: ")  # the first words of rules that refuse a URL for now, not for good


def verdict_of(rule: str) -> Verdict:
    """The rule text of a URL that a rule for links refuses."""
    return Verdict.CAPPED if rule.startswith(_CAPS) else Verdict.OUT_OF_SCOPE


class FoundBy(StrEnum):
    """What kind of mention led to a URL."""

    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    REFRESH = "meta-refresh"
    CANONICAL = "canonical"
    HREFLANG = "hreflang"
    FRAME = "frame"
    NEXT = "next"
    PREVIOUS = "prev"
    IMPORT = "import"
    SPOOL = "spool"
    SITEMAP = "sitemap"
    FEED = "feed"  # an item of a feed
    FEED_LINK = "feed-link"  # the head of a page declares it as a feed
    COMMON_CRAWL = "common-crawl"
    USUAL_SITEMAP = "usual-sitemap"  # where many sites have a sitemap
    PLACE = "usual-place"  # where many sites have an archive
    PATTERN = "date-pattern"  # a period that the date paths of other URLs suggest
    PAGINATION = "pagination"  # one past the last known page of a list


class Found(NamedTuple):
    """A URL that a document (or the user) named, judged by the scope.

    A tuple, because a page holds dozens and they cross a process boundary.
    """

    url: str
    host: str
    depth: int
    by: str
    admitted: bool
    rule: str
    page_type: str = ""
    score: float = 0.0
    nofollow: bool = False
    groups: Sequence[str] = ()
    redirects: int = 0
    lastmod: float | None = None  # epoch seconds, as the sitemap, feed or index states it
    written: str = ""  # path and query as the page wrote them, if the canonical ones differ

    @property
    def is_listing(self) -> bool:
        return self.page_type == LISTING


# Guesses: neither the site nor the user named them.
GUESSED = frozenset(
    [FoundBy.USUAL_SITEMAP, FoundBy.PLACE, FoundBy.PATTERN, FoundBy.PAGINATION],
)
# Requested because they may name other URLs; no page links to them.
EXPLORED = GUESSED | {FoundBy.SITEMAP, FoundBy.COMMON_CRAWL}
LISTINGS = "explore.max_listings"  # the cap that listings of a host count against
LISTING = "listing"  # the page type of a document that only names URLs, like a sitemap


class Validators(Struct, frozen=True):
    """What the last good capture offers for a conditional request."""

    etag: str | None = None
    last_modified: str | None = None


class Lease(Struct, frozen=True):
    """One URL that this crawl alone may visit now."""

    url_id: int
    url: str
    host: str
    depth: int
    page_type: str = ""
    referrer: str | None = None
    attempts: int = 0
    redirects: int = 0
    by: str = FoundBy.LINK
    validators: Validators | None = None
    written: str = ""  # path and query as a page wrote them, if the canonical ones differ
    nofollow: bool = False
    is_revisit: bool = False  # the archive already holds content of it
    was_answered: bool = False  # the archive already holds an answer, with any status
    content: int | None = None  # the capture that the validators belong to
    priority: float = 0.0  # lower is sooner
    is_read: bool = True  # this crawl has read the links of that capture


class Response(Struct, frozen=True):
    """The answer of a server, with content codings removed."""

    url: str
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    sent_at: float  # monotonic seconds: when the request left
    latency: float  # seconds from `sent_at` to the last byte
    wire_bytes: int
    http_version: str = "1.1"
    address: str = ""
    proxy: str = ""

    def header(self, name: str) -> str | None:
        """The first value of a header, or None when it was not sent."""
        name = name.lower()
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def content_type(self) -> str:
        """The media type alone, in lower case; empty when the server named none."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


class Failure(Struct, frozen=True):
    """No usable answer. `transient` says whether asking again can help."""

    verdict: Verdict
    reason: str
    transient: bool
    sent_at: float = 0.0
    latency: float = 0.0
    status: int | None = None
    retry_after: float | None = None  # seconds the server asked us to wait
    proxy: str = ""
    hurts_host: bool = True  # counts against the host's breaker
    by_network: bool = False  # the network was down; not the fault of the host or page


class Capture(NamedTuple):
    """One visit that got an answer, as the archive keeps it.

    A tuple, because `_replace` is cheap: the hash and the id are known only when it is kept.
    """

    url: str
    fetched_at: float  # seconds since the epoch: when the request left
    status: int
    verdict: Verdict
    reason: str
    sha256: str | None
    bytes: int
    content_type: str
    encoding: str
    headers: Sequence[tuple[str, str]]
    etag: str | None
    last_modified: str | None
    page_type: str
    depth: int
    referrer: str | None
    latency_ms: int
    retries: int
    proxy: str = ""
    http_version: str = ""
    address: str = ""
    location: str | None = None
    request: int | None = None  # which headers were sent, see `archive/requests.py`
    crawl: int | None = None  # which crawl asked; None for an import
    id: int = 0


class Ending(NamedTuple):
    """How a lease ends, for the frontier."""

    url_id: int
    state: UrlState
    verdict: Verdict
    reason: str
    due_at: float | None = None  # epoch seconds, only for WAITING
    capture: int | None = None  # id of the capture, once the visit is recorded
    content: int | None = None  # the same id, when the capture holds the page's content
    is_blamed: bool = True  # a failure counts against the URL's retries


class Visit(Struct, frozen=True):
    """Everything that one lease produced. The keeper stores all of it or nothing."""

    lease: Lease
    ending: Ending
    capture: Capture | None = None
    body: bytes | None = None
    failure: Failure | None = None
    found: Sequence[Found] = field(default_factory=tuple)
    likeness: object = None  # set for a page that may be the host's soft 404
    links: Sequence[int] = ()  # fingerprints of the page's links, to tell whether it is new
    words: int = 0  # a fingerprint of the page's text, for the same purpose


class PageBody(NamedTuple):
    """The bytes of a page, with its URL and headers, for the reader."""

    body: bytes
    url: str
    content_type: str = "text/html"  # the whole header
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()


class ReadOptions(NamedTuple):
    """What is read of a page besides its document."""

    with_links: bool = True  # links, images and plain text
    repeated: Sequence[int] = ()  # fingerprints of blocks that belong to the site, to be left out
    learn: bool = False  # fingerprints of the blocks


class PageLink(NamedTuple):
    """A link as a person reading the page sees it."""

    url: str
    text: str
    section: str  # the heading above it
    rel: str = ""


class PageImage(NamedTuple):
    """An image of a page, and the text that stands for it."""

    url: str
    alt: str


class Document(NamedTuple):
    """The main text of a page. It is derived from a capture, so it can be made again."""

    url: str
    kind: str
    title: str
    markdown: str
    author: str = ""
    published: str = ""  # ISO 8601
    description: str = ""
    keywords: Sequence[str] = ()
    image: str = ""
    canonical: str = ""
    site_name: str = ""
    language: str = ""  # ISO 639; empty when unknown
    note: str = ""  # names what the extractor could not read
    external_id: str = ""  # the name that an import gave it


class PageVerdict(NamedTuple):
    """Is it a real page? `signals` name the evidence, the strongest first."""

    verdict: Verdict
    reason: str = ""
    signals: tuple[str, ...] = ()


class Extraction(NamedTuple):
    """The result of reading a stored body: always a verdict, and a document if there is text."""

    verdict: PageVerdict
    document: Document | None = None
    text: str = ""  # without marks; only when it was asked for
    links: Sequence[PageLink] = ()  # likewise
    images: Sequence[PageImage] = ()  # likewise
    signature: bytes = b""  # MinHash, to find near-duplicates
    bands: Sequence[int] = ()  # of the signature
    blocks: Sequence[int] = ()  # fingerprints, to learn which blocks repeat over a site


class HostMemory(Struct, frozen=True):
    """The state of a host that must survive a restart: its next request time and its failures."""

    host: str
    next_at: float  # epoch seconds
    delay: float  # seconds between requests after a slow-down; 0 without one
    failures: int
    openings: int
    open_until: float  # epoch seconds; 0 when the breaker is closed
