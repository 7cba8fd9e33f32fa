"""Headers: bombs, odd names, values that are taken for a date, a codec or a command."""

from __future__ import annotations

import random

from tests.attacks.mutating import ANY_BYTES, NUMBERS, POISON_BYTES, mutated
from tests.attacks.site import Sent, Site, answer, html_page, prose

# Names that Python, iconv or a browser takes for a codec, though none is one for text of strangers.
CHARSETS = (
    "utf-7", "utf-16", "utf-32", "idna", "punycode", "rot13", "hex", "base64", "zlib", "bz2", "uu",
    "undefined", "mbcs", "unicode_escape", "raw_unicode_escape", "string-escape", "oem",
    "x-user-defined", "replacement", "iso-2022-jp", "hz-gb-2312", "utf-8-sig", "cp65001", "\0",
    "a" * 5_000, "../x", "utf-8\0", "''", "\"utf-8", "tactis", "euc-kr",
)  # fmt: skip
_DATES = (
    b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 31 Dec 9999 23:59:59 GMT",
    b"Mon, 00 Foo 0000 99:99:99 +9999", b"Sat, 01 Jan 99999 00:00:00 GMT", b"-1",
    b"Sun, 29 Feb 2021 12:00:00 -2400", b"0001-01-01T00:00:00Z",
)  # fmt: skip
_DATED = (b"Date", b"Last-Modified", b"Expires", b"Retry-After", b"Age", b"Memento-Datetime")
_WORDY = (
    b"Content-Type", b"ETag", b"Server", b"Link", b"Set-Cookie", b"Content-Language",
    b"Content-Disposition", b"X-Robots-Tag", b"Vary", b"Refresh", b"WWW-Authenticate", b"Alt-Svc",
    b"Strict-Transport-Security", b"Content-Location", b"Cache-Control", b"Via", b"X-\xff", b"",
    b" X", b"X Y", b"X\x1b[2J",
)  # fmt: skip
_VALUES = (
    b"text/html; charset=", b"text/html; boundary=", b"</x>; rel=canonical", b'<%s>; rel="next"',
    b"noindex, nofollow", b"a=b; Path=/; Domain=127.0.0.2; Max-Age=", b"a=b; Expires=",
    b"0; url=javascript:alert(1)", b'attachment; filename="', b'W/"', b"max-age=",
    b"h3=\":443\"; ma=", b"Basic realm=\"", b"no-store, max-age=-1", b"en, ", b"text/", b"*/*;q=",
)  # fmt: skip


def _line(chance: random.Random) -> bytes:
    if chance.random() < 0.4:
        return chance.choice(_DATED) + b": " + chance.choice((*_DATES, *NUMBERS))
    tail = chance.choice((*POISON_BYTES, *NUMBERS, *_DATES, b"x" * 9_000))
    return chance.choice(_WORDY) + b": " + chance.choice((b"", *_VALUES)) + tail


def _many(chance: random.Random) -> list[bytes]:
    count = chance.choice((10, 90, 300, 3_000))
    return [b"X-%d: %s" % (n, b"y" * chance.choice((0, 10, 100))) for n in range(count)]


def _answer(chance: random.Random, body: bytes) -> Sent:
    if chance.random() < 0.25:
        charset = chance.choice(CHARSETS).encode("utf-8", "surrogatepass")
        return answer(body, b"text/html; charset=" + charset)
    lines = _many(chance) if chance.random() < 0.15 else []
    lines += [_line(chance) for _ in range(chance.randint(1, 8))]
    status = chance.choice((b"200 OK", b"200 OK", b"503 Busy", b"404 No", b"403 No", b"429 Slow"))
    sent = answer(body, b"text/html", *lines, status=status)
    if chance.random() < 0.3:
        head, _, rest = sent.pieces[0].partition(b"\r\n\r\n")
        return Sent((mutated(chance, head, by=ANY_BYTES) + b"\r\n\r\n" + rest,))
    return sent


def attack(chance: random.Random, site: Site, count: int) -> None:
    for number in range(count):
        site.attack("headers", _answer(chance, html_page(f"Headed {number}", prose(chance))))
