"""A site that changes in rounds: a tenth of its pages often, the others hardly ever, and some go.

Round 0 is the site as it begins. A test and the site agree on what a round changes without speaking
of it (see changing_rounds.py).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from tests.site.exchange import Request
from tests.worlds import prose
from tests.worlds.answer import GONE, MISSING, TEXT, XML, Answer
from tests.worlds.changing_rounds import (
    BRANCHES,
    Round,
    changed,
    gone,
    lively,
    page_path,
    what_happened,
)
from tests.worlds.page import Link, Page
from tests.worlds.process import WorldProcess

PARAGRAPHS = 5
IN_A_SITEMAP = 1000
BEGINNING = datetime(2025, 1, 1, 6, tzinfo=UTC)
SITEMAP = "/sitemap.xml"
ROBOTS = "/robots.txt"


@dataclass(frozen=True, slots=True)
class Changing:
    """`answers_304=False`: validators are sent and then ignored, as careless servers do.

    `lastmod` of the sitemap is true, left out, or always the day of the round, which tells nothing.
    """

    pages: int = 5000
    seed: int = 1
    sitemap: bool = True
    lastmod: Literal["true", "none", "always-now"] = "true"
    etags: bool = True
    last_modified: bool = True
    answers_304: bool = True

    def world(self) -> ChangingWorld:
        return ChangingWorld(self)

    def truth(self, number: int) -> Round:
        """What a round did; for round 0 nothing. `paths` says what there is after it."""
        return what_happened(self.pages, self.seed, number)

    def lively(self) -> frozenset[str]:
        """The pages that change in every round or in every other one."""
        return frozenset(map(page_path, lively(self.pages, self.seed)))


class ChangingWorld:
    """See `answer.World`; `{"round": N}` is what it listens to."""

    def __init__(self, parameters: Changing) -> None:
        self._told = parameters
        self._round = 0
        # The rounds in which a page changed, so far.
        self._changes: dict[int, list[int]] = {}

    def hear(self, words: Mapping[str, Any]) -> None:
        wanted = int(words["round"])
        if wanted < self._round:
            raise ValueError(f"round {self._round} is over, there is no way back to {wanted}")
        for number in range(self._round + 1, wanted + 1):
            for page in changed(self._told.pages, self._told.seed, number):
                self._changes.setdefault(page, []).append(number)
        self._round = wanted

    def answer(self, request: Request) -> Answer:
        told, path = self._told, request.path
        if path == ROBOTS:
            named = f"Sitemap: {request.origin}{SITEMAP}\n" if told.sitemap else ""
            return Answer(f"User-agent: *\nAllow: /\n{named}".encode(), TEXT)
        if told.sitemap and path.startswith("/sitemap"):
            return self._sitemap(path, request.origin)
        number = _number(path)
        if number is None or number >= told.pages:
            return MISSING
        status = gone(told.pages, told.seed, self._round).get(number)
        if status:
            return GONE if status == 410 else MISSING
        return Answer(
            self._page(number).html(),
            changed=self._changed_at(number) if told.last_modified else None,
            has_etag=told.etags,
            may_be_304=told.answers_304,
        )

    def _changed_at(self, number: int) -> datetime:
        return BEGINNING + timedelta(days=self._changes.get(number, [0])[-1])

    def _page(self, number: int) -> Page:
        """A change replaces one paragraph, the next one at the next change."""
        told = self._told
        changes = self._changes.get(number, [])
        written = [0] * PARAGRAPHS
        for count, when in enumerate(changes):
            written[(number + count) % PARAGRAPHS] = when
        own = (prose.coin(told.seed, number),)
        text = tuple(
            prose.paragraphs(random.Random(f"{told.seed}/{number}/{place}/{when}"), own, 1)[0]
            for place, when in enumerate(written)
        )
        links = tuple(Link(page_path(other), f"Page {other}") for other in self._linked(number))
        return Page(f"{own[0]}, page {number}", text, links)

    def _linked(self, number: int) -> list[int]:
        """Children and parent in a tree, and three others; always the same, gone or not."""
        pages = self._told.pages
        children = range(BRANCHES * number + 1, min(BRANCHES * (number + 1) + 1, pages))
        chance = random.Random(f"{self._told.seed}/links/{number}")
        return [(number - 1) // BRANCHES if number else 0, *children] + [
            chance.randrange(pages) for _ in range(3)
        ]

    def _sitemap(self, path: str, origin: str) -> Answer:
        parts = range(-(-self._told.pages // IN_A_SITEMAP))
        names = [f"/sitemap-{part}.xml" for part in parts]
        if path == SITEMAP:
            entries = "".join(f"<sitemap><loc>{origin}{name}</loc></sitemap>\n" for name in names)
            return Answer(_xml("sitemapindex", entries), XML)
        if path not in names:
            return MISSING
        first = names.index(path) * IN_A_SITEMAP
        numbers = range(first, min(first + IN_A_SITEMAP, self._told.pages))
        away = gone(self._told.pages, self._told.seed, self._round)
        entries = "".join(self._entry(origin, page) for page in numbers if page not in away)
        return Answer(_xml("urlset", entries), XML)

    def _entry(self, origin: str, number: int) -> str:
        match self._told.lastmod:
            case "true":
                lastmod = f"<lastmod>{self._changed_at(number).isoformat()}</lastmod>"
            case "always-now":
                lastmod = f"<lastmod>{(BEGINNING + timedelta(days=self._round)).date()}</lastmod>"
            case _:
                lastmod = ""
        return f"<url><loc>{origin}{page_path(number)}</loc>{lastmod}</url>\n"


class ChangingSite(WorldProcess):
    """A `Changing` world as a process; it begins in round 0."""

    def __init__(self, parameters: Changing, **options: Any) -> None:
        super().__init__(parameters, **options)
        self.round = 0

    def advance(self, rounds: int = 1) -> int:
        """The round that it is now; `parameters.truth` of it says what is different."""
        self.tell(round=self.round + rounds)
        self.round += rounds
        return self.round


def _number(path: str) -> int | None:
    name = path.removeprefix("/page/")
    if path == "/" or not (path.startswith("/page/") and name.isdecimal()):
        return 0 if path == "/" else None
    return int(name) if page_path(int(name)) == path else None


def _xml(kind: str, entries: str) -> bytes:
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{kind} xmlns="{namespace}">\n{entries}</{kind}>\n'.encode()
