"""Bodies framed in every lawful way, and in the unlawful ones."""

import asyncio

from tests.site.exchange import (
    HTML,
    Headers,
    Reply,
    Request,
    Routes,
    format_chunk,
    format_head,
    html_page,
)

PAGE = html_page("A body", "<p>All of this arrived.</p>" * 20)
HTML_TYPE = ("Content-Type", HTML)
CHUNKED = ("Transfer-Encoding", "chunked")
FILLER = b"<p>There is more where this came from.</p>\n" * 200
POISON = html_page("Poison", "<p>An answer that nobody asked for.</p>")


async def send_chunked(request: Request, reply: Reply) -> None:
    await reply.write(format_head(200, [HTML_TYPE, CHUNKED]))
    for start in range(0, len(PAGE), 100):
        await reply.write(format_chunk(PAGE[start : start + 100]))
    await reply.write(b"0\r\n\r\n")


async def send_until_close(request: Request, reply: Reply) -> None:
    await _send_and_hang_up(reply, [HTML_TYPE], PAGE)


async def send_http10(request: Request, reply: Reply) -> None:
    reply.hang_up()
    await reply.write(format_head(200, [HTML_TYPE], version="HTTP/1.0") + PAGE)


async def send_truncated(request: Request, reply: Reply) -> None:
    """Half of the bytes that Content-Length promises."""
    promised = ("Content-Length", str(len(PAGE)))
    await _send_and_hang_up(reply, [HTML_TYPE, promised], PAGE[: len(PAGE) // 2])


async def send_more_than_said(request: Request, reply: Reply) -> None:
    """Content-Length ends before the body does, and what follows looks like another answer.

    A client that uses the connection again takes it for the answer to its next request.
    """
    poison_head = format_head(200, [HTML_TYPE, ("Content-Length", str(len(POISON)))])
    head = format_head(200, [HTML_TYPE, ("Content-Length", str(len(PAGE)))])
    await reply.write(head + PAGE + poison_head + POISON)


async def send_two_lengths(request: Request, reply: Reply) -> None:
    lengths = [("Content-Length", str(len(PAGE))), ("Content-Length", "10")]
    await _send_and_hang_up(reply, [HTML_TYPE, *lengths], PAGE)


async def send_broken_chunks(request: Request, reply: Reply) -> None:
    body = format_chunk(PAGE[:100]) + b"zz-not-hex\r\n" + PAGE[100:]
    await _send_and_hang_up(reply, [HTML_TYPE, CHUNKED], body)


async def send_chunks_without_end(request: Request, reply: Reply) -> None:
    """The connection closes before the chunk of size zero."""
    await _send_and_hang_up(reply, [HTML_TYPE, CHUNKED], format_chunk(PAGE))


async def send_empty(request: Request, reply: Reply) -> None:
    await reply.send(b"")


async def send_204_with_body(request: Request, reply: Reply) -> None:
    """RFC 9110 section 15.3.5: a 204 ends with its head, so its body belongs to no answer."""
    head = format_head(204, [HTML_TYPE, ("Content-Length", str(len(PAGE)))])
    await reply.write(head + PAGE)


async def send_endless(request: Request, reply: Reply) -> None:
    """As fast as the client reads, until it stops; `?chunked=1` for the other framing."""
    is_chunked = bool(request.number("chunked", 0))
    await reply.write(format_head(200, [HTML_TYPE, CHUNKED] if is_chunked else [HTML_TYPE]))
    piece = format_chunk(FILLER) if is_chunked else FILLER
    while True:
        await reply.write(piece)
        # A reader that keeps up never makes us wait: let the other connections have a turn.
        await asyncio.sleep(0)


async def send_drop_by_drop(request: Request, reply: Reply) -> None:
    """One byte each `ms`, `n` bytes in all."""
    size = request.number("n", 1000)
    await reply.write(format_head(200, [HTML_TYPE, ("Content-Length", str(size))]))
    for _ in range(size):
        await request.pause(100)
        await reply.write(b"x")


async def reset_in_the_middle(request: Request, reply: Reply) -> None:
    """`after` bytes of the body, then a TCP reset."""
    head = format_head(200, [HTML_TYPE, ("Content-Length", str(len(PAGE)))])
    await reply.write(head + PAGE[: request.number("after", 100)])
    await asyncio.sleep(0.05)  # The client reads the bytes before the reset can discard them.
    reply.reset()


async def close_without_a_byte(request: Request, reply: Reply) -> None:
    reply.hang_up()


async def send_garbage(request: Request, reply: Reply) -> None:
    reply.hang_up()
    await reply.write(bytes(range(256)) * 4)


async def _send_and_hang_up(reply: Reply, headers: Headers, body: bytes) -> None:
    reply.hang_up()
    await reply.write(format_head(200, headers) + body)


def routes() -> Routes:
    return {
        "/body/chunked": send_chunked,
        "/body/close-delimited": send_until_close,
        "/body/http10": send_http10,
        "/body/truncated": send_truncated,
        "/body/short-length": send_more_than_said,
        "/body/two-lengths": send_two_lengths,
        "/body/broken-chunks": send_broken_chunks,
        "/body/unended-chunks": send_chunks_without_end,
        "/body/empty": send_empty,
        "/body/204-with-body": send_204_with_body,
        "/endless": send_endless,
        "/drip": send_drop_by_drop,
        "/reset": reset_in_the_middle,
        "/close": close_without_a_byte,
        "/garbage": send_garbage,
    }
