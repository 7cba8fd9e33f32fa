"""Convert a record of an untrusted WARC file to a page. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from crawl4r.archive.warc.http_blocks import as_received
from crawl4r.archive.warc.reader import WarcRecord
from crawl4r.archive.warc.records import (
    HTTP_HEADER,
    IDENTICAL,
    NOT_MODIFIED,
    PAGE_TYPE,
    REASON,
    VERDICT,
    verdict_of_status,
)
from crawl4r.errors import InvalidUrl
from crawl4r.fetch.headers import as_utf8, parse_head
from crawl4r.formats import dates
from crawl4r.formats.chunked import dechunk
from crawl4r.formats.content_coding import TooLarge, Undecodable, remove_codings
from crawl4r.model import REJECTED, Verdict
from crawl4r.transfer.import_records import ImportedPage, Reference
from crawl4r.urls.canonical import CanonicalRules, canonicalize

Headers = Sequence[tuple[str, str]]

_STATUS_LINE = re.compile(rb"HTTP/(\d(?:\.\d)?)[ \t]+(\d{3})(?!\d)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_MOST_HEAD = 300 * 1024  # bytes of all heads of a message
_MOST_HEADERS = 5_000  # the limit of the transport
_MOST_CHUNKS = 100_000  # of a body
_LAST_YEAR = 253_370_764_800.0  # 9999: rounded up, a moment of it has no date any more
_PROTOCOLS = {"http/1.0": "1.0", "http/1.1": "1.1", "h2": "2", "h2c": "2", "h3": "3"}
# A body without these first bytes is already unpacked, despite its header.
_CODING_STARTS = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_GIVEN_VERDICTS = REJECTED | {Verdict.HOSTILE, Verdict.UNREADABLE}


class Skip(Exception):
    """A valid record that is not imported; the text is the reason."""


class Bad(Exception):
    """An invalid record."""


class _Message(NamedTuple):
    version: str
    status: int
    headers: Headers
    body: bytes

    def all_of(self, name: str) -> str:
        return ",".join(value for key, value in self.headers if key == name)


class PageMaker:
    """Converts records to pages. `largest` caps an unpacked body."""

    def __init__(self, rules: CanonicalRules, largest: int) -> None:
        self._rules = rules
        self._largest = largest
        self._noted: tuple[str, Headers] = ("", ())  # the record of a 304, and its headers

    def page_of(self, record: WarcRecord) -> ImportedPage | None:
        """The page of a record; None for records about other records. Raises Skip and Bad."""
        if record.kind == "metadata":
            self._note_head(record)
        if record.kind not in {"response", "resource", "revisit"}:
            return None
        page = self._blank_page(record)
        if record.block is None:
            raise Skip("too-large")
        if "warc-segment-number" in record.fields:
            raise Skip("segmented")
        if record.kind == "resource":
            content_type = record.fields.get("content-type", "")
            headers = [("content-type", content_type)]
            return page._replace(body=record.block, content_type=content_type, headers=headers)
        if record.kind == "revisit":
            return self._revisit(record, record.block, page)
        return self._response(record, _parse(record.block), page)

    def _blank_page(self, record: WarcRecord) -> ImportedPage:
        """The fields of the record's header."""
        fields = record.fields
        uri = fields.get("warc-target-uri", "").strip("<>")
        scheme = uri.partition(":")[0].lower()
        if scheme not in {"http", "https"}:
            raise Skip("not-http")
        try:
            url = canonicalize(uri, None, self._rules)
        except InvalidUrl as problem:
            raise Skip(f"url-{problem.reason}") from None
        truncated = fields.get("warc-truncated", "")
        reason = f"truncated: {truncated[:40]}" if truncated and record.kind != "revisit" else ""
        return ImportedPage(
            url=url,
            body=None,
            content_type="",
            fetched_at=moment_of(fields.get("warc-date", "")),
            reason=reason,
            http_version=_PROTOCOLS.get(fields.get("warc-protocol", ""), ""),
            address=_address(fields.get("warc-ip-address", "")),
            page_type=fields.get(PAGE_TYPE.lower(), "")[:100],
            is_dated=True,
        )

    def _response(self, record: WarcRecord, message: _Message, page: ImportedPage) -> ImportedPage:
        page = self._with_head(record.fields, message, page)
        if message.status == 304:
            return page._replace(verdict=Verdict.NOT_MODIFIED, refers_to=Reference(page.url))
        body = self._decoded(message)
        # Like a crawl: an empty page is still a page, an empty redirect has no bytes.
        return page._replace(body=body if body or page.verdict is Verdict.OK else None)

    def _revisit(self, record: WarcRecord, block: bytes, page: ImportedPage) -> ImportedPage:
        fields = record.fields
        profile = fields.get("warc-profile", "").rpartition("/")[2]
        if profile not in {NOT_MODIFIED, IDENTICAL}:
            raise Skip("unknown-profile")
        message = _parse(block) if block else None
        page = page._replace(status=0, refers_to=self._reference(fields, page.url))
        if message is not None:
            page = self._with_head(fields, message, page)
        if profile == NOT_MODIFIED or page.status == 304:
            name, noted = self._noted
            headers = noted if name and name == fields.get("warc-record-id") else page.headers
            return page._replace(status=304, verdict=Verdict.NOT_MODIFIED, headers=headers)
        return page

    def _reference(self, fields: Mapping[str, str], url: str) -> Reference:
        target = fields.get("warc-refers-to-target-uri", "").strip("<>")
        date = fields.get("warc-refers-to-date", "")
        digest = fields.get("warc-payload-digest", "")
        try:
            target = canonicalize(target, None, self._rules) if target else ""
        except InvalidUrl:
            raise Skip("unknown-original") from None
        if not target or not date:
            return Reference(target or url, None, digest)
        return Reference(target, moment_of(date), digest)

    def _with_head(
        self, fields: Mapping[str, str], message: _Message, page: ImportedPage
    ) -> ImportedPage:
        location = next((v for k, v in message.headers if k == "location"), None)
        verdict = verdict_of_status(message.status, location)
        reason = page.reason or ("" if verdict is Verdict.OK else f"http-{message.status}")
        if verdict is Verdict.REDIRECT and location is not None:
            location = self._target(as_utf8(location), page.url)
            reason = f"to {location}"
        given = fields.get(VERDICT.lower(), "")
        if given in _GIVEN_VERDICTS:
            verdict, reason = Verdict(given), fields.get(REASON.lower(), "")
        return page._replace(
            status=message.status,
            verdict=verdict,
            reason=reason[:500],
            location=location if verdict is Verdict.REDIRECT else None,
            http_version=page.http_version or message.version,
            headers=as_received(message.headers),
            content_type=next((v for k, v in message.headers if k == "content-type"), ""),
        )

    def _target(self, location: str, url: str) -> str:
        try:
            return canonicalize(location, url, self._rules)
        except InvalidUrl:
            return location

    def _decoded(self, message: _Message) -> bytes:
        body = message.body
        if "chunked" in message.all_of("transfer-encoding").lower():
            body = _dechunked(body)
        codings = message.all_of("content-encoding")
        start = _CODING_STARTS.get(codings.strip().lower(), b"")
        if not body.startswith(start):
            return body
        try:
            return remove_codings(body, codings, self._largest)
        except TooLarge:
            raise Skip("too-large") from None
        except Undecodable:
            raise Skip("undecodable") from None

    def _note_head(self, record: WarcRecord) -> None:
        """Keep the headers of a 304 from our metadata record; its revisit follows."""
        block = record.block or b""
        text = block.decode("utf-8", "replace") if len(block) <= _MOST_HEAD else ""
        lines = [line.partition(": ") for line in text.split("\r\n")]
        pairs = [value.partition(": ") for name, _, value in lines if name == HTTP_HEADER]
        headers = [(name, value) for name, _, value in pairs]
        self._noted = (record.fields.get("warc-concurrent-to", ""), headers)


def moment_of(date: str) -> float:
    """Epoch seconds of a WARC-Date, however exact it is."""
    moment = dates.moment_of(date)
    if moment is None or moment >= _LAST_YEAR:
        raise Bad(f"no date: {date[:40]!r}")
    return round(moment, 6)  # as exact as what is exported again


def _parse(block: bytes) -> _Message:
    """The HTTP message in a block, after interim answers.

    All heads share one limit, so a block of interim answers alone ends soon.
    """
    start = 0
    while True:
        line = _STATUS_LINE.match(block, start)
        end = _HEAD_END.search(block, start, _MOST_HEAD)
        if line is None or end is None:
            raise Bad("no HTTP message, or one with too long a head")
        status = int(line[2])
        if status >= 200 or not block.startswith(b"HTTP/", end.end()):
            headers = parse_head(block[start : end.start()])
            if len(headers) > _MOST_HEADERS:
                raise Bad(f"its HTTP message has more than {_MOST_HEADERS} headers")
            return _Message(line[1].decode(), status, headers, block[end.end() :])
        start = end.end()


def _dechunked(body: bytes) -> bytes:
    try:
        return dechunk(body, _MOST_CHUNKS)
    except ValueError as problem:
        raise Bad(f"its body is in {problem}") from None


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return ""
