"""What others have collected becomes captures, and from there on is like anything that was crawled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from crawl4r.archive.captures import Captures
from crawl4r.archive.port import Blobs
from crawl4r.content.kinds import RECORD_TYPE
from crawl4r.errors import InvalidUrl, UsageError
from crawl4r.frontier.port import Frontier
from crawl4r.model import Capture, Ending, Found, FoundBy, UrlState, Verdict
from crawl4r.state.database import Database
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split

_NOWHERE = "https://imported.invalid/"  # a domain that never exists, for records without a URL
_BATCH = 500
_LONGEST_LINE = 32 * 1024**2  # characters


class ImportedPage(NamedTuple):
    """A page that somebody else has fetched."""

    url: str
    body: bytes
    content_type: str
    fetched_at: float  # epoch seconds
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()


class ImportCounts(NamedTuple):
    added: int
    unchanged: int  # were there already, with the same bytes


def read_records(
    file: IO[str], name: str, rules: CanonicalRules, now: float
) -> Iterator[ImportedPage]:
    """Lines like `{"id": ..., "url": ..., "title": ..., "text": ...}`; id or url may be missing.

    Raises UsageError that names the line which is not like that.
    """
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            record = _record(line)
            url = _url_of(record, rules)
        except (ValueError, InvalidUrl, RecursionError) as problem:
            raise UsageError(f"{name}, line {number}: {problem}") from None
        # The whole line: nothing of it is lost, and it can be read again.
        body = line.strip().encode("utf-8", "surrogatepass")
        yield ImportedPage(url, body, RECORD_TYPE, now)


def _record(line: str) -> dict[str, Any]:
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"longer than {_LONGEST_LINE:,} characters")
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError('not an object like {"id": "1", "title": "...", "text": "..."}')
    if not isinstance(record.get("text"), str):
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
    return _NOWHERE + quote(str(name), safe="")


class Importer:
    """Records pages in the archive, a batch a commit; what is there already is left as it is."""

    def __init__(
        self, database: Database, frontier: Frontier, captures: Captures, blobs: Blobs
    ) -> None:
        self._database = database
        self._frontier = frontier
        self._captures = captures
        self._blobs = blobs

    def keep(self, pages: Iterable[ImportedPage]) -> Iterator[ImportCounts]:
        """Counts after each batch that is durable; the last one holds the totals."""
        added = unchanged = 0
        batch: list[ImportedPage] = []
        for page in pages:
            batch.append(page)
            if len(batch) == _BATCH:
                new = self._keep_batch(batch)
                added, unchanged = added + new, unchanged + len(batch) - new
                yield ImportCounts(added, unchanged)
                batch = []
        new = self._keep_batch(batch)
        yield ImportCounts(added + new, unchanged + len(batch) - new)

    def _keep_batch(self, pages: Sequence[ImportedPage]) -> int:
        hashes = [self._blobs.add(page.body, page.content_type)[0] for page in pages]
        self._blobs.flush()
        added = 0
        for page, sha256 in zip(pages, hashes, strict=True):
            before = self._captures.latest(page.url)
            if before is None or before.sha256 != sha256:
                self._record(page, sha256)
                added += 1
        self._database.commit()
        return added

    def _record(self, page: ImportedPage, sha256: str) -> None:
        found = Found(
            page.url, split(page.url).netloc, 0, FoundBy.IMPORT, admitted=True, rule="imported"
        )
        self._frontier.add([found], None, page.fetched_at)
        url_id = self._frontier.id_of(page.url)
        number = self._captures.add(url_id, _capture(page, sha256))
        ending = Ending(url_id, UrlState.DONE, Verdict.OK, "", None, number, number)
        self._frontier.settle([ending])


def _capture(page: ImportedPage, sha256: str) -> Capture:
    return Capture(
        url=page.url,
        fetched_at=page.fetched_at,
        status=page.status,
        verdict=Verdict.OK,
        reason="",
        sha256=sha256,
        bytes=len(page.body),
        content_type=page.content_type.partition(";")[0].strip().lower(),
        encoding="",
        headers=page.headers or [("content-type", page.content_type)],
        etag=None,
        last_modified=None,
        page_type="",
        depth=0,
        referrer=None,
        latency_ms=0,
        retries=0,
    )
