"""Response heads that are too large, malformed, or merely strange."""

import asyncio
from collections.abc import Iterable

from tests.site.exchange import Reply, Request, Routes, html_page

PAGE = html_page("A head", "<p>The body is fine.</p>")


async def send_megabyte_of_headers(request: Request, reply: Reply) -> None:
    await _send_with_lines(reply, (b"X-Large-%d: " % n + b"a" * 1000 for n in range(1040)))


async def send_ten_thousand_headers(request: Request, reply: Reply) -> None:
    await _send_with_lines(reply, (b"X-%d: a" % n for n in range(10_000)))


async def send_long_line(request: Request, reply: Reply) -> None:
    await _send_with_lines(reply, [b"X-Long: " + b"a" * 200 * 1024])


async def send_line_without_colon(request: Request, reply: Reply) -> None:
    await _send_with_lines(reply, [b"this line has no colon", b"X-After: still here"])


async def send_folded_line(request: Request, reply: Reply) -> None:
    """RFC 9112 section 5.2: obsolete line folding."""
    await _send_with_lines(reply, [b"X-Folded: one", b"  two"])


async def send_duplicates(request: Request, reply: Reply) -> None:
    lines = [b"X-Twice: one", b"X-Twice: two", b"Set-Cookie: a=1", b"Set-Cookie: b=2"]
    await _send_with_lines(reply, [*lines, b"Content-Type: image/png"])


async def send_non_ascii_values(request: Request, reply: Reply) -> None:
    utf8 = "X-Utf8: café 日本".encode()
    await _send_with_lines(reply, [utf8, b"X-Latin1: caf\xe9", b"X-Invalid: \xff\xfe\x80"])


async def send_endless_head(request: Request, reply: Reply) -> None:
    """Headers without end, as fast as the client reads."""
    await reply.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        await reply.write(b"X-More: " + b"a" * 8000 + b"\r\n")
        await asyncio.sleep(0)  # Other connections get a turn even if this reader is fast.


async def _send_with_lines(reply: Reply, lines: Iterable[bytes]) -> None:
    honest = [b"Content-Type: text/html; charset=utf-8", b"Content-Length: %d" % len(PAGE)]
    await reply.write(b"\r\n".join([b"HTTP/1.1 200 OK", *honest, *lines, b"", PAGE]))


def routes() -> Routes:
    return {
        "/head/megabyte": send_megabyte_of_headers,
        "/head/ten-thousand": send_ten_thousand_headers,
        "/head/long-line": send_long_line,
        "/head/no-colon": send_line_without_colon,
        "/head/folded": send_folded_line,
        "/head/duplicated": send_duplicates,
        "/head/non-ascii": send_non_ascii_values,
        "/head/endless": send_endless_head,
    }
