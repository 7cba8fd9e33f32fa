"""Redirects that end, that do not, and that lead nowhere."""

from html import escape

from tests.site.exchange import Reply, Request, Routes, format_head, html_page

UNPARSABLE_LOCATION = "http://[::1:99999/%zz"


async def redirect_some_times(request: Request, reply: Reply) -> None:
    """`/redirect/<n>`: n redirects, then a page."""
    left = int(request.tail)
    if left:
        await reply.redirect(f"/redirect/{left - 1}")
    else:
        await reply.send(html_page("Arrived", "<p>The end of the chain.</p>"))


async def redirect_in_circles(request: Request, reply: Reply) -> None:
    await reply.redirect("/redirect-loop" if request.tail else "/redirect-loop/back")


async def redirect_to_wish(request: Request, reply: Reply) -> None:
    """`?url=` (percent-encoded) and `status`."""
    await reply.redirect(request.query["url"], request.number("status", 302))


async def redirect_for_ever(request: Request, reply: Reply) -> None:
    """Unlike a loop, never the same URL twice."""
    await reply.redirect(f"/redirect-endless/{int(request.tail or 0) + 1}")


async def redirect_without_location(request: Request, reply: Reply) -> None:
    await reply.send(html_page("Go away", "<p>But where to?</p>"), status=302)


async def redirect_relatively(request: Request, reply: Reply) -> None:
    """From /redirect-odd/relative to /redirect/0."""
    await reply.redirect("../redirect/0")


async def redirect_to_nonsense(request: Request, reply: Reply) -> None:
    await reply.redirect(UNPARSABLE_LOCATION)


async def redirect_in_utf8(request: Request, reply: Reply) -> None:
    """A Location of raw UTF-8 bytes, which many real servers send."""
    reply.hang_up()
    head = format_head(302, [("Content-Length", "0"), ("Connection", "close")])
    location = "Location: /redirect/0?q=café\r\n\r\n".encode()
    await reply.write(head.removesuffix(b"\r\n") + location)


async def redirect_by_meta_refresh(request: Request, reply: Reply) -> None:
    """`?url=` and `seconds`; a page that a browser leaves by itself."""
    url = request.query.get("url", "/redirect/0")
    content = escape(f"{request.number('seconds', 0)}; url={url}")
    head = f'<meta http-equiv="refresh" content="{content}">'
    await reply.send(html_page("Moved", "<p>We have moved.</p>", head))


def routes() -> Routes:
    return {
        "/redirect": redirect_some_times,
        "/redirect-loop": redirect_in_circles,
        "/redirect-to": redirect_to_wish,
        "/redirect-endless": redirect_for_ever,
        "/redirect-odd/no-location": redirect_without_location,
        "/redirect-odd/relative": redirect_relatively,
        "/redirect-odd/unparsable": redirect_to_nonsense,
        "/redirect-odd/utf-8": redirect_in_utf8,
        "/meta-refresh": redirect_by_meta_refresh,
    }
