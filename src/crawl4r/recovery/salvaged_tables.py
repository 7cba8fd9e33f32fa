"""The tables that are brought back from a damaged state.db, with what their values may be.

Documents and what belongs to them are missing here: they are made again from the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from crawl4r.model import FoundBy, UrlState, Verdict
from crawl4r.safe_text import read_json
from crawl4r.storage.crawls import CrawlState, is_name
from crawl4r.storage.salvage import Check, Table
from crawl4r.urls.canonical import split

_LATEST = 253_402_300_800.0  # the end of the year 9999, in epoch seconds
_NOTES_IN_JSON = {"scope_hosts": list, "judged_by": dict, "options": dict}
_NOTES = {*_NOTES_IN_JSON, "revisit_round"}


def _is_number(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_flag(value: Any) -> bool:
    return type(value) is int and value in {0, 1}


def _is_real(value: Any) -> bool:
    return type(value) in {int, float} and -_LATEST < value < _LATEST


def _is_moment(value: Any) -> bool:
    return _is_real(value) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_filled(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_bytes(value: Any) -> bool:
    return isinstance(value, bytes)


def _is_url(value: Any) -> bool:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        return False
    try:
        return bool(split(value).host) and not any(letter <= " " for letter in value)
    except ValueError:  # an address in brackets that are not closed
        return False


def _is_list(value: Any) -> bool:
    return _is_json(value, list)


def _is_json(value: Any, kind: type) -> bool:
    try:
        return isinstance(value, str) and isinstance(read_json(value), kind)
    except ValueError:
        return False


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _one_of(words: type[StrEnum]) -> Check:
    known = frozenset(word.value for word in words)
    return lambda value: value in known


def _note_is_true(key: str, value: str) -> bool:
    kind = _NOTES_IN_JSON.get(key)
    return kind is None or _is_json(value, kind)


_verdict, _name, _at = _one_of(Verdict), is_name, _is_moment
_MEMBER = {"document": _is_filled, "added_at": _at}

# A table comes behind those that its rows name.
TABLES: Sequence[Table] = (
    Table(
        "crawls",
        {
            "id": _is_number, "name": _name, "kind": _is_filled, "state": _one_of(CrawlState),
            "created_at": _at, "started_at": _or_none(_at), "ended_at": _or_none(_at),
            "ended_by": _is_text,
        },
    ),
    Table(
        "crawl_notes",
        {"crawl_id": _is_number, "key": lambda key: key in _NOTES, "value": _is_text},
        ("crawl_id", "key"),
    ),
    Table(
        "collections",
        {
            "id": _is_number, "name": _is_filled, "created_at": _at,
            "keep_captures": _or_none(_is_count), "keep_days": _or_none(_at),
        },
    ),
    Table(
        "collection_documents", {"collection_id": _is_number, **_MEMBER},
        ("collection_id", "document"),
    ),
    Table("tags", {"id": _is_number, "name": _is_filled, "created_at": _at}),
    Table("document_tags", {"tag_id": _is_number, **_MEMBER}, ("tag_id", "document")),
    Table(
        "deleted_documents",
        {"document": _is_filled, "url": _is_url, "deleted_at": _at, "lasts": _is_flag},
        ("document",),
    ),
    Table(
        "hosts",
        {
            "id": _is_number, "name": _is_filled, "next_at": _at, "delay": _at,
            "failures": _is_count, "openings": _is_count, "open_until": _at,
        },
    ),
    Table(
        "robots",
        {
            "origin": _is_url, "outcome": _is_filled, "status": _or_none(_is_count),
            "body": _is_bytes, "fetched_at": _at, "expires_at": _at,
        },
        ("origin",),
    ),
    Table("requests", {"id": _is_number, "headers": _is_list}),
    Table("pages", {"id": _is_number, "url": _is_url, "host_id": _is_number}),
    Table(
        "attempts",
        {
            "page_id": _is_number, "at": _at, "verdict": _verdict, "reason": _is_text,
            "status": _or_none(_is_count), "latency_ms": _is_count,
        },
    ),
    Table(
        "errands",
        {
            "host_id": _is_number, "at": _at, "url": _is_filled, "status": _or_none(_is_count),
            "latency_ms": _is_count, "reason": _is_text,
        },
    ),
    Table(
        "revisits",
        {
            "page_id": _is_number, "visits": _is_count, "changes": _is_count, "still": _at,
            "moving": _at, "visited_at": _or_none(_at), "gone": _is_count,
            "lastmod": _or_none(_is_real), "corrected": _is_count,
        },
    ),
    Table(
        "urls",
        {
            "id": _is_number, "crawl_id": _is_number, "url": _is_url, "host_id": _is_number,
            "state": _one_of(UrlState), "priority": _is_real, "depth": _is_count,
            "found_by": _one_of(FoundBy), "found_at": _at, "referrer": _or_none(_is_number),
            "rule": _is_text, "page_type": _is_text, "nofollow": _is_flag,
            "redirects": _is_count, "attempts": _is_count, "due_at": _or_none(_at),
            "verdict": _or_none(_verdict), "reason": _or_none(_is_text),
            "capture": _or_none(_is_number), "content": _or_none(_is_number), "written": _is_text,
        },
    ),
)  # fmt: skip

# Values that lines of the metadata lack: they complete a capture that the line tells, and no more.
CAPTURES = Table(
    "captures",
    {
        "id": _is_number, "fetched_at": _at, "status": _is_count,
        "sha256": _or_none(_is_bytes), "request": _or_none(_is_number),
        "crawl_id": _or_none(_is_number), "headers": _is_list,
    },
)  # fmt: skip


def is_true(table: Table, row: Sequence[Any]) -> bool:
    """What no value shows by itself."""
    if table.name != "crawl_notes":
        return True
    _, key, value = row
    return _note_is_true(key, value)
