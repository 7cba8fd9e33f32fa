"""The label of a link to another page of a list, and the kind of block around it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from turbohtml import Element, Node

from crawl4r.discovery.pagination import words

_MOST_CHARACTERS = 40
_LEVELS = 5  # ancestors of a link that may be its block
_MOST_ATTRIBUTE = 300  # characters read from a class attribute


class LinkLabel(StrEnum):
    """The kind of a link's label."""

    NONE = ""
    NUMBER = "number"
    NEXT = "next"
    PREVIOUS = "previous"
    EDGE = "edge"  # the first or the last page


class Called(NamedTuple):
    label: LinkLabel
    number: int = 0  # of the page, when the label is a number
    is_word: bool = True  # False for an arrow, which is ambiguous outside a pager


UNCALLED = Called(LinkLabel.NONE)
_WORDS = {
    word: Called(label)
    for listed, label in (
        (words.FIRST, LinkLabel.EDGE),
        (words.LAST, LinkLabel.EDGE),
        (words.PREVIOUS, LinkLabel.PREVIOUS),
        (words.NEXT, LinkLabel.NEXT),
    )
    for word in listed.split("|")
}
_ARROWS = {
    arrow: Called(label, is_word=False)
    for arrows, label in (
        (words.NEXT_ARROWS, LinkLabel.NEXT),
        (words.PREVIOUS_ARROWS, LinkLabel.PREVIOUS),
        (words.EDGE_ARROWS, LinkLabel.EDGE),
    )
    for arrow in arrows
}
_DIGIT = re.compile(r"[0-9]")
_COUNTED = re.compile(r"(?:next|previous|older|newer|prev) [1-9][0-9]{0,3}(?: \w+)?")
_PAGE_NUMBER = re.compile(
    r"(?:(?:go ?to )?(?:page|seite|página|pagina|sida|side|strona|страница|sayfa|第)[ .:#]{0,2})?"
    r"([1-9][0-9]{0,5})(?:页|頁|ページ|페이지)?"
)

_PAGER = re.compile(
    r"pagin|pager|paging|pagenav|page-?nav|page-?numbers?|page-?links?|page-?list|nav-?links"
    r"|nav-?previous|nav-?next|posts?-nav|navigation-posts|older-?posts|blog-pager|pages\b|seiten"
    r"|results-nav|load-?more",
    re.IGNORECASE,
)
_OTHER_BLOCK = re.compile(
    r"comment|calendar|kalender|datepicker|version|carousel|slider|swiper|slick|tablist|\btabs?\b"
    r"|rating|per-?page|page-?size|breadcrumb|footnote",
    re.IGNORECASE,
)
_COMMENT_AREA = re.compile(
    r"(?<![\w-])(?:comments?|respond|disqus)"
    r"(?:-(?:area|section|list|wrapper|nav|navigation|pagination|pager|pages))?(?![\w-])",
    re.IGNORECASE,
)


class LinkBlock(StrEnum):
    """The kind of block around a link."""

    PLAIN = "plain"
    PAGER = "pager"
    OTHER = "other"  # a calendar, tabs, pages of comments: its numbers count other things


def label_of(node: Element) -> Called:
    """The label by the link's text; for a picture by its alternative text."""
    text = node.text.strip()
    if not text:
        text = node.attr("aria-label") or node.attr("title") or ""
    # A short visible text may contain much white space.
    return called(text) if len(text) <= 3 * _MOST_CHARACTERS else UNCALLED


@lru_cache(maxsize=4096)
def called(text: str) -> Called:
    """The label that a text gives a link. Cached, because most links of a site repeat their texts."""
    text = " ".join(text.split())
    if len(text) > _MOST_CHARACTERS:
        return UNCALLED
    said = text.strip(words.AROUND).lower()
    if found := _ARROWS.get(text) or _WORDS.get(said):
        return found
    if not _DIGIT.search(said):
        return UNCALLED
    if number := _PAGE_NUMBER.fullmatch(said):
        return Called(LinkLabel.NUMBER, int(number[1]))
    return _WORDS[said.partition(" ")[0]] if _COUNTED.fullmatch(said) else UNCALLED


def block_of(node: Element) -> LinkBlock:
    """The nearest block with a telling name. A pager among comments belongs to the comments."""
    found = LinkBlock.PLAIN
    at: Node | None = node
    for _ in range(_LEVELS):
        if not isinstance(at, Element) or at.tag in ("body", "html"):
            break
        named = _names_of(at)
        if _COMMENT_AREA.search(named) or (found is LinkBlock.PLAIN and _OTHER_BLOCK.search(named)):
            return LinkBlock.OTHER
        if _PAGER.search(named):
            found = LinkBlock.PAGER
        at = at.parent
    return found


def _names_of(node: Element) -> str:
    return " ".join(
        (node.attr(name) or "")[:_MOST_ATTRIBUTE] for name in ("class", "id", "role", "aria-label")
    )
