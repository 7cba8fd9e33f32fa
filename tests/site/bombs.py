"""Small answers that are huge once decoded. Made when first asked for, then kept."""

import asyncio
import functools
import sys
import zlib
from collections.abc import Callable, Iterator

import brotli

from tests.site.exchange import Reply, Request, Routes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEGABYTE = 1 << 20
GZIP_WBITS = 16 + zlib.MAX_WBITS
START = b"<!doctype html><title>A bomb</title><p>"

CONTENT_ENCODINGS = {"gzip": "gzip", "br": "br", "zstd": "zstd", "double-gzip": "gzip, gzip"}


@functools.lru_cache(maxsize=16)
def make_bomb(kind: str, megabytes: int) -> bytes:
    """The encoded body; decoded, it is exactly `megabytes` MiB of HTML that never gets anywhere."""
    match kind:
        case "gzip":
            return _gzip(_pieces(megabytes))
        case "br":
            brotli_stream = brotli.Compressor(quality=5)
            return _squeeze(_pieces(megabytes), brotli_stream.process, brotli_stream.finish)
        case "zstd":
            zstd_stream = zstd.ZstdCompressor()
            return _squeeze(_pieces(megabytes), zstd_stream.compress, zstd_stream.flush)
        case "double-gzip":
            return _gzip(iter([make_bomb("gzip", megabytes)]))
        case _:
            raise ValueError(f"no such bomb: {kind}")


def _gzip(pieces: Iterator[bytes]) -> bytes:
    stream = zlib.compressobj(9, wbits=GZIP_WBITS)
    return _squeeze(pieces, stream.compress, stream.flush)


def _squeeze(
    pieces: Iterator[bytes], compress: Callable[[bytes], bytes], finish: Callable[[], bytes]
) -> bytes:
    """Piece by piece, so that the bomb does not go off here."""
    return b"".join([*map(compress, pieces), finish()])


def _pieces(megabytes: int) -> Iterator[bytes]:
    yield START + b" " * (MEGABYTE - len(START))
    blank = b" " * MEGABYTE
    for _ in range(megabytes - 1):
        yield blank


async def send_bomb(request: Request, reply: Reply) -> None:
    """`/bomb/<kind>?mb=200`. A thread makes it, so that other answers are not held up."""
    kind = request.tail
    body = await asyncio.to_thread(make_bomb, kind, request.number("mb", 200))
    await reply.send(body, headers=[("Content-Encoding", CONTENT_ENCODINGS[kind])])


def routes() -> Routes:
    return {"/bomb": send_bomb}
