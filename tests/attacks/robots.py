"""robots.txt: rules, delays and sitemap lines that are odd, endless, or no rules at all."""

from __future__ import annotations

import random

from tests.attacks.framing import chunked
from tests.attacks.mutating import NUMBERS, POISON_BYTES, mutated
from tests.attacks.redirects import target
from tests.attacks.site import Sent, Site, answer, html_page, prose

_PATTERNS = (
    b"/", b"", b"*", b"/*", b"/*$", b"/" + b"*a" * 300 + b"$", b"/%zz", b"/%00", b"/\xff",
    b"/caf\xc3\xa9", b"$", b"/$$", b"/" + b"a" * 5_000, b"?", b"/(?!x)[", b"/*.pdf$", b"//", b"\\",
    b"/html/", b"/a%2Fb", b"/%61",
)  # fmt: skip
_TYPES = (
    b"text/plain",
    b"text/plain",
    b"text/html",
    b"application/octet-stream",
    b"",
    b"image/png",
)


def _line(chance: random.Random, origin: str) -> bytes:
    kind = chance.random()
    if kind < 0.2:
        name = chance.choice((b"*", b"crawlr", b"Crawlr/0.1", b"", b"C" * 2_000, b"bot\x1b[2J"))
        return b"User-agent: " + name
    if kind < 0.65:
        return chance.choice(
            (b"Disallow: ", b"Allow: ", b"disallow:", b"DISALLOW :")
        ) + chance.choice(_PATTERNS)
    if kind < 0.8:
        return chance.choice(
            (b"Crawl-delay: ", b"Request-rate: 1/", b"Visit-time: ")
        ) + chance.choice(NUMBERS)
    if kind < 0.9:
        return b"Sitemap: " + target(chance, origin).replace(b"\n", b" ")
    return chance.choice(POISON_BYTES) * chance.choice((1, 1, 200))


def rules(chance: random.Random, origin: str) -> bytes:
    end = chance.choice((b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b"\x0b"))
    lines = [_line(chance, origin) for _ in range(chance.choice((0, 3, 20, 200)))]
    text = chance.choice((b"", b"\xef\xbb\xbf", b"\xff\xfe")) + end.join(lines)
    if chance.random() < 0.05:
        text = (b"User-agent: *\nDisallow: /" + b"x" * 90 + b"\n") * 5_000
    return mutated(chance, text) if text and chance.random() < 0.5 else text


def _served(chance: random.Random, text: bytes) -> Sent:
    if chance.random() < 0.15:
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        return Sent((head, b"".join(chunked(chance, text[:30_000], chance.choice((1, 2, 50))))))
    status = chance.choice(
        (b"200 OK",) * 8 + (b"404 No", b"500 No", b"301 M", b"204 No", b"403 No")
    )
    return answer(text, chance.choice(_TYPES), b"Location: /robots.txt", status=status)


def attack(chance: random.Random, site: Site, count: int) -> None:
    """One file for the whole host: the pages behind it are there to be asked about."""
    site.put("/robots.txt", _served(chance, rules(chance, site.bad.url)), is_linked=False)
    for number in range(min(count, 3)):
        site.attack("robots", answer(html_page(f"Behind rules {number}", prose(chance))))
