"""Places a crawler enters and never leaves."""

import secrets
from collections.abc import Iterable
from html import escape
from urllib.parse import urlencode

from tests.site.exchange import Reply, Request, Routes, html_page

FACETS = {
    "color": ("red", "green", "blue"),
    "size": ("s", "m", "l"),
    "brand": ("acme", "initech", "hooli"),
    "sort": ("price", "name", "new"),
}


async def show_month(request: Request, reply: Reply) -> None:
    """`/calendar/YYYY/MM/`: each month links to the one before, the one after, and to next year."""
    year, month = (int(part) for part in (request.tail or "2024/01").strip("/").split("/")[:2])
    months = year * 12 + month - 1
    neighbours = [_month_path(months + step) for step in (-1, 1, 12)]
    await _send_links(reply, f"Calendar {year}-{month:02}", neighbours)


def _month_path(months: int) -> str:
    return f"/calendar/{months // 12:04}/{months % 12 + 1:02}/"


async def start_session(request: Request, reply: Reply) -> None:
    """`/session/?sid=...&page=...`: three pages, under a new session id in every link."""
    fresh = [f"/session/?sid={secrets.token_hex(8)}&page={page}" for page in range(1, 4)]
    await _send_links(reply, f"Page {request.number('page', 1)}", fresh)


async def filter_by_facets(request: Request, reply: Reply) -> None:
    """Every combination of filters, in every order of parameters, with endless result pages."""
    chosen = request.query
    filters = [chosen | {name: value} for name in FACETS for value in FACETS[name]]
    filters.append(chosen | {"page": str(request.number("page", 1) + 1)})
    orders = [[*query.items()] for query in filters] + [[*chosen.items()][::-1]]
    await _send_links(reply, "Search", [f"/facets?{urlencode(order)}" for order in orders])


async def go_deeper(request: Request, reply: Reply) -> None:
    """A relative link that should have been rooted: the path grows at each step."""
    await _send_links(reply, "Deeper", ["deeper/"])


async def pretend_to_exist(request: Request, reply: Reply) -> None:
    """A soft 404: any path is "found", with the same text, and suggests others."""
    suggestions = [f"/soft-404/{secrets.token_hex(4)}" for _ in range(3)]
    await _send_links(reply, "Page not found", suggestions)


async def _send_links(reply: Reply, title: str, hrefs: Iterable[str]) -> None:
    links = "\n".join(f'<a href="{escape(href)}">{escape(href)}</a>' for href in hrefs)
    await reply.send(html_page(title, links))


def routes() -> Routes:
    return {
        "/calendar": show_month,
        "/session": start_session,
        "/facets": filter_by_facets,
        "/deeper": go_deeper,
        "/soft-404": pretend_to_exist,
    }
