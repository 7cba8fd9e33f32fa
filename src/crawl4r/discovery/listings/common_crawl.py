"""The index of Common Crawl: make its URLs and read its answers. This module fetches nothing.

Each collection is one crawl with an index of its own, which answers in pages of some 15,000 lines,
one JSON object a line. The API is pywb's CDX server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from crawl4r.formats.dates import moment, moment_of
from crawl4r.urls.canonical import try_canonicalize

COLLECTIONS_URL = "https://index.commoncrawl.org/collinfo.json"
MOST_ENTRIES = 50_000  # of one answer
MOST_PAGES = 100_000
_MOST_COLLECTIONS = 1_000
_LONGEST_LINE = 16 * 1024  # bytes
_FIELDS = "url,timestamp,status,mime,digest"
_NOTHING = "no captures found"  # in a 404 of this API: the query succeeded without results


class Collection(NamedTuple):
    """One crawl, as `collinfo.json` lists it."""

    id: str  # CC-MAIN-2024-22
    name: str
    api: str  # the URL of its index
    begin: float | None = None  # epoch seconds; older lists do not say
    end: float | None = None


class CapturedPage(NamedTuple):
    url: str
    lastmod: float | None  # epoch seconds: when it was captured
    mime: str = ""
    status: int | None = None
    digest: str = ""


class IndexPage(NamedTuple):
    """One page of results, each URL once with its latest capture."""

    entries: Sequence[CapturedPage] = ()
    problem: str = ""  # an error in the answer, or what was left out


def host_pattern(host: str, *, subdomains: bool = False) -> str:
    """The query for all pages of a host, or of a domain and the hosts below it."""
    return f"*.{host}" if subdomains else f"{host}/*"


def page_count_url(api: str, pattern: str) -> str:
    """The URL that returns the number of result pages; `read_page_count` reads the answer."""
    return f"{_query(api, pattern)}&showNumPages=true"


def results_url(api: str, pattern: str, page: int = 0, *, only_ok: bool = True) -> str:
    """The URL of a result page, counted from 0; without `only_ok` also redirects and errors."""
    wanted = "&filter==status:200" if only_ok else ""
    return f"{_query(api, pattern)}&fl={_FIELDS}{wanted}&page={page}"


def _query(api: str, pattern: str) -> str:
    return f"{api}?url={quote(pattern, safe='/*:.')}&output=json"


def read_collections(body: bytes) -> list[Collection]:
    """The crawls of `collinfo.json`, in its order, which is newest first; empty for anything else."""
    listed = _parsed(body)
    found = []
    for item in listed[:_MOST_COLLECTIONS] if isinstance(listed, list) else []:
        if isinstance(item, dict) and (api := try_canonicalize(_text(item, "cdx-api"))):
            begin, end = (moment_of(_text(item, key)) for key in ("from", "to"))
            found.append(Collection(_text(item, "id"), _text(item, "name"), api, begin, end))
    return found


def read_page_count(body: bytes) -> int | None:
    """The number of pages in an answer to `page_count_url`; None for any other answer."""
    answer = _parsed(body)
    if isinstance(answer, dict):
        if _says_nothing(answer):
            return 0
        answer = answer.get("pages")
    if isinstance(answer, bool) or not isinstance(answer, int) or answer < 0:
        return None
    return min(answer, MOST_PAGES)


def read_results(body: bytes) -> IndexPage:
    """The captures of one page. Unreadable lines are counted and skipped; a cut connection leaves a
    torn last line."""
    found: dict[str, CapturedPage] = {}
    torn = 0
    for line in _lines(body):
        record = _parsed(line)
        if not isinstance(record, dict):
            torn += 1
            continue
        page = _captured(record)
        if page is None:
            if message := _text(record, "message") or _text(record, "error"):
                return IndexPage(
                    list(found.values()), "" if _says_nothing(record) else message[:200]
                )
            torn += 1
            continue
        before = found.get(page.url)
        if before is None and len(found) == MOST_ENTRIES:
            return IndexPage(
                list(found.values()), f"more than {MOST_ENTRIES:,} entries: the rest was left out"
            )
        if before is None or (page.lastmod or 0) > (before.lastmod or 0):
            found[page.url] = page
        if torn > MOST_ENTRIES:
            break
    return IndexPage(
        list(found.values()), f"lines that could not be read: {torn:,}" if torn else ""
    )


def _captured(record: dict[str, Any]) -> CapturedPage | None:
    url = try_canonicalize(_text(record, "url"))
    if not url:
        return None
    status = _text(record, "status")
    return CapturedPage(
        url,
        _captured_at(_text(record, "timestamp")),
        _text(record, "mime").lower()[:100],
        int(status) if status.isascii() and status.isdigit() and len(status) == 3 else None,
        _text(record, "digest")[:100],
    )


def _captured_at(stamp: str) -> float | None:
    """Parse `20240517083000` or a prefix of it."""
    if not (4 <= len(stamp) <= 14 and stamp.isascii() and stamp.isdigit()):
        return None
    return moment(stamp[:4], *(stamp[at : at + 2] or None for at in range(4, 14, 2)))


def _lines(body: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        if line := body[start : min(end, start + _LONGEST_LINE)].strip():
            yield line
        start = end + 1


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _says_nothing(answer: dict[str, Any]) -> bool:
    message = _text(answer, "message") or _text(answer, "error")
    return message.lower().startswith(_NOTHING)


def _text(values: dict[str, Any], key: str) -> str:
    value = values.get(key)
    return str(value) if isinstance(value, (str, int)) else ""
