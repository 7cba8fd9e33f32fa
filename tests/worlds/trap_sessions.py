"""Pages whose links carry a session id that is new on every page: in the query, or in the path."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.worlds.page import Link, Page
from tests.worlds.trap_family import Shown, name_of, token, written


@dataclass(frozen=True, slots=True)
class Scheme:
    """Where a session stands: `place` has {path} and {id}; `entry` and `name` are paths without it."""

    entry: str
    name: str  # of page N
    pages: int  # beside the entry
    place: str
    id_length: int

    def path(self, number: int) -> str:
        return self.name.format(number) if number else self.entry


SCHEMES = (
    Scheme("/forum", "/forum/topic-{}", 59, "{path}?sid={id}", 32),
    Scheme("/club", "/club/page-{}", 39, "{path}?zq={id}", 20),  # a name that says nothing
    Scheme("/docs/index.jsp", "/docs/page-{}.jsp", 39, "{path};jsessionid={id}", 32),
    Scheme("/help/default.aspx", "/help/topic-{}.aspx", 29, "/(S({id})){path}", 24),
)


class SessionTrap:
    """Every page links the entry, the next page and two more; the id in a link changes nothing."""

    ways: frozenset[str] = frozenset()

    def __init__(self, seed: int, scheme: Scheme) -> None:
        self._seed = seed
        self._scheme = scheme
        self.entry = scheme.entry
        self._numbers = {scheme.path(number): number for number in range(scheme.pages + 1)}
        self.real = frozenset(self._numbers)
        pattern = re.escape(scheme.place).replace(r"\{id\}", "[0-9A-Za-z]*")
        self._with_id = re.compile(pattern.replace(r"\{path\}", "(?P<path>/[^?;()]*)"))

    def at(self, target: str) -> Shown | None:
        found = self._with_id.fullmatch(target)
        path = found["path"] if found else target.partition("?")[0]
        number = self._numbers.get(path)
        if number is None:
            return None
        session = token(self._seed, target, self._scheme.id_length)
        links = [self._link(other, session) for other in self._linked(number)]
        title = f"{name_of(self._seed, path)}, part {number}"
        return Shown(Page(title, written(self._seed, path), tuple(links)), path)

    def _linked(self, number: int) -> list[int]:
        count = self._scheme.pages + 1
        nexts = [(number + step) % count for step in (1, 2, 9)]
        return [0, *nexts]

    def _link(self, number: int, session: str) -> Link:
        path = self._scheme.path(number)
        return Link(self._scheme.place.format(path=path, id=session), f"Part {number}")
