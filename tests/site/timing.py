"""Status codes, answers that fail for a while, and answers that take their time."""

import time
from collections import Counter
from email.utils import formatdate

from tests.site.exchange import BODYLESS, Headers, Reply, Request, Routes, format_head, html_page


async def answer_status(request: Request, reply: Reply) -> None:
    status = int(request.tail)
    body = b"" if status in BODYLESS else html_page(f"Status {status}", "<p>As asked.</p>")
    await reply.send(body, status=status, headers=_retry_after(request))


def _retry_after(request: Request) -> Headers:
    """`retry_after=2` is sent as it is, `retry_after=date:2` as the HTTP date 2 s from now."""
    wish = request.query.get("retry_after")
    if wish is None:
        return []
    kind, _, seconds = wish.rpartition(":")
    value = formatdate(time.time() + float(seconds), usegmt=True) if kind == "date" else wish
    return [("Retry-After", value)]


class FlakyAnswers:
    """`/flaky/<id>?fail=2&status=503`: each id fails its first requests, then works for ever."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, str]] = Counter()

    async def __call__(self, request: Request, reply: Reply) -> None:
        key = (request.host, request.tail)
        self._asked[key] += 1
        if self._asked[key] > request.number("fail", 1):
            await reply.send(html_page("Recovered", f"<p>Attempt {self._asked[key]}.</p>"))
        else:
            status = request.number("status", 503)
            await reply.send(b"", status=status, headers=_retry_after(request))


async def answer_late(request: Request, reply: Reply) -> None:
    """`ms` of silence before the first byte."""
    await request.pause(500)
    await reply.send(html_page("Slow", "<p>Sorry for the wait.</p>"))


async def answer_with_slow_headers(request: Request, reply: Reply) -> None:
    """The status line at once, then `n` header lines, `ms` before each: a slow loris."""
    body = html_page("Slow headers", "<p>At last.</p>")
    await reply.write(format_head(200).removesuffix(b"\r\n"))
    for line in range(request.number("n", 5)):
        await request.pause(500)
        await reply.write(b"X-Line-%d: still here\r\n" % line)
    await reply.write(b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def never_answer(request: Request, reply: Reply) -> None:
    await reply.stay_silent()


def routes() -> Routes:
    return {
        "/status": answer_status,
        "/flaky": FlakyAnswers(),
        "/slow": answer_late,
        "/slow-headers": answer_with_slow_headers,
        "/hang": never_answer,
    }
