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

_GROWTH = 100  # URLs more for each page with new content
_SLOW_GROWTH = 20  # the same for what looks like a trap
_FILTER_GROWTH = 2  # the same for filters: their pages differ, but say little
_DEEP = 12  # segments of a path, from where paths have a budget together
_DEEP_URLS = 500
_RECURRING_URLS = 50
_FOLDER_PATIENCE = 2
_ROOT_PATIENCE = 4  # a folder that holds everything is not closed as soon as one with a name


class TrapRules(Struct, frozen=True):
    """How much is too much. Budgets are where a shape starts; new content makes them larger."""

    folder: int = 10_000  # URLs below one folder, numbers and the like in its name taken as equal
    path: int = 500  # combinations of filters of one path
    repeats: int = 3  # times in a row that a part of a path may not come
    segments: int = 24  # of a path
    streak: int = 30  # pages in a row without new content


class UrlBudget(NamedTuple):
    """What may be admitted under a key, and how long it may bring nothing."""

    key: str
    what: str  # in words, after "budget of N URLs"
    base: int
    for_new: int  # URLs more for each page with new content
    for_led: int  # URLs more for each page that led elsewhere
    patience: int  # pages in a row that may bring nothing
    setting: str  # that makes it larger
    is_for_products: bool = False  # counts only once the parameters turn out to be filters
    is_suspect: bool = False  # the shape itself looks like a trap

    def limit(self, tally: ShapeTally) -> int:
        return self.base + self.for_new * tally.fresh + self.for_led * tally.led

    def is_used_up(self, tally: ShapeTally) -> bool:
        if self.is_for_products and not tally.is_product:
            return False
        return tally.admitted >= self.limit(tally)

    def is_barren(self, tally: ShapeTally) -> bool:
        """What has brought much may bring nothing for longer."""
        return tally.barren >= self.patience + tally.fresh // 4


class Look(NamedTuple):
    """All that a URL's spelling says about it."""

    shape: Shape
    budgets: tuple[UrlBudget, ...]  # the folder's first
    names: tuple[UrlBudget, ...]  # of each parameter by itself


@lru_cache(maxsize=URLS_AT_HAND)
def look_at(url: str, rules: TrapRules) -> Look:
    shape = shape_of(url)
    return Look(shape, tuple(_budgets_of(shape, rules)), _names_of(shape, rules))


def _budgets_of(shape: Shape, rules: TrapRules) -> Iterator[UrlBudget]:
    """Every budget that a URL counts against, its folder's first."""
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
    """Each parameter of a path by itself: it has no budget, but it may turn out to be barren."""
    if len(shape.names) < 2:
        return ()  # a single one is its own combination
    keys = [f"{shape.path}?{name}=*" for name in shape.names]
    return tuple(UrlBudget(key, "", 0, 0, 0, rules.streak, "streak") for key in keys)


def filters_of(shape: Shape) -> list[str]:
    """Parameters that are not the number of a page."""
    return [n for n in shape.names if trust_in_name(n) not in (Trust.NAMED, Trust.OFFSET)]


def as_pattern(key: str) -> str:
    """A key as a pattern (RE2) for what follows the host in a URL."""
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
