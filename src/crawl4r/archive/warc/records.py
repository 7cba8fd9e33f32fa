"""Captures as WARC 1.1 records: request and response, or a revisit of an earlier response.

A 304 becomes a `revisit` without a block, for which replay tools show the earlier answer; with the head
of the 304 they would show an empty page. A `metadata` record keeps that head.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import NamedTuple

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawl4r.archive.warc.http_blocks import request_head, response_head
from crawl4r.model import Capture, Verdict

PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
NOT_MODIFIED, IDENTICAL = "server-not-modified", "identical-payload-digest"
# Our own named fields, for data without a standard name.
VERDICT, REASON, PAGE_TYPE = "Crawl4r-Verdict", "Crawl4r-Reason", "Crawl4r-Page-Type"
HTTP_STATUS, HTTP_HEADER = "http-status", "http-header"  # of a metadata record
_VERSION = "WARC/1.1"
_IDS = uuid.UUID("6a4f7d4e-6c0b-5a55-9a53-0d1f8f1d7c8b")  # the space of our record ids
_WARC_FIELDS = "application/warc-fields"
_NO_BYTES = hashlib.sha256(b"").hexdigest()
_MEDIA_TYPE_END = re.compile(r"[;\s]")
_BLANKS = re.compile(r"[\r\n\0]+")
# Names of HTTP versions, without and with TLS.
_PROTOCOLS = {
    "1.0": ("http/1.0", "http/1.0"),
    "1.1": ("http/1.1", "http/1.1"),
    "2": ("h2c", "h2"),
    "3": ("h3", "h3"),
}


class IndexEntry(NamedTuple):
    """The index entry of a record, without its place."""

    url: str
    at: float  # epoch seconds
    mime: str | None
    status: int | None
    digest: str


class Record(NamedTuple):
    """The bytes of one record, with its index entry if it has one."""

    data: bytes
    entry: IndexEntry | None = None


class RecordWriter:
    """Makes records. The same capture always gives the same bytes."""

    def __init__(self) -> None:
        self._buffer = BytesIO()
        self._writer = _Writer(self._buffer, gzip=False, warc_version=_VERSION)

    def warcinfo(self, file_name: str, last: Capture, facts: Mapping[str, str]) -> Record:
        """The first record of a file, with the date of the archive's last capture."""
        fields = {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": _id_of(last, f"warcinfo {file_name}"),
            "WARC-Date": warc_date(last.fetched_at),
            "WARC-Filename": file_name,
        }
        return Record(self._record(fields, b"", _as_fields(facts.items()), _WARC_FIELDS))

    def response(self, capture: Capture, body: bytes, sent: Sequence[str] | None) -> list[Record]:
        """The records of a capture with its body; `sent`: the header lines of the request, if known."""
        kind = record_kind_of(capture)
        digest = _digest_of(capture)
        fields = _fields(kind, capture) | {"WARC-Payload-Digest": digest}
        if kind == "resource":
            declared = next((v for k, v in capture.headers if k == "content-type"), "")
            content_type = _BLANKS.sub(" ", declared) or "application/octet-stream"
            data = self._record(fields, b"", body, content_type)
            mime = _mime(content_type)
            return [Record(data, IndexEntry(capture.url, capture.fetched_at, mime, None, digest))]
        data = self._record(fields, response_head(capture, len(body)), body)
        entry = IndexEntry(
            capture.url, capture.fetched_at, _mime_of(capture), capture.status, digest
        )
        return [*self._request(capture, sent, kind), Record(data, entry)]

    def revisit(
        self, capture: Capture, original: Capture, sent: Sequence[str] | None
    ) -> list[Record]:
        """The records of a capture with the same bytes as an earlier one in the archive."""
        is_304 = capture.verdict is Verdict.NOT_MODIFIED
        fields = _fields("revisit", capture)
        fields["WARC-Profile"] = PROFILES + (NOT_MODIFIED if is_304 else IDENTICAL)
        fields["WARC-Refers-To"] = _id_of(original, record_kind_of(original))
        fields["WARC-Refers-To-Target-URI"] = original.url
        fields["WARC-Refers-To-Date"] = warc_date(original.fetched_at)
        fields["WARC-Payload-Digest"] = digest = _digest_of(capture)
        records = self._request(capture, sent, "revisit")
        head = b""
        if is_304:
            records.append(self._head_of_304(capture))
        else:
            fields["WARC-Truncated"] = "length"
            head = response_head(capture, capture.bytes)
        status = None if is_304 else capture.status
        entry = IndexEntry(capture.url, capture.fetched_at, "warc/revisit", status, digest)
        return [*records, Record(self._record(fields, head, b""), entry)]

    def _request(self, capture: Capture, sent: Sequence[str] | None, answer: str) -> list[Record]:
        if sent is None:
            return []
        fields = _fields("request", capture)
        fields["WARC-Concurrent-To"] = _id_of(capture, answer)
        return [Record(self._record(fields, request_head(capture.url, sent), b""))]

    def _head_of_304(self, capture: Capture) -> Record:
        fields = _fields("metadata", capture)
        fields["WARC-Concurrent-To"] = _id_of(capture, "revisit")
        lines = [(HTTP_STATUS, str(capture.status))]
        lines += ((HTTP_HEADER, f"{name}: {value}") for name, value in capture.headers)
        return Record(self._record(fields, b"", _as_fields(lines), _WARC_FIELDS))

    def _record(
        self, fields: Mapping[str, str], head: bytes, body: bytes, content_type: str = ""
    ) -> bytes:
        block_digest = hashlib.sha256(head)
        block_digest.update(body)
        record = self._writer.create_warc_record(
            fields.get("WARC-Target-URI", ""),
            fields["WARC-Type"],
            payload=BytesIO(body),
            length=len(body),
            warc_content_type=content_type,
            warc_headers_dict={**fields, "WARC-Block-Digest": f"sha256:{block_digest.hexdigest()}"},
            http_headers=_Head(head) if head else None,
        )
        self._buffer.seek(0)
        self._buffer.truncate()
        self._writer.write_record(record)
        return self._buffer.getvalue()


class _Writer(WARCWriter):  # type: ignore[misc]
    """Writes our digests of payloads, only for records with a payload."""

    NO_PAYLOAD_DIGEST_TYPES = ("warcinfo", "revisit", "request", "metadata")


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """Writes header bytes unchanged; warcio would escape non-ASCII bytes."""

    def __init__(self, head: bytes) -> None:
        super().__init__("as it came", [])
        self._head = head

    def compute_headers_buffer(self, header_filter: object = None) -> None:
        self.headers_buff = self._head


def record_kind_of(capture: Capture) -> str:
    """The type of a record with this capture's body: a resource if no server sent it."""
    was_sent = capture.http_version or capture.address or capture.status != 200
    return "response" if was_sent else "resource"


def verdict_of_status(status: int, location: str | None) -> Verdict:
    """The verdict of an answer by its status alone."""
    if 200 <= status < 300:
        return Verdict.OK
    is_redirect = status in {301, 302, 303, 307, 308} and location is not None
    return Verdict.REDIRECT if is_redirect else Verdict.HTTP_ERROR


def warc_date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def _fields(kind: str, capture: Capture) -> dict[str, str]:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": _id_of(capture, kind),
        "WARC-Date": warc_date(capture.fetched_at),
        "WARC-Target-URI": capture.url,
    }
    # With a proxy the address is that of the proxy, not of the host.
    if not capture.proxy and (address := _address(capture.address)):
        fields["WARC-IP-Address"] = address
    is_304 = capture.verdict is Verdict.NOT_MODIFIED
    is_in_block = capture.http_version.startswith("1.") and not (kind == "revisit" and is_304)
    if not is_in_block and (protocol := _PROTOCOLS.get(capture.http_version)):
        fields["WARC-Protocol"] = protocol[capture.url.startswith("https:")]
    says_more = capture.verdict is not verdict_of_status(capture.status, capture.location)
    if kind in {"response", "revisit"} and says_more and not is_304:
        fields[VERDICT] = capture.verdict.value
        fields[REASON] = _BLANKS.sub(" ", capture.reason)
    if capture.page_type and kind in {"response", "revisit", "resource"}:
        fields[PAGE_TYPE] = _BLANKS.sub(" ", capture.page_type)
    return fields


def _id_of(capture: Capture, kind: str) -> str:
    """A record id that is constant for a capture and unique over all workspaces."""
    url, at, status, sha256 = capture.url, capture.fetched_at, capture.status, capture.sha256
    name = f"{url}\n{at!r}\n{status}\n{sha256}\n{capture.id}\n{kind}"
    return f"<{uuid.uuid5(_IDS, name).urn}>"


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return ""


def _digest_of(capture: Capture) -> str:
    return f"sha256:{capture.sha256 or _NO_BYTES}"


def _as_fields(lines: Iterable[tuple[str, str]]) -> bytes:
    """A block of application/warc-fields."""
    text = "".join(f"{name}: {_BLANKS.sub(' ', value)}\r\n" for name, value in lines if value)
    return text.encode("utf-8", "surrogatepass")


def _mime_of(capture: Capture) -> str | None:
    return next((_mime(value) for name, value in capture.headers if name == "content-type"), None)


def _mime(content_type: str) -> str:
    return _MEDIA_TYPE_END.split(content_type, maxsplit=1)[0].strip()
