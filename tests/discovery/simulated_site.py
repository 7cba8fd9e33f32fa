"""A site in memory: lists with an end, some of whose pages nobody links to, among traps without one."""

from __future__ import annotations

import random
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

HOST = "https://site.example"
LAST = 40  # page of each list
FACETS = {
    "brand": ["acme", "hooli", "initech", "umbrella"],
    "color": ["red", "green", "blue", "black", "white"],
    "size": ["s", "m", "l", "xl"],
    "sort": ["name", "price", "new"],
}
EVENTFUL = [(2025, month) for month in range(6, 12)]
SECTIONS = 12  # of the part with session ids


class Answer(NamedTuple):
    status: int
    links: list[tuple[str, str]] = []  # noqa: RUF012 - a tuple's default is never changed
    text: frozenset[str] = frozenset()  # what it says, sentence by sentence
    location: str = ""

    @property
    def html(self) -> bytes:
        anchors = "\n".join(
            f'<a href="{escape(url)}">{escape(name)}</a>' for url, name in self.links
        )
        return f"<html><body>{anchors}</body></html>".encode()


class Site:
    """Answers for every URL, as a server would."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)

    def get(self, url: str) -> Answer:  # noqa: PLR0911 - one for each part of the site
        path, _, query = url.removeprefix(HOST).partition("?")
        params = dict(parse_qsl(query))
        segments = [part for part in path.split("/") if part]
        match segments:
            case []:
                starts = ["/news", "/blog/", "/forum?f=1", "/gallery", "/log?skip=0", "/shop"]
                starts += ["/calendar/2025/11/", "/app/1?key=" + self._token()]
                return Answer(200, [(start, start) for start in starts], frozenset(["home"]))
            case ["news"]:
                return self._list("/news", int(params.get("page", 1)), "/news?page={}", "404")
            case ["blog"]:
                return self._hidden_list(1)
            case ["blog", "page", number]:
                return self._hidden_list(int(number))
            case ["forum"]:
                number = int(params.get("start", 0)) // 25 + 1
                return self._list(
                    "/forum?f=1", number, "/forum?f=1&start={}", "last again", step=25
                )
            case ["gallery", *rest]:
                return self._list(
                    "/gallery", int(rest[0]) if rest else 1, "/gallery/{}", "redirect"
                )
            case ["log"]:
                number = int(params.get("skip", 0)) // 10 + 1
                return self._list("/log?skip=0", number, "/log?skip={}", "empty", step=10)
            case ["item", name]:
                return Answer(200, [("/", "home")], frozenset([f"all about {name}"]))
            case ["calendar", year, month]:
                return self._month(int(year), int(month))
            case ["shop"]:
                return self._shop(params)
            case ["app", number]:
                links = [
                    (f"/app/{n}?key={self._token()}", f"part {n}") for n in range(1, SECTIONS + 1)
                ]
                return Answer(200, links, frozenset([f"part {number} of the app"]))
        return Answer(404)

    def real_pages(self) -> set[str]:
        """What a person would want of it, without the parts whose URLs are never twice the same."""
        pages = {"/", "/news", "/blog/", "/forum?f=1", "/gallery", "/shop"}
        pages |= {f"/news?page={n}" for n in range(2, LAST + 1)}
        pages |= {f"/blog/page/{n}/" for n in range(2, LAST + 1)}
        pages |= {f"/forum?f=1&start={25 * n}" for n in range(1, LAST)}
        pages |= {f"/gallery/{n}" for n in range(2, LAST + 1)}
        pages |= {f"/log?skip={10 * n}" for n in range(LAST)}
        for name in ("news", "blog", "forum", "gallery", "log"):
            pages |= {f"/item/{name}-{n}-{i}" for n in range(1, LAST + 1) for i in range(3)}
        pages |= {f"/item/lamp-{n}" for n in range(20)}
        pages |= {f"/calendar/{year}/{month:02}/" for year, month in EVENTFUL}
        pages |= {f"/item/event-{year}-{month}" for year, month in EVENTFUL}
        return {HOST + page for page in pages}

    def _token(self) -> str:
        return "".join(self._chance.choices("abcdef0123456789", k=20))

    def _items(self, name: str, number: int) -> list[tuple[str, str]]:
        return [(f"/item/{name}-{number}-{i}", f"{name} {number} {i}") for i in range(3)]

    def _list(self, start: str, number: int, spelling: str, after: str, step: int = 0) -> Answer:
        """`step` counts items from 0; without it pages are counted."""
        if number > LAST:
            if after == "404":
                return Answer(404)
            if after == "redirect":
                return Answer(302, location=HOST + start)
            if after == "empty":
                return Answer(200, [("/", "home"), (start, "first")], frozenset(["nothing here"]))
            number = LAST

        def url(page: int) -> str:
            return start if page == 1 else spelling.format((page - 1) * step if step else page)

        name = start.strip("/").partition("?")[0]
        shown = sorted({1, LAST // 2, *range(max(1, number - 2), min(LAST, number + 2) + 1)})
        pager = [(url(page), str(page)) for page in shown if page != number]
        if number < LAST:
            pager.append((url(number + 1), "Next"))
        items = self._items(name, number)
        return Answer(200, items + pager, frozenset(text for _, text in items))

    def _hidden_list(self, number: int) -> Answer:
        """Only the second page is linked; a script would load the others."""
        if number > LAST:
            return Answer(404)
        items = self._items("blog", number)
        more = [("/blog/page/2/", "Older posts")] if number == 1 else []
        return Answer(200, items + more, frozenset(text for _, text in items))

    def _month(self, year: int, month: int) -> Answer:
        months = year * 12 + month - 1
        near = [
            f"/calendar/{m // 12:04}/{m % 12 + 1:02}/"
            for m in (months - 1, months + 1, months + 12)
        ]
        links = [(path, "other month") for path in near]
        if (year, month) in EVENTFUL:
            links.append((f"/item/event-{year}-{month}", "an event"))
        return Answer(200, links, frozenset([f"calendar of {year}-{month}"]))

    def _shop(self, chosen: dict[str, str]) -> Answer:
        links = [
            (f"/shop?{urlencode(sorted((chosen | {name: value}).items()))}", f"{name} {value}")
            for name, values in FACETS.items()
            for value in values
        ]
        shown = [n for n in range(20) if not chosen or (n + len(str(chosen))) % 3]
        links += [(f"/item/lamp-{n}", f"lamp {n}") for n in shown]
        return Answer(200, links, frozenset(f"lamp {n}" for n in shown))
