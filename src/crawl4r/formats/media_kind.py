"""What is in this body? Its content type is a claim; the first bytes decide where it lies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

RECORD_TYPE = "application/vnd.crawl4r.record+json"  # a line of `crawl4r import`

_SNIFFED = 1024  # bytes
_HTML_TYPES = frozenset(["text/html", "application/xhtml+xml"])
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body")
_FEED_TYPES = frozenset(["application/rss+xml", "application/atom+xml", "application/rdf+xml"])
_FEED_ROOT = re.compile(rb"<(?:rss|feed|rdf:rdf)[\s>]", re.IGNORECASE)
_XML_TYPES = frozenset(["text/xml", "application/xml"])
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLANKS = b" \t\r\n\x0c\xef\xbb\xbf"
# Text by another name. Anything else that is not `text/` stays what it says it is.
_TEXT_TYPES = frozenset(
    ["application/javascript", "application/x-sh", "application/x-yaml", "application/toml", ""]
)


class Kind(StrEnum):
    HTML = "html"
    FEED = "feed"
    XML = "xml"
    JSON = "json"
    TEXT = "text"
    PDF = "pdf"
    RECORD = "record"  # imported: an object with a title and a text
    OTHER = "other"  # pictures, archives, programs: kept, never read


def text_of_record(record: Mapping[str, Any]) -> Any:
    """What an imported record says; `crawl4r export jsonl` calls it markdown."""
    return record["text"] if "text" in record else record.get("markdown")


def kind_of(content_type: str, body: bytes) -> Kind:
    """`content_type` is the bare media type, in lower case; empty when the server named none."""
    if content_type == RECORD_TYPE:
        return Kind.RECORD
    start = body[:_SNIFFED].lstrip(_BLANKS).lower()
    if start.startswith(b"%pdf-"):
        return Kind.PDF
    if b"\0" in start and not body.startswith(_UTF16):
        return Kind.OTHER
    if start.startswith(_HTML_STARTS) and not content_type.startswith(("text/plain", "text/css")):
        return Kind.HTML
    if content_type in _HTML_TYPES:
        return Kind.FEED if start.startswith(b"<?xml") and _FEED_ROOT.search(start) else Kind.HTML
    return _kind_of_text(content_type, start)


def _kind_of_text(content_type: str, start: bytes) -> Kind:
    if content_type in _FEED_TYPES or content_type == "application/feed+json":
        return Kind.JSON if content_type.endswith("json") else Kind.FEED
    if content_type in _XML_TYPES or content_type.endswith("+xml") or start.startswith(b"<?xml"):
        if b"<html" in start:
            return Kind.HTML
        return Kind.FEED if _FEED_ROOT.search(start) else Kind.XML
    if content_type == "application/json" or content_type.endswith("+json"):
        return Kind.JSON
    if content_type.startswith("text/") or content_type in _TEXT_TYPES:
        return Kind.TEXT if content_type or start else Kind.OTHER
    return Kind.OTHER
