"""Which budgets does a URL count against, and what are they?

A key names what is counted: `/blog/*/` a folder, `/shop?color=*` a parameter of a path,
`/shop?color=*&size=*` parameters together, `/shop?**` all combinations of a path's filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from crawl4r.discovery.pagination.slots import Trust, trust_in_name
from crawl4r.discovery.traps.counts import ShapeTally
from crawl4r.discovery.traps.repeating_paths import recurring
from crawl4r.discovery.traps.url_shapes import URLS_AT_HAND, Shape, shape_of

_GROWTH = 100  # extra URLs for each page with new content
_SLOW_GROWTH = 20  # the same for what looks like a trap
_FILTER_GROWTH = 2  # the same for filters: their pages differ, but hold little new text
_DEEP = 12  # segments; all longer paths share one budget
_DEEP_URLS = 500
_RECURRING_URLS = 50
_FOLDER_PATIENCE = 2
_ROOT_PATIENCE = 4  # times the streak before the root folder is closed


class TrapRules(Struct, frozen=True):
    """The limits for traps. A budget is the start value of a shape; new content raises it."""

    folder: int = 10_000  # URLs below one folder; numbers in its name count as equal
    path: int = 500  # combinations of filters of one path
    repeats: int = 3  # times in a row that a part of a path makes a trap
    segments: int = 24  # of a path
    streak: int = 30  # pages in a row without new content


class UrlBudget(NamedTuple):
    """How many URLs a key may admit, and how many pages in a row may bring nothing new."""

    key: str
    what: str  # words that follow "budget of N URLs" in a reason
    base: int
    for_new: int  # extra URLs for each page with new content
    for_led: int  # extra URLs for each page that named URLs of another shape
    patience: int  # pages in a row that may bring nothing new
    setting: str  # the setting that raises this budget
    is_for_products: bool = False  # counts only once the parameters turn out to be filters
    is_suspect: bool = False  # the shape itself looks like a trap

    def limit(self, tally: ShapeTally) -> int:
        return self.base + self.for_new * tally.fresh + self.for_led * tally.led

    def is_used_up(self, tally: ShapeTally) -> bool:
        if self.is_for_products and not tally.is_product:
            return False
        return tally.admitted >= self.limit(tally)

    def is_barren(self, tally: ShapeTally) -> bool:
        """The patience, longer for a key that has brought many new pages."""
        return tally.barren >= self.patience + tally.fresh // 4


class Look(NamedTuple):
    """What the spelling of a URL tells about it."""

    shape: Shape
    budgets: tuple[UrlBudget, ...]  # the folder's first
    names: tuple[UrlBudget, ...]  # of each parameter by itself


@lru_cache(maxsize=URLS_AT_HAND)
def look_at(url: str, rules: TrapRules) -> Look:
    shape = shape_of(url)
    return Look(shape, tuple(_budgets_of(shape, rules)), _names_of(shape, rules))


def _budgets_of(shape: Shape, rules: TrapRules) -> Iterator[UrlBudget]:
    """The budgets that a URL counts against, that of its folder first."""
    patience = rules.streak * (_ROOT_PATIENCE if shape.folder == "/" else _FOLDER_PATIENCE)
    folder = f"below {shape.folder}"
    yield UrlBudget(shape.folder, folder, rules.folder, _GROWTH, 0, patience, "folder")
    if shape.names:
        key = f"{shape.path}?{'&'.join(f'{name}=*' for name in shape.names)}"
        yield UrlBudget(key, f"for {key}", rules.folder, _GROWTH, 0, rules.streak, "folder")
    filters = filters_of(shape)
    if len(filters) > 1:
        yield UrlBudget(
            key=f"{shape.path}?**",
            what=f"for {shape.path}?{'&'.join(f'{name}=*' for name in filters)}",
            base=rules.path,
            for_new=_FILTER_GROWTH,
            for_led=_SLOW_GROWTH,
            patience=4 * rules.streak,
            setting="path",
            is_for_products=True,
        )
    if word := recurring(shape, rules.repeats):
        yield UrlBudget(
            key=f"/**/{word}/" * rules.repeats,
            what=f"with /{word}/ {rules.repeats} times in their path",
            base=_RECURRING_URLS,
            for_new=_SLOW_GROWTH,
            for_led=0,
            patience=rules.streak,
            setting="repeats",
            is_suspect=True,
        )
    if len(shape.segments) > _DEEP:
        what = f"with more than {_DEEP} segments in their path"
        key = "/*" * (_DEEP + 1)
        streak = 2 * rules.streak
        yield UrlBudget(key, what, _DEEP_URLS, _SLOW_GROWTH, 0, streak, "segments", is_suspect=True)


def _names_of(shape: Shape, rules: TrapRules) -> tuple[UrlBudget, ...]:
    """Each parameter of a path alone: without a budget, but pages of it may bring nothing new."""
    if len(shape.names) < 2:
        return ()  # a single parameter is its own combination
    keys = [f"{shape.path}?{name}=*" for name in shape.names]
    return tuple(UrlBudget(key, "", 0, 0, 0, rules.streak, "streak") for key in keys)


def filters_of(shape: Shape) -> list[str]:
    """The parameters, without page numbers."""
    return [n for n in shape.names if trust_in_name(n) not in (Trust.NAMED, Trust.OFFSET)]


def as_pattern(key: str) -> str:
    """A key as an RE2 pattern for the part of a URL after the host."""
    path, _, query = key.partition("?")
    text = re.escape(path)
    if path.endswith("/") and not path.startswith("/**/") and not query:
        return text.replace(r"\*\*/", ".*").replace(r"\*", "[^/?]+") + "[^/]*$"
    text = text.replace(r"/\*\*/", "/(?:.*/)?").replace(r"\*", "[^/?]+").replace("//", "/")
    if not query:
        return text
    if query == "**":
        return text + r"\?.*=.*&.*="
    names = [re.escape(param.removesuffix("=*")) for param in query.split("&")]
    return text + r"\?(?:.*&)?" + ".*&".join(f"{name}=" for name in names)
