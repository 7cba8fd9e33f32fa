"""Sections and their lists: six ways to number pages, four ways to answer past the last one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

A_PAGE = 20  # stories
MOST_PAGES = 40  # older stories stand in no list


class Past(StrEnum):
    """What a page after the last one is."""

    MISSING = "missing"  # 404
    FIRST = "first"  # a redirect to page 1
    EMPTY = "empty"  # 200 and no story
    LAST = "last"  # the last page again


@dataclass(frozen=True, slots=True)
class Section:
    """`first` is page 1; `pattern` is page N with a brace for the number, `step` what N counts.

    With `hides_next` a list leads on by rel=next in its head and by nothing else.
    """

    name: str
    share: float  # of all stories
    pattern: str
    past: Past = Past.MISSING
    step: int = 1
    hides_next: bool = False
    suffix: str = ""

    @property
    def first(self) -> str:
        return f"/{self.name}{self.suffix}"

    def page(self, number: int) -> str:
        count = number if self.step == 1 else (number - 1) * self.step
        return self.pattern.format(count) if number > 1 else self.first

    def offset(self, target: str) -> int | None:
        """How many stories stand before those on the page of this URL; None: no page of ours.

        A page may be asked for that is not there, or by another number than a link has it.
        """
        if target.partition("?")[0] == self.first and "?" not in self.pattern:
            return 0
        before, _, after = self.pattern.partition("{}")
        found = re.fullmatch(re.escape(before) + r"(\d{1,9})" + re.escape(after), target)
        if found is None:
            # A query that it does not know changes nothing for a site.
            return 0 if target.partition("?")[0] == self.first else None
        number = int(found[1])
        return number if self.step > 1 else (number - 1) * A_PAGE


SECTIONS = (
    Section("world", 0.30, "/world?page={}"),
    Section("politics", 0.12, "/politics?p={}", Past.FIRST),
    Section("business", 0.10, "/business?start={}", Past.EMPTY, step=A_PAGE),
    Section("sport", 0.10, "/sport/page/{}"),
    Section("technology", 0.10, "/technology?page={}", Past.LAST),
    Section("culture", 0.10, "/culture-{}.html", suffix=".html"),
    Section("science", 0.09, "/science?page={}", hides_next=True),
    Section("local", 0.09, "/local/page/{}"),
)


def page_count(stories: int) -> int:
    return max(1, min(MOST_PAGES, -(-stories // A_PAGE)))
