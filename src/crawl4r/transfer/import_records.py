"""Import records from other sources as captures, which are then processed like crawled ones."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from json import JSONDecodeError
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import Captures
from crawl4r.errors import InvalidUrl, UsageError
from crawl4r.formats.media_kind import RECORD_TYPE, text_of_record
from crawl4r.frontier.port import Frontier
from crawl4r.model import Capture, Ending, Found, FoundBy, UrlState, Verdict
from crawl4r.safe_text import command_line, load_json, well_formed, well_formed_pairs
from crawl4r.storage.crawls import CrawlNotes
from crawl4r.storage.database import Database
from crawl4r.storage.tables import BYTES, IMPORTED_BYTES, IMPORTED_PAGES, PAGES
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split

_NOWHERE = "https://imported.invalid/"  # a reserved domain, for records without a URL
_START = 4096  # bytes of a file that are checked first
_BATCH = 500
_BATCH_BYTES = 32 * 1024**2
_LONGEST_LINE = 32 * 1024**2  # characters
_HEADER_BYTES = 150  # overhead of a header besides its characters
_MOST_AT_A_MOMENT = 100  # captures of a URL; each further one is compared with all of them
_LIKE = '{"id": "1", "title": "...", "text": "..."}'
_LONGEST_ID = 1_000  # characters


class Reference(NamedTuple):
    """A reference to the earlier record with the same bytes."""

    url: str
    at: float | None = None  # epoch seconds; None: the latest earlier one
    digest: str = ""  # "algorithm:value", to check the bytes


class ImportedPage(NamedTuple):
    """A page from another source."""

    url: str
    body: bytes | None  # None: the referenced bytes
    content_type: str
    fetched_at: float  # epoch seconds
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    verdict: Verdict = Verdict.OK
    reason: str = ""
    http_version: str = ""
    address: str = ""
    location: str | None = None
    page_type: str = ""
    refers_to: Reference | None = None  # also supplies missing status and headers
    is_dated: bool = False  # `fetched_at` is exact, so a URL may have many


class ImportCounts(NamedTuple):
    added: int
    unchanged: int  # already in the workspace, with the same bytes
    unresolved: int = 0  # refer to unknown bytes
    crowded: int = 0  # of a URL with too many captures at the same time

    def plus(self, more: ImportCounts) -> ImportCounts:
        return ImportCounts(*(a + b for a, b in zip(self, more, strict=True)))


_ADDED, _UNCHANGED = ImportCounts(1, 0), ImportCounts(0, 1)
_UNRESOLVED, _CROWDED = ImportCounts(0, 0, unresolved=1), ImportCounts(0, 0, crowded=1)


def refuse_other_files(path: Path) -> None:
    """Raise UsageError for a file that is no JSON lines, by its first bytes."""
    with path.open("rb") as file:
        start = file.read(_START)
    if not start:
        raise UsageError(f"{path} is empty: there is nothing to import")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<"):
        raise UsageError(
            f"{path} is HTML or XML, and import reads JSON lines, WARC and WACZ; "
            f"`{command_line('crawl4r', 'extract', path)}` reads a page from a file"
        )
    if b"\0" in text or (text and not text.startswith((b"{", b"[", b'"')) and not text.isascii()):
        raise UsageError(f"{path} is not text: import reads JSON lines, WARC and WACZ")


def read_records(
    file: IO[str], name: str, rules: CanonicalRules, now: float
) -> Iterator[ImportedPage]:
    """Parse lines like `{"id": ..., "url": ..., "title": ..., "text": ...}`; id or url may be missing.

    Raises UsageError with the number of an invalid line.
    """
    lines = iter(lambda: file.readline(_LONGEST_LINE + 1), "")  # limits the memory for a line
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        # Keep the whole line, so that a later version can read it again.
        body = line.strip().encode("utf-8", "surrogatepass")
        try:
            url = _url_of(_record(body), rules)
        except JSONDecodeError as problem:
            words = (
                f"is not JSON, at character {problem.pos + 1}: each line is an object like {_LIKE}"
            )
            raise UsageError(f"{name}, line {number}: {words}") from None
        except RecursionError:
            raise UsageError(f"{name}, line {number}: is nested too deeply") from None
        except (ValueError, InvalidUrl) as problem:
            raise UsageError(f"{name}, line {number}: {problem}") from None
        yield ImportedPage(url, body, RECORD_TYPE, now)


def _record(line: bytes) -> dict[str, Any]:
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"longer than {_LONGEST_LINE:,} bytes")
    record = load_json(line)
    if not isinstance(record, dict):
        raise ValueError(f"not an object like {_LIKE}")
    if not isinstance(text_of_record(record), str):
        raise ValueError('"text" is missing, or not a string')
    if not isinstance(record.get("title", ""), str | None):
        raise ValueError('"title" is not a string')
    return record


def _url_of(record: dict[str, Any], rules: CanonicalRules) -> str:
    if url := record.get("url"):
        return canonicalize(str(url), None, rules)
    name = record.get("id")
    if name is None or name == "":
        raise ValueError('neither "id" nor "url" is given')
    if len(str(name)) > _LONGEST_ID:
        raise ValueError(f'"id" is longer than {_LONGEST_ID:,} characters')
    return _NOWHERE + quote(str(name), safe="")


class Importer:
    """Adds pages to the archive, with one commit per batch. Known pages stay unchanged."""

    def __init__(
        self,
        database: Database,
        frontier: Frontier,
        captures: Captures,
        blobs: Blobs,
        notes: CrawlNotes,
    ) -> None:
        self._database = database
        self._frontier = frontier
        self._captures = captures
        self._blobs = blobs
        self._notes = notes
        self._pages = self._bytes = 0  # of the current batch
        # Cached, because very many records may refer to the same large page.
        self._digests = lru_cache(maxsize=10_000)(self._make_digests)

    def keep(self, pages: Iterable[ImportedPage]) -> Iterator[ImportCounts]:
        """Yield the counts after each durable batch; the last ones are the totals."""
        counts = ImportCounts(0, 0)
        batch: list[ImportedPage] = []
        size = 0
        for page in pages:
            batch.append(page)
            size += len(page.body or b"")
            size += sum(len(name) + len(value) + _HEADER_BYTES for name, value in page.headers)
            if len(batch) == _BATCH or size > _BATCH_BYTES:
                counts = counts.plus(self._keep_batch(batch))
                yield counts
                batch, size = [], 0
        yield counts.plus(self._keep_batch(batch))

    def _keep_batch(self, pages: Sequence[ImportedPage]) -> ImportCounts:
        hashes = [
            None if page.body is None else self._blobs.add(page.body, page.content_type)[0]
            for page in pages
        ]
        self._blobs.flush()
        counts = ImportCounts(0, 0)
        for page, sha256 in zip(pages, hashes, strict=True):
            # After the commit, because the record may refer to a page of the same batch.
            counts = counts.plus(self._keep_page(page, sha256))
        self._count()
        self._database.commit()
        return counts

    def _keep_page(self, page: ImportedPage, sha256: str | None) -> ImportCounts:
        earlier = None
        if page.refers_to:
            earlier = self._resolve(page)
            if earlier is None:
                return _UNRESOLVED
            sha256 = earlier.sha256
        if page.is_dated:
            known = self._captures.hashes_at(page.url, page.fetched_at, _MOST_AT_A_MOMENT)
            if sha256 not in known and len(known) == _MOST_AT_A_MOMENT:
                return _CROWDED
            is_there = sha256 in known
        else:
            before = self._captures.latest(page.url)
            is_there = before is not None and before.sha256 == sha256
        if is_there:
            return _UNCHANGED
        self._record(page, sha256, earlier)
        return _ADDED

    def _resolve(self, page: ImportedPage) -> Capture | None:
        """The capture with the bytes that a page refers to."""
        assert page.refers_to is not None
        url, at, digest = page.refers_to
        if at is not None:
            # Other programs may have stored the same time in whole seconds.
            exact = self._captures.with_bytes_at(url, at)
            return exact or self._captures.with_bytes_at(url, at, within=1.0)
        last = self._captures.latest(url, before=page.fetched_at)
        is_sure = page.verdict is Verdict.NOT_MODIFIED or (last and self._has_digest(last, digest))
        return last if is_sure else None

    def _has_digest(self, capture: Capture, digest: str) -> bool:
        algorithm, _, value = digest.lower().partition(":")
        name = algorithm.replace("-", "")
        if name not in hashlib.algorithms_guaranteed or name.startswith("shake"):
            return False
        return bool(capture.sha256) and value.rstrip("=") in self._digests(capture.sha256, name)

    def _make_digests(self, sha256: str, algorithm: str) -> Sequence[str]:
        """The possible spellings of a digest of stored bytes."""
        body = self._blobs.read(sha256)
        if body is None:
            return ()
        made = hashlib.new(algorithm, body, usedforsecurity=False).digest()
        return made.hex(), b32encode(made).decode().lower().rstrip("=")

    def _record(self, page: ImportedPage, sha256: str | None, earlier: Capture | None) -> None:
        found = Found(
            page.url, split(page.url).host, 0, FoundBy.IMPORT, admitted=True, rule="imported"
        )
        self._frontier.add([found], None, page.fetched_at)
        url_id = self._frontier.id_of(page.url)
        assert url_id is not None  # it was added just before
        newest = self._captures.newest_at(page.url)
        is_newest = newest is None or newest <= page.fetched_at
        capture = _capture(page, sha256, earlier)
        number = self._captures.add(capture, is_newest=is_newest)
        self._bytes += capture.bytes
        if not is_newest:
            return  # an old capture does not change the URL's state
        content = number if page.verdict is Verdict.OK else None
        ending = Ending(url_id, UrlState.DONE, page.verdict, page.reason, None, number, content)
        kept_before = self._frontier.count_kept([url_id])
        self._frontier.settle([ending])
        self._pages += self._frontier.count_kept([url_id]) - kept_before

    def _count(self) -> None:
        """Add to the running totals of the workspace in the same transaction, like a crawl."""
        for names, more in (
            ((PAGES, IMPORTED_PAGES), self._pages),
            ((BYTES, IMPORTED_BYTES), self._bytes),
        ):
            for name in names:
                self._notes.count(name, more)
        self._pages = self._bytes = 0


def _capture(page: ImportedPage, sha256: str | None, earlier: Capture | None) -> Capture:
    is_304 = page.verdict is Verdict.NOT_MODIFIED
    came_again = earlier.bytes if earlier and not is_304 else 0
    headers: Sequence[tuple[str, str]] = well_formed_pairs(page.headers)
    if not headers and not is_304:
        headers = earlier.headers if earlier else [("content-type", page.content_type)]
    firsts = dict(reversed(headers))
    content_type = well_formed(page.content_type) or firsts.get("content-type", "")
    return Capture(
        url=page.url,
        fetched_at=page.fetched_at,
        status=page.status or (earlier.status if earlier else 0),
        verdict=page.verdict,
        reason=well_formed(page.reason),
        sha256=sha256,
        bytes=came_again if page.body is None else len(page.body),
        content_type=content_type.partition(";")[0].strip().lower(),
        encoding="",
        headers=headers,
        etag=firsts.get("etag"),
        last_modified=firsts.get("last-modified"),
        page_type=page.page_type,
        depth=0,
        referrer=None,
        latency_ms=0,
        retries=0,
        http_version=page.http_version or (earlier.http_version if earlier else ""),
        address=page.address,
        location=well_formed(page.location) if page.location else None,
    )
