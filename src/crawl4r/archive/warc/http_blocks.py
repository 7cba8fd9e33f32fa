"""HTTP messages for WARC files, faithful to the stored data and ready for replay.

Stored bodies have no codings. Headers about the bytes on the wire are therefore renamed, as in Common
Crawl, and the header has the length of the stored body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from http import HTTPStatus

from crawl4r.model import Capture
from crawl4r.urls.canonical import split

Headers = Sequence[tuple[str, str]]

RENAMED = "X-Crawler-"
_CODINGS = frozenset(["content-encoding", "transfer-encoding"])
_BREAKS = re.compile(r"[\r\n\0]+")
_NOT_MODIFIED = 304


def response_head(capture: Capture, length: int) -> bytes:
    """The head of the answer in HTTP/1.x, for a body of `length` bytes."""
    version = "1.0" if capture.http_version == "1.0" else "1.1"
    lines = [f"HTTP/{version} {capture.status} {_phrase(capture.status)}"]
    headers = _fitting(capture.headers, capture.status, length)
    lines += (f"{_one_line(name)}: {_one_line(value)}" for name, value in headers)
    return _head(lines)


def request_head(url: str, header_lines: Iterable[str]) -> bytes:
    """The request without credentials and cookies, which the archive does not keep."""
    parts = split(url)
    lines = [f"GET {parts.path} HTTP/1.1", f"Host: {parts.netloc}"]
    return _head([*lines, *map(_one_line, header_lines)])


def as_received(headers: Headers) -> list[tuple[str, str]]:
    """Undo the renaming: the headers of the server, with lower-case names."""
    prefix = RENAMED.lower()
    renamed = {name[len(prefix) :] for name, _ in headers if name.startswith(prefix)}
    # For a chunked body the writer added the length.
    is_length_ours = "content-length" in renamed or "transfer-encoding" in renamed
    return [
        (name.removeprefix(prefix), value)
        for name, value in headers
        if not (name == "content-length" and is_length_ours)
    ]


def _fitting(headers: Headers, status: int, length: int) -> list[tuple[str, str]]:
    fitting: list[tuple[str, str]] = []
    has_length = False
    for name, value in headers:
        is_coding = name in _CODINGS and value.lower() != "identity"
        # The length in a 304 is that of the omitted body.
        is_length = name == "content-length" and status != _NOT_MODIFIED
        if is_length and value == str(length) and not has_length:
            has_length = True
            fitting.append((name, value))
        elif is_coding or is_length:
            fitting.append((RENAMED + name.title(), value))
        else:
            fitting.append((name, value))
    if not has_length and _has_body(status):
        fitting.append(("Content-Length", str(length)))
    return fitting


def _has_body(status: int) -> bool:
    return status >= 200 and status not in {HTTPStatus.NO_CONTENT, _NOT_MODIFIED}


def _phrase(status: int) -> str:
    """The usual reason phrase; that of the server is not stored."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _one_line(text: str) -> str:
    """Replace line ends by spaces (RFC 9110, 5.5)."""
    return _BREAKS.sub(" ", text)


def _head(lines: Sequence[str]) -> bytes:
    """Encode as Latin-1, in which headers were decoded, to restore the bytes."""
    text = "\r\n".join(lines) + "\r\n\r\n"
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
