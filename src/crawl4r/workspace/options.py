"""Options of the Python API, as named arguments that mypy and editors know.

Each means what the option of the same name means on the command line. An option that is absent, None
or empty leaves the setting as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

Moment: TypeAlias = date | str | float  # a date or datetime, ISO 8601, or epoch seconds


class RequestOptions(TypedDict, total=False):
    """How sites are asked."""

    contact: str | None  # where a site's owner can reach you
    user_agent: str | None  # instead of crawl4r's own
    allow_private: Sequence[str]  # networks and hosts that the egress gate lets through
    resolve: Mapping[str, str]  # host: address, instead of DNS
    rate: float | None  # requests a second to a host
    per_host: int | None  # requests at once to a host
    obey_robots: bool | None  # go by robots.txt, which is the default
    proxies: Sequence[str]  # URLs of proxies
    headers: Mapping[str, str]  # to send with every request


class SiteOptions(RequestOptions, total=False):
    """Options of the functions that look at a site."""

    profile: str | None  # a bundled configuration, e.g. "github"


class CrawlOptions(RequestOptions, total=False):
    """What a crawl visits, how fast, and what it makes of its pages."""

    concurrency: int | None  # requests at once in all
    fresh_for: float | None  # seconds that an answer serves other crawls of the store; 0: none
    max_pages: int | None  # pages to keep at most
    max_bytes: int | None  # bytes to keep at most
    max_seconds: float | None  # how long a run may take
    budget: int | None  # pages of a refresh at most
    depth: int | None  # links from a seed
    hosts: Sequence[str]  # the hosts in scope; without them, those of the seeds
    include_subdomains: bool | None  # of the hosts in scope
    allow: Sequence[str]  # RE2 patterns: visit only URLs that match one
    deny: Sequence[str]  # RE2 patterns: skip URLs that match one
    strategy: Literal["bfs", "dfs", "best-first"] | None  # the order of visits
    keywords: Sequence[str]  # of the URLs that best-first takes first
    explore: bool | None  # look for pages that no link names
    probe: bool | None  # ask each host for a page that cannot exist
    extract: bool | None  # make documents of pages
    index: bool | None  # make documents searchable while crawling
    languages: Sequence[str]  # that are indexed; "all" for every one
    collections: Sequence[str]  # that the documents of the crawl belong to
    tags: Sequence[str]  # that they get
    logs: bool | None  # write pages.csv, edges.csv and metrics
    store: Literal["segments", "files"] | None  # how bytes are kept
    store_patience: float | None  # seconds to wait for a store that cannot be written


class SearchOptions(TypedDict, total=False):
    """Which passages are searched, and how they are ranked."""

    limit: int  # results at most
    mode: Literal["hybrid", "keyword", "vector"]  # words and meaning, or one of them
    domains: Sequence[str]  # these and the domains below them
    types: Sequence[str]  # "html", "pdf" ..., or "code", "table", "list"
    languages: Sequence[str]  # ISO 639-1
    collections: Sequence[str]  # documents in any of these
    tags: Sequence[str]  # documents with any of these
    since: Moment | None  # captured at this moment or later
    before: Moment | None  # captured earlier
    as_of: Moment | None  # what was known at this moment
    per_document: int | None  # passages of one document; 0 for any number
    neighbours: int  # passages before and after each result that come with it
    min_score: float  # from 0 to 1
    fusion: Literal["convex", "rrf"] | None  # join both by their scores, or by their ranks
    keyword_weight: float | None  # of the words
    vector_weight: float | None  # of the meaning
    rrf_k: int | None  # smooths the ranks of rrf
    rerank: bool  # by the configured cross-encoder
    cursor: str | None  # go on after an earlier answer


class ExportOptions(TypedDict, total=False):
    """What is exported. The first five are for documents, the others for web archives."""

    collections: Sequence[str]  # documents in any of these
    tags: Sequence[str]  # documents with any of these
    language: str | None  # documents in this language only
    with_gone: bool  # also pages that are no longer there
    with_near: bool  # also near-duplicates of other documents
    compression: Literal["gzip", "zstd", "none"] | None  # of WARC files
    max_size: int  # bytes of a WARC file, after which the next one begins
    site: str | None  # captures of this host only
    since: Moment | None  # captures from this moment on
    until: Moment | None  # captures up to this moment


ExportForm: TypeAlias = Literal["jsonl", "markdown", "parquet", "csv", "warc", "wacz"]
PathLike: TypeAlias = str | Path
