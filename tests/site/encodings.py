"""Content-Encoding: right, wrong, cut short and unknown."""

import gzip
import sys
import zlib
from collections.abc import Callable

import brotli

from tests.site.exchange import Reply, Request, Routes, html_page

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PAGE = html_page("Encoded", "<p>Decoded, this reads as plain text.</p>" * 50)


def deflate_raw(data: bytes) -> bytes:
    """What some servers send for deflate: no zlib header (RFC 9110 section 8.4.1.2)."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


# Name in the path, Content-Encoding, the body that goes with it.
Encoded = tuple[str, Callable[[bytes], bytes]]
RIGHT: dict[str, Encoded] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw-deflate": ("deflate", deflate_raw),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
    "double-gzip": ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    "upper-case": ("GZIP", gzip.compress),
    "identity": ("identity", bytes),
}
WRONG: dict[str, Encoded] = {
    "plain-as-gzip": ("gzip", bytes),
    "plain-as-br": ("br", bytes),
    "plain-as-zstd": ("zstd", bytes),
    "truncated-gzip": ("gzip", lambda data: gzip.compress(data)[:-20]),
    "trailing-gzip": ("gzip", lambda data: gzip.compress(data) + b"trailing garbage"),
    "unknown": ("rot13", bytes),
}
ALL = RIGHT | WRONG


async def send_encoded(request: Request, reply: Reply) -> None:
    """`/encoded/<name>`, whatever Accept-Encoding asks for."""
    name, encode = ALL[request.tail]
    await reply.send(encode(PAGE), headers=[("Content-Encoding", name)])


def routes() -> Routes:
    return {"/encoded": send_encoded}
