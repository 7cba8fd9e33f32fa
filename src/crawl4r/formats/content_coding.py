"""Content codings removed, with a cap on what comes out: a small body can unpack to anything."""

from __future__ import annotations

import brotli

from crawl4r.formats.inflate import GZIP, RAW, ZLIB, inflate
from crawl4r.formats.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

ACCEPTED = "gzip, deflate, br, zstd"
_MAX_CODINGS = 2
_MAX_FRAMES = 32  # of one body: each costs a copy of what follows it
_ZSTD_WINDOW_LOG = 23  # 8 MiB, the most RFC 9659 lets a server use


class Undecodable(Exception):
    """The body is not what Content-Encoding says."""


class TooLarge(Exception):
    """More than the cap came out."""


def remove_codings(body: bytes, codings: str | None, cap: int) -> bytes:
    """Undo `codings` (a Content-Encoding value), the last applied first."""
    names = [name for part in (codings or "").lower().split(",") if (name := part.strip())]
    names = [name for name in names if name != "identity"]
    if not body or not names:
        return body
    if len(names) > _MAX_CODINGS:
        raise Undecodable(f"{len(names)} content codings on top of each other")
    for name in reversed(names):
        decode = _DECODERS.get(name)
        if decode is None:
            raise Undecodable(f"unknown content coding {name[:40]!r}")
        body = decode(body, cap)
        if len(body) > cap:
            raise TooLarge(f"unpacks to more than {cap} bytes")
    return body


def _gunzip(body: bytes, cap: int) -> bytes:
    return _inflate(body, cap, GZIP)


def _undeflate(body: bytes, cap: int) -> bytes:
    """RFC 9110 means zlib; some servers send raw deflate, and browsers take both."""
    is_zlib = len(body) >= 2 and (body[0] & 0x0F) == 8 and int.from_bytes(body[:2]) % 31 == 0
    return _inflate(body, cap, ZLIB if is_zlib else RAW)


def _inflate(body: bytes, cap: int, container: int) -> bytes:
    data, problem = inflate(body, cap, container)
    if problem:
        raise Undecodable(problem)
    return data


def _unbrotli(body: bytes, cap: int) -> bytes:
    decompressor = brotli.Decompressor()
    try:
        out = bytes(decompressor.process(body, output_buffer_limit=cap + 1))
        while not decompressor.is_finished() and len(out) <= cap:
            more = decompressor.process(b"", output_buffer_limit=cap + 1 - len(out))
            if not more:
                raise Undecodable("br ends too early")
            out += more
    except brotli.error as problem:
        raise Undecodable(f"not br: {problem}") from None
    return out


def _unzstd(body: bytes, cap: int) -> bytes:
    out = b""
    for _ in range(_MAX_FRAMES):
        decompressor = ZstdDecompressor(
            options={DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
        )
        try:
            out += decompressor.decompress(body, cap + 1 - len(out))
        except ZstdError as problem:
            raise Undecodable(f"not zstd: {problem}") from None
        if not decompressor.eof and len(out) <= cap:
            raise Undecodable("zstd ends too early")
        if len(out) > cap or not decompressor.unused_data:
            return out
        body = decompressor.unused_data
    raise Undecodable(f"more than {_MAX_FRAMES} zstd frames")


_DECODERS = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
