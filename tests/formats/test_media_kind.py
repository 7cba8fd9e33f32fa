"""A content type is a claim; the bytes decide where it lies."""

from __future__ import annotations

import pytest

from crawl4r.formats.media_kind import Kind, kind_of

RSS = b'<?xml version="1.0"?><rss version="2.0"><channel></channel></rss>'


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", b"<p>x", Kind.HTML),
        ("text/html", b"", Kind.HTML),
        ("application/xhtml+xml", b'<?xml version="1.0"?><html/>', Kind.HTML),
        ("application/xml", b'<?xml version="1.0"?><!DOCTYPE html><html/>', Kind.HTML),
        ("", b"  \n<!DOCTYPE HTML>", Kind.HTML),
        ("application/octet-stream", b"<html><body>x", Kind.HTML),
        ("text/plain", b"<html> is a tag", Kind.TEXT),
        ("text/html", b"%PDF-1.7 ...", Kind.PDF),
        ("application/pdf", b"%PDF-1.4", Kind.PDF),
        ("text/html", b"\x89PNG\r\n\x1a\n\0\0", Kind.OTHER),
        ("text/html", b"\xff\xfe<\0p\0>\0", Kind.HTML),
        ("image/png", b"\x89PNG\r\n\x1a\n", Kind.OTHER),
        ("application/json", b"{}", Kind.JSON),
        ("application/ld+json", b"{}", Kind.JSON),
        ("application/rss+xml", RSS, Kind.FEED),
        ("text/xml", RSS, Kind.FEED),
        ("text/html", RSS, Kind.FEED),
        ("application/xml", b"<sitemap/>", Kind.XML),
        ("text/css", b"a{}", Kind.TEXT),
        ("text/markdown", b"# x", Kind.TEXT),
        ("application/javascript", b"var x", Kind.TEXT),
        ("", b"plain words", Kind.TEXT),
        ("", b"", Kind.OTHER),
        ("application/zip", b"PK\x03\x04", Kind.OTHER),
    ],
)
def test_a_body_is_what_its_bytes_say(content_type: str, body: bytes, kind: Kind) -> None:
    assert kind_of(content_type, body) is kind
