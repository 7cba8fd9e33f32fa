"""Lines of metadata/crawl_metadata.jsonl: all data of a capture as one JSON object.

They are what a lost state.db is made again from; see `metadata_reading.py`. The file is not private, as
state.db is, so the cookies that a site set stay out of it.
"""

from __future__ import annotations

import json

from crawl4r.archive.lines.capture_log import LineForm
from crawl4r.clock import iso_time
from crawl4r.formats.json_line import as_json
from crawl4r.model import Capture

_NOT_TOLD = "set-cookie"


def _line(c: Capture, stored_path: str, crawl: str | None) -> bytes:
    record = {
        "capture_id": c.id,
        "url": c.url,
        "captured_at": iso_time(c.fetched_at),
        "status": c.status,
        "verdict": c.verdict,
        "reason": c.reason,
        "page_type": c.page_type,
        "depth": c.depth,
        "referrer": c.referrer,
        "content_type": c.content_type,
        "encoding": c.encoding,
        "sha256": c.sha256,
        "bytes": c.bytes,
        "stored_path": stored_path,
        "etag": c.etag,
        "last_modified": c.last_modified,
        "latency_ms": c.latency_ms,
        "retries": c.retries,
        "proxy_id": c.proxy,
        "http_version": c.http_version,
        "address": c.address,
        "location": c.location,
        "crawl": crawl,
        "headers": [pair for pair in c.headers if pair[0] != _NOT_TOLD],
    }
    return as_json(record)


def _capture_id(line: bytes) -> int:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return 0
    # A line of an older version tells less: the whole file is written anew.
    is_ours = isinstance(record, dict) and "headers" in record
    found = record.get("capture_id") if is_ours else None
    return found if type(found) is int else 0  # `true` is no number


METADATA = LineForm(b"", _line, _capture_id)
