"""Keep or remove tables, code, lists and headings as a whole.

The model judges single blocks and would tear them apart; these rules correct that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from crawl4r.content.extract.blocks import BlockPage, Container, flag_bits

_LAYOUT = frozenset(
    ["table", "h1", "h2", "form", "nav", "article", "section", "main", "aside", "header", "footer"]
)
_ASIDE = flag_bits("nav", "header", "footer", "aside", "form", "dialog", "button")
_RUNNING_TEXT = frozenset(["p", "li", "dt", "dd"])
_LISTS = frozenset(["ul", "ol", "dl"])
_ITEMS = frozenset(["li", "dt", "dd"])
# A list with one of these is a row of cards or posts, no list to its reader.
_CARD_PARTS = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "article", "section", "nav", "aside", "header", "footer"]
    + ["form", "button", "figure", "table"]
)
_BLOCKS_AN_ITEM = 2.5  # cards have more
_MOST_LOOKED_AT = 500_000  # list elements of a page; nested lists count several times
_LONG_ITEM = 60  # words; a longer item is prose, which the model judges well
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])


def data_tables(page: BlockPage) -> list[tuple[int, int]]:
    """The blocks of each data table, without layout tables."""
    layout = set()
    for each in page.containers:
        if each.tag in _LAYOUT:
            layout.add(each.parent)
    # Go backwards: a layout element marks every container around it, the innermost last.
    for number in range(len(page.containers) - 1, 0, -1):
        if number in layout:
            layout.add(page.containers[number].parent)
    return [
        (each.first, each.last)
        for number, each in enumerate(page.containers)
        if each.tag == "table" and number not in layout and each.first < each.last
    ]


def _headed_tables(page: BlockPage) -> set[tuple[int, int]]:
    """The blocks of each table with column headers."""
    found = set()
    for each in page.containers:
        if each.tag == "th":
            table = each
            while table.depth and table.tag != "table":
                table = page.containers[table.parent]
            found.add((table.first, table.last))
    return found


def keep_whole(page: BlockPage, kept: NDArray[np.bool_]) -> None:
    """Also keep the tables, code and headings that kept blocks belong to."""
    headed, tables = _headed_tables(page), data_tables(page)
    for first, last in tables:
        # A caption or a heading may stand between the table and its text.
        follows_text = kept[max(first - 2, 0) : first].any()
        belongs = follows_text and (kept[last : last + 3].any() or (first, last) in headed)
        if kept[first:last].any() or (belongs and _is_plain_text(page, first, last)):
            kept[first:last] = True
    tags = [page.containers[block.container].tag for block in page.blocks]
    for number, tag in enumerate(tags):
        if tag == "pre" and kept[max(number - 1, 0) : number + 2].any():
            kept[number] = True
    following = len(tags)  # the nearest kept block below, up to the next heading
    for number in range(len(tags) - 1, -1, -1):
        if tags[number] in _HEADINGS:
            kept[number] |= following < _section(page, number).last
            following = len(tags)
        if kept[number]:
            following = number
    headings = [number for number, tag in enumerate(tags) if tag in _HEADINGS]
    _keep_like_headings(page, kept, headings, dict(tables))


def _keep_like_headings(
    page: BlockPage, kept: NDArray[np.bool_], headings: list[int], tables: Mapping[int, int]
) -> None:
    """Keep headings of plain sections beside similar ones with a kept heading, and the table right
    below such a heading: a table of names does not look like text, but belongs there."""
    kinds = []
    for number in headings:
        section = _section(page, number)
        tag = page.containers[page.blocks[number].container].tag
        kinds.append((section.parent, section.tag, section.classes, tag))
    wanted = {kind for number, kind in zip(headings, kinds, strict=True) if kept[number]}
    for number, kind in zip(headings, kinds, strict=True):
        if kind not in wanted or not _is_plain_text(page, number, number + 1):
            continue
        last = tables.get(number + 1) or tables.get(number + 2, 0)  # one line may come between
        is_below = number < last <= _section(page, number).last
        if not kept[number] and is_below and _is_plain_text(page, number, last):
            kept[number:last] = True
        kept[number] = True


def fill_gaps(page: BlockPage, kept: NDArray[np.bool_]) -> None:
    """Keep a paragraph or an item between kept ones of its section."""
    for number in np.flatnonzero(~kept).tolist():
        if page.containers[page.blocks[number].container].tag not in _RUNNING_TEXT:
            continue
        section = _section(page, number)
        before = kept[max(number - 3, section.first) : number]
        after = kept[number + 1 : min(number + 4, section.last)]
        if before.any() and after.any() and _is_plain_text(page, number, number + 1):
            kept[number] = True


def settle_lists(page: BlockPage, kept: NDArray[np.bool_], likely: NDArray[np.float64]) -> None:
    """Keep a plain list as a whole or not at all.

    If the model keeps a part of a list, the average over its items decides, as for a table; but a list
    of terms stays, because it is rarely navigation. If the model keeps no item, the list stays only if
    kept text introduces or surrounds it.
    """
    enough = likely[kept].min()
    for each in _plain_lists(page, kept):
        first, last = each.first, each.last
        words = np.array([block.words for block in page.blocks[first:last]])
        if not kept[first:last].any():
            is_kept = _belongs_to_text(page, kept, each)
        elif each.tag == "dl":
            is_kept = True
        else:
            is_kept = bool(np.average(likely[first:last], weights=words) >= enough)
            kept[first:last] &= is_kept
        if is_kept:
            kept[first:last] |= words <= _LONG_ITEM


def _belongs_to_text(page: BlockPage, kept: NDArray[np.bool_], each: Container) -> bool:
    """Whether kept text stands right before a list, or before and after it."""
    first, last = each.first, each.last
    around = page.containers[each.parent]
    while around.last - around.first <= last - first + 1 and around.depth:
        around = page.containers[around.parent]
    begin, end = max(first - 2, around.first), min(last + 3, around.last)
    if each.tag == "dl":
        return bool(kept[begin:first].any() or kept[last:end].any())
    is_between = kept[max(first - 2, 0) : first].any() and kept[last : last + 3].any()
    follows = kept[max(first - 1, around.first) : first].any()
    return bool(is_between or follows) and _is_plain_text(page, first, last)


def _plain_lists(page: BlockPage, kept: NDArray[np.bool_]) -> Iterator[Container]:
    """Each list with a removed item that is no row of cards; outer lists first."""
    looked = 0
    for number, each in enumerate(page.containers):
        if each.tag not in _LISTS or each.flags & _ASIDE or kept[each.first : each.last].all():
            continue
        items, inner = 0, number + 1
        while inner < len(page.containers) and page.containers[inner].depth > each.depth:
            tag = page.containers[inner].tag
            if tag in _CARD_PARTS and each.tag != "dl":
                items = 0
                break
            items += tag in _ITEMS
            inner += 1
        if each.last - each.first <= _BLOCKS_AN_ITEM * items:
            yield each
        looked += inner - number
        if looked > _MOST_LOOKED_AT:
            return


def _is_plain_text(page: BlockPage, first: int, last: int) -> bool:
    """Whether blocks hold few links and lie outside of navigation, forms and the like."""
    blocks = page.blocks[first:last]
    linked = sum([block.linked for block in blocks])
    length = sum([len(block.text.strip()) for block in blocks])
    return linked < 0.4 * length and not page.containers[blocks[0].container].flags & _ASIDE


def _section(page: BlockPage, number: int) -> Container:
    """The smallest container that holds more than this block."""
    section = page.containers[page.blocks[number].container]
    while section.last - section.first == 1 and section.depth:
        section = page.containers[section.parent]
    return section
