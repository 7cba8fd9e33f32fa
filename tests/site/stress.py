"""Valid answers of a size or shape that breaks parsers."""

import asyncio

from tests.site.exchange import HTML, Reply, Request, Routes, format_head, html_page

MEGABYTE = 1 << 20
SENTENCE = b"<p>The harbour keeper paints the lighthouse before sunrise.</p>\n"


async def send_nested_tags(request: Request, reply: Reply) -> None:
    """`n` tags, each inside the one before."""
    count = request.number("n", 50_000)
    await reply.send(html_page("Nested", "<div>" * count + "the bottom" + "</div>" * count))


async def send_stray_end_tags(request: Request, reply: Reply) -> None:
    """A deep drawing and `n` end tags of other elements, each looked for among all that are open."""
    count = request.number("n", 1_000_000)
    text = SENTENCE.decode() * 30
    await reply.send(html_page("Stray", text + "<svg>" + "<g>" * 600 + "</x>" * count))


async def send_many_attributes(request: Request, reply: Reply) -> None:
    """One tag with `n` attributes, the last of which is its link."""
    count = request.number("n", 50_000)
    attributes = " ".join(f'data-a{n}="{n}"' for n in range(count))
    await reply.send(html_page("Attributes", f'<a {attributes} href="/links/deep.html">deep</a>'))


async def send_many_links(request: Request, reply: Reply) -> None:
    """`n` different links to `/links/many/<i>.html`."""
    count = request.number("n", 200_000)
    links = "".join(f'<a href="/links/many/{n}.html">{n}</a>\n' for n in range(count))
    await reply.send(html_page("Many links", links))


async def send_long_link(request: Request, reply: Reply) -> None:
    """A link whose URL has `n` characters."""
    path = "/links/" + "a" * (request.number("n", 100_000) - len("/links/"))
    await reply.send(html_page("A long link", f'<a href="{path}">long</a>'))


async def send_big_page(request: Request, reply: Reply) -> None:
    """`mb` MiB of plain paragraphs, exactly, with an honest Content-Length."""
    megabytes = request.number("mb", 20)
    piece = (SENTENCE * (MEGABYTE // len(SENTENCE))).ljust(MEGABYTE)
    length = ("Content-Length", str(megabytes * MEGABYTE))
    await reply.write(format_head(200, [("Content-Type", HTML), length]))
    for _ in range(megabytes if request.method != "HEAD" else 0):
        await reply.write(piece)
        await asyncio.sleep(0)  # Other connections get a turn even if this reader is fast.


def routes() -> Routes:
    return {
        "/nested": send_nested_tags,
        "/stray": send_stray_end_tags,
        "/attributes": send_many_attributes,
        "/many-links": send_many_links,
        "/long-link": send_long_link,
        "/big": send_big_page,
    }
