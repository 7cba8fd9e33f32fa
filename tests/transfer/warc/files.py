"""WARC files written by hand, so that they can be wrong in every way."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterable

from crawl4r.formats import zstd

DATE = "2026-03-04T05:06:07.125Z"


def record(
    kind: str,
    uri: str = "",
    block: bytes = b"",
    *,
    length: int | None = None,
    date: str = DATE,
    **fields: str,
) -> bytes:
    """One record; `length` may lie, fields are named like `warc_refers_to`."""
    lines = ["WARC/1.1", f"WARC-Type: {kind}", f"WARC-Date: {date}"]
    lines += [f"WARC-Target-URI: {uri}"] if uri else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    lines += [f"Content-Length: {len(block) if length is None else length}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def http(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers]).encode("latin-1") + b"\r\n\r\n" + body


def html_page(words: str) -> bytes:
    prose = "The harbour keeper paints the lighthouse before sunrise, and the gulls watch him. "
    return f"<html lang=en><title>{words}</title><main><h1>{words}</h1><p>{prose * 6}</p>".encode()


def response(uri: str, body: bytes, *headers: str, date: str = DATE, **more: str) -> bytes:
    said = headers or ("Content-Type: text/html",)
    return record("response", uri, http(body, *said), date=date, **more)


def gzipped(records: Iterable[bytes]) -> bytes:
    return b"".join(gzip.compress(data, mtime=0) for data in records)


def zstandard(records: Iterable[bytes], dictionary: zstd.ZstdDict | None = None) -> bytes:
    options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
    return b"".join(zstd.compress(data, None, options, dictionary) for data in records)


def skippable(data: bytes, kind: int = 0x50) -> bytes:
    return struct.pack("<II", 0x184D2A00 | kind, len(data)) + data


PACKERS = {"gzip": gzipped, "zstd": zstandard, "none": b"".join}


def gzip_bomb(start: bytes, zeros: int) -> bytes:
    """A member that begins with `start` and goes on with zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = [packer.compress(start)]
    block = bytes(1024**2)
    packed += [packer.compress(block) for _ in range(zeros // len(block))]
    return b"".join([*packed, packer.flush()])
