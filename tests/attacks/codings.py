"""Content codings: packed bodies that are broken, stacked, mislabelled or larger than they look."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable

import brotli

from crawl4r.formats import zstd
from tests.attacks.mutating import ANY_BYTES, POISON_BYTES, mutated
from tests.attacks.site import Sent, Site, answer, html_page, prose


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


_PACKERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"gzip": lambda body: gzip.compress(body, mtime=0),
    b"x-gzip": lambda body: gzip.compress(body, mtime=0) * 3,
    b"deflate": zlib.compress,
    b"Deflate": _raw_deflate,
    b"br": brotli.compress,
    b"zstd": zstd.compress,
    b"identity": lambda body: body,
}
_UNKNOWN = (
    b"rot13",
    b"compress",
    b"",
    b",,,",
    b"[/bold]",
    b"*",
    b"gzip;q=1",
    b"dcb",
    b"\xff",
    b"aws-chunked",
)


def _bomb(chance: random.Random) -> bytes:
    """Up to 40 MB of one line, which is more than a page may have."""
    line = chance.choice((b"\0", b"\n", b"<p>", b"word ", b"<!-- ", b"[", b"a\n"))
    return line * (chance.choice((1, 8, 40)) * 1_000_000 // len(line))


def _packed(chance: random.Random, body: bytes) -> Sent:
    names = [chance.choice(list(_PACKERS)) for _ in range(chance.choice((1, 1, 1, 2, 5, 12)))]
    if chance.random() < 0.1:
        body = _bomb(chance)
    for name in names:
        body = _PACKERS[name](body)
    if chance.random() < 0.5:
        body = mutated(chance, body, by=ANY_BYTES)
    said = list(names)
    if chance.random() < 0.3:
        said[chance.randrange(len(said))] = chance.choice((*_UNKNOWN, *_PACKERS, *POISON_BYTES))
    return answer(body, b"text/html", b"Content-Encoding: " + b", ".join(said))


def attack(chance: random.Random, site: Site, count: int) -> None:
    for number in range(count):
        site.attack("codings", _packed(chance, html_page(f"Packed {number}", prose(chance))))
