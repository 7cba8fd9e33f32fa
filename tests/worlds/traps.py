"""Four hundred pages among traps: a calendar, sessions, filters, growing paths, copies to print.

A crawl that is clever enough finds `TrapsTruth.real` and little else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import quote

from tests.site.exchange import Request
from tests.worlds.answer import MISSING, TEXT, Answer
from tests.worlds.page import Link, Page
from tests.worlds.trap_calendar import CalendarTrap
from tests.worlds.trap_family import Family, Shown, written
from tests.worlds.trap_paths import FilesTrap, GuideTrap, Notes, SearchTrap
from tests.worlds.trap_sessions import SCHEMES, SessionTrap
from tests.worlds.trap_shop import ShopTrap

HOME = "/"
ROBOTS = "/robots.txt"
SHARE = "/share"
_PRINT = re.compile(r"([?&])print=1(?:&|$)")


@dataclass(frozen=True, slots=True)
class Traps:
    """`canonical_links`: every copy of a real page names the real one by rel=canonical."""

    seed: int = 1
    canonical_links: bool = False

    def world(self) -> TrapsWorld:
        return _built(self)

    def truth(self) -> TrapsTruth:
        return self.world().truth()


@dataclass(frozen=True, slots=True)
class TrapsTruth:
    """By path, with the query. `ways` are lists that some real pages are found through alone."""

    real: frozenset[str]
    ways: frozenset[str]
    world: TrapsWorld

    def real_of(self, path: str) -> str | None:
        """The real page whose text stands at this URL; None: a page of no worth, or no page."""
        shown = self.world.shown(path)
        return shown.real or None if shown else None

    def wasted(self, path: str) -> bool:
        return path not in self.real and path not in self.ways and path != ROBOTS


class TrapsWorld:
    """See `answer.World`. Session ids are derived from the URL that they appear under, so that the
    same requests get the same answers in any order."""

    def __init__(self, parameters: Traps) -> None:
        self._parameters = parameters
        seed = parameters.seed
        sessions = (SessionTrap(seed, scheme) for scheme in SCHEMES)
        plain = (Notes(seed), ShopTrap(seed), CalendarTrap(seed), GuideTrap(seed), FilesTrap(seed))
        self._families: tuple[Family, ...] = (*plain, *sessions, SearchTrap(seed))

    def answer(self, request: Request) -> Answer:
        if request.path == ROBOTS:
            return Answer(b"User-agent: *\nAllow: /\n", TEXT)
        shown = self.shown(request.target)
        return Answer(shown.page.html()) if shown else MISSING

    def hear(self, words: Mapping[str, Any]) -> NoReturn:
        raise ValueError(f"traps stay as they are: {words}")

    def truth(self) -> TrapsTruth:
        real = frozenset([HOME]).union(*(family.real for family in self._families))
        ways = frozenset[str]().union(*(family.ways for family in self._families))
        return TrapsTruth(real, ways, self)

    def shown(self, target: str) -> Shown | None:
        """The page at a URL, and the real page that it is or copies."""
        if target.partition("?")[0] == SHARE:
            return _share(target)
        plain = _PRINT.sub(r"\1", target).rstrip("?&")
        shown = self._found(plain)
        if shown is None:
            return None
        canonical = shown.real if self._parameters.canonical_links else ""
        if _PRINT.search(target):
            printed = replace(shown.page, canonical=canonical, links=(), aside=(), form="")
            return replace(shown, page=printed)
        return replace(shown, page=self._dressed(shown.page, target, canonical))

    def _found(self, target: str) -> Shown | None:
        if target.partition("?")[0] == HOME:
            return Shown(self._home(), HOME)
        answers = (family.at(target) for family in self._families)
        return next((shown for shown in answers if shown), None)

    def _home(self) -> Page:
        entries = tuple(Link(family.entry, family.entry) for family in self._families)
        return Page("Where everything begins", written(self._parameters.seed, HOME, 1), entries)

    def _dressed(self, page: Page, target: str, canonical: str) -> Page:
        """With what every page of the site has: a way home, and itself to print and to share."""
        mark = "&" if "?" in target else "?"
        variants = (
            Link(f"{target}{mark}print=1", "Print"),
            Link(f"{SHARE}?page={quote(target, safe='/')}", "Send to a friend"),
        )
        aside = (*page.aside, *variants)
        return replace(page, canonical=canonical, navigation=(Link(HOME, "Home"),), aside=aside)


def _share(target: str) -> Shown | None:
    if not target.startswith(f"{SHARE}?page=/"):
        return None
    form = '<form action="/share" method="post"><input name="to"><input name="words"></form>'
    return Shown(Page("Send to a friend", ("Whom shall we write to?",), form=form))


@lru_cache(maxsize=4)
def _built(parameters: Traps) -> TrapsWorld:
    return TrapsWorld(parameters)
