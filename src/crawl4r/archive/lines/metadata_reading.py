"""Read lines of metadata/crawl_metadata.jsonl again as captures, for a state.db that is lost.

A line comes from a file that other programs may have changed: each value is checked, and a line that
says something impossible is no capture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from crawl4r.clock import epoch_of
from crawl4r.model import Capture, Verdict
from crawl4r.safe_text import load_json
from crawl4r.urls.canonical import split

_SHA256 = re.compile(r"[0-9a-f]{64}")
_URL = re.compile(r"https?://[^\s/?#]+/\S*")
_LONGEST_LINE = 16 * 1024**2
_LARGEST = 2**53  # of any number; a row could hold more
_LATEST = 253_402_300_800.0  # the end of the year 9999, in epoch seconds


class CaptureLine(Struct, frozen=True):
    """A capture with its id, and what its line says besides."""

    capture: Capture
    crawl: str | None  # the name of its crawl; None for an import
    says_crawl: bool  # lines of older versions do not


class MetadataLines:
    """The captures of a file, line by line; its other lines are counted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.unreadable = 0  # lines that are no captures
        self.is_torn = False  # the last line has no end and is no capture

    def captures(self) -> Iterator[tuple[CaptureLine, int]]:
        """Each capture with the bytes that were read up to it."""
        with self._path.open("rb") as file:
            done = 0
            while line := file.readline(_LONGEST_LINE):
                done += len(line)
                found = capture_in(line)
                if found:
                    yield found, done
                elif line.endswith(b"\n") or len(line) == _LONGEST_LINE:
                    self.unreadable += bool(line.strip())
                else:
                    self.is_torn = True


def capture_in(line: bytes) -> CaptureLine | None:
    """The capture of a line; None when it has none."""
    try:
        record = load_json(line)
        return _line_of(record) if isinstance(record, dict) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _line_of(record: dict[str, Any]) -> CaptureLine:
    """Raises ValueError, TypeError or KeyError for a value that no capture has."""
    url = _text(record, "url")
    if not _URL.fullmatch(url) or not split(url).host:
        raise ValueError(url)
    sha256 = _text_or_none(record, "sha256")
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise ValueError(sha256)
    at = epoch_of(record["captured_at"])
    if at is None or not 0 <= at < _LATEST:
        raise ValueError(record["captured_at"])
    capture = Capture(
        url=url,
        fetched_at=at,
        status=_number(record, "status"),
        verdict=Verdict(record["verdict"]),
        reason=_text(record, "reason"),
        sha256=sha256,
        bytes=_number(record, "bytes"),
        content_type=_text(record, "content_type"),
        encoding=_text(record, "encoding"),
        headers=_headers(record),
        etag=_text_or_none(record, "etag"),
        last_modified=_text_or_none(record, "last_modified"),
        page_type=_text(record, "page_type"),
        depth=_number(record, "depth"),
        referrer=_text_or_none(record, "referrer"),
        latency_ms=_number(record, "latency_ms"),
        retries=_number(record, "retries"),
        proxy=_text(record, "proxy_id"),
        http_version=_text(record, "http_version", ""),
        address=_text(record, "address", ""),
        location=_text_or_none(record, "location"),
        id=_number(record, "capture_id", at_least=1),
    )
    return CaptureLine(capture, _text_or_none(record, "crawl"), "crawl" in record)


def _text(record: dict[str, Any], name: str, default: str | None = None) -> str:
    value = record[name] if default is None else record.get(name, default)
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _text_or_none(record: dict[str, Any], name: str) -> str | None:
    return None if record.get(name) is None else _text(record, name)


def _number(record: dict[str, Any], name: str, at_least: int = 0) -> int:
    value = record[name]
    if type(value) is not int or not at_least <= value <= _LARGEST:
        raise ValueError(name)
    return value


def _headers(record: dict[str, Any]) -> list[tuple[str, str]]:
    """None in a line of an older version."""
    pairs = record.get("headers") or ()
    found = [(name, value) for name, value in pairs]
    if not all(isinstance(each, str) for pair in found for each in pair):
        raise TypeError("headers")
    return found
