"""Lines of logs/pages.csv: one per capture, in columns for analysts."""

from __future__ import annotations

import json

from crawl4r.archive.lines.capture_log import LineForm
from crawl4r.clock import iso_time
from crawl4r.formats.csv_line import cell, cells_of, lines_of, quoted
from crawl4r.model import Capture, Verdict

_ENCODER = json.JSONEncoder(ensure_ascii=False)
COLUMNS = (
    "timestamp", "url", "page_type", "depth", "referrer", "http_status", "content_type", "encoding",
    "content_sha256", "content_bytes", "stored_path", "etag", "last_modified", "fetch_latency_ms",
    "retries", "proxy_id", "metadata",
)  # fmt: skip


def _line(c: Capture, stored_path: str, crawl: str | None) -> bytes:
    about = {"capture_id": c.id, "verdict": c.verdict.value, "reason": c.reason}
    # A 304 has the hash and the path of the bytes that it confirms.
    content_bytes = 0 if c.verdict is Verdict.NOT_MODIFIED else c.bytes
    cells = (
        iso_time(c.fetched_at),
        _text(c.url),
        _text(c.page_type),
        str(c.depth),
        _text(c.referrer),
        str(c.status),
        _text(c.content_type),
        _text(c.encoding),
        c.sha256 or "",
        str(content_bytes),
        _text(stored_path),
        _text(c.etag),
        _text(c.last_modified),
        str(c.latency_ms),
        str(c.retries),
        _text(c.proxy),
        _text(_ENCODER.encode(about)),
    )
    return ",".join(cells).encode("utf-8", "replace")


def _text(text: str | None) -> str:
    return quoted(cell(text))


def _capture_id(line: bytes) -> int:
    cells = cells_of(line)
    if len(cells) != len(COLUMNS):
        return 0
    try:
        about = json.loads(cells[-1])
    except (ValueError, RecursionError):
        return 0
    found = about.get("capture_id") if isinstance(about, dict) else None
    return found if type(found) is int else 0


PAGES = LineForm(lines_of([COLUMNS]), _line, _capture_id)
