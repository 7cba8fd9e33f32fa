"""HTTP framing: status lines, lengths, chunks, interim answers, connections that end anywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.attacks.mutating import ANY_BYTES, NUMBERS, POISON_BYTES, mutated
from tests.attacks.site import Ending, Sent, Site, html_page, prose

_STATUS_LINES = (
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 200", b"HTTP/1.1  200  OK",
    b"HTTP/9.9 200 OK", b"HTTP/2 200", b"HTTP/1.1 099 Low", b"HTTP/1.1 1000 High",
    b"HTTP/1.1 -20 Minus", b"HTTP/1.1 abc", b"ICY 200 OK", b"HTTP/1.1 200 " + b"O" * 70_000,
    b"HTTP/1.1 200 \x1b[2J", b"http/1.1 200 ok", b"HTTP/1.1\t200\tOK", b"",
    b"HTTP/1.1 206 Partial Content", b"HTTP/1.1 304 Not Modified", b"HTTP/1.1 204 No Content",
    b"HTTP/1.1 101 Switch", b"PRI * HTTP/2.0", b"HTTP/1.1 401 No", b"HTTP/1.1 407 No",
    b"HTTP/1.1 421 No", b"HTTP/1.1 451 \xff\xfe", b"SSH-2.0",
)  # fmt: skip
_ENDS_OF_LINES = (b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r", b"\r\r\n", b"\0\r\n")


def chunked(chance: random.Random, body: bytes, size: int) -> Iterator[bytes]:
    """`body` in chunks of about `size` bytes, with what else may stand in the framing."""
    extension = chance.choice((b"", b"", b";a=b", b';q="\x1b[0m"', b";" + b"x" * 5_000, b" "))
    for start in range(0, len(body), size):
        piece = body[start : start + size]
        yield b"%x%s\r\n%s\r\n" % (len(piece), extension, piece)
    trailer = chance.choice((b"", b"", b"X: y\r\n", b"X: y\r\n" * 5_000, b"Content-Length: 5\r\n"))
    yield b"0\r\n" + trailer + b"\r\n"


def _in_chunks(chance: random.Random, body: bytes) -> Sent:
    size = chance.choice((1, 2, 7, 1_000, 100_000))
    framed = b"".join(chunked(chance, body, size))
    if chance.random() < 0.5:
        framed = mutated(chance, framed, by=ANY_BYTES)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Sent((head, framed))


def _with_odd_lengths(chance: random.Random, body: bytes) -> Sent:
    names = (
        b"Content-Length",
        b"Content-Length ",
        b"content-length",
        b"Content-Range",
        b"Transfer-Encoding",
    )
    values = (
        *NUMBERS,
        b"%d" % len(body),
        b"%d, %d" % (len(body), len(body)),
        b"+5",
        b"chunked, gzip",
        b"identity",
    )
    lines = [
        chance.choice(names) + b": " + chance.choice(values) for _ in range(chance.randint(1, 3))
    ]
    head = b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Type: text/html", *lines])
    return Sent(
        (head + b"\r\n\r\n" + body,), chance.choice((Ending.CLOSE, Ending.CLOSE, Ending.RESET))
    )


def _odd_status(chance: random.Random, body: bytes) -> Sent:
    end = chance.choice(_ENDS_OF_LINES)
    line = chance.choice(_STATUS_LINES)
    return Sent((line + end + b"Content-Type: text/html" + end + end + body,))


def _interim(chance: random.Random, body: bytes) -> Sent:
    """Interim answers: 100 Continue, early hints, nonsense."""
    code = chance.choice((b"100 Continue", b"102 Processing", b"103 Early Hints", b"199 ?"))
    extra = chance.choice(
        (b"", b"Link: </x>; rel=preload\r\n", b"X: " + chance.choice(POISON_BYTES) + b"\r\n")
    )
    one = b"HTTP/1.1 " + code + b"\r\n" + extra + b"\r\n"
    last = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    return Sent((one * chance.choice((1, 3, 300, 5_000)) + last,))


def _broken_off(chance: random.Random, body: bytes) -> Sent:
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )
    endings = (Ending.CLOSE,) * 6 + (Ending.RESET,) * 6 + (Ending.HOLD,)
    return Sent((whole[: chance.randrange(len(whole))],), chance.choice(endings))


def _mutated(chance: random.Random, body: bytes) -> Sent:
    whole = (
        b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nETag: "1"\r\n\r\n%s'
    )
    raw = whole % (len(body), body[: chance.choice((0, 300, 100_000))])
    return Sent((mutated(chance, raw, most=6, by=ANY_BYTES),))


_KINDS = (_in_chunks, _with_odd_lengths, _odd_status, _interim, _broken_off, _mutated)


def attack(chance: random.Random, site: Site, count: int) -> None:
    for number in range(count):
        body = html_page(f"Framed {number}", prose(chance))
        site.attack("framing", chance.choice(_KINDS)(chance, body))
