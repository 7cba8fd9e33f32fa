"""Tables made fit for markdown: every row with a cell for each column, and no blocks in them."""

from __future__ import annotations

from collections.abc import Sequence

from turbohtml import Element

_PARTS = ("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col")
# What a table holds that is there to lay out a page, and not to show data.
_LAYOUT = ("table", "h1", "h2", "form", "nav", "article", "section", "main", "aside", "header")
_WIDEST = 50  # columns or rows that one cell may span
_MOST_CELLS = 20_000  # that are added to the tables of one page


def unfold_layout(body: Element) -> None:
    """Turn tables that lay out the page into plain divisions, or all in them would be one line."""
    layout = {
        table
        for table in body.iter_elements("table")
        if next(table.iter_elements(_LAYOUT), None) is not None
    }
    if layout:
        parts = [part for part in body.iter_elements(_PARTS) if part.closest("table") in layout]
        for node in (*parts, *layout):
            node.tag = "div"


def level_rows(body: Element) -> None:
    """Give the rows of every table the same number of cells, the text of a span in its first one.

    A table that would take more cells than a page may get becomes plain divisions.
    """
    room = _MOST_CELLS
    for table in list(body.iter_elements("table")):
        rows = [row for row in table.iter_elements("tr") if row.closest("table") == table]
        left = _level(rows, room)
        if left is None:
            for node in [table, *table.iter_elements(_PARTS)]:
                node.tag = "div"
        else:
            room = left


def _level(rows: Sequence[Element], room: int) -> int | None:
    """Add cells to the rows of a table; how many more may be added, None when there are too few."""
    widths: list[int] = []
    below: dict[int, int] = {}  # by column, the rows that a cell further up still reaches into
    for row, before in zip(rows, (None, *rows), strict=False):
        if before is not None and row.parent != before.parent:
            below.clear()  # no cell reaches out of its part of the table
        width, added = _spread(row, below, room)
        room -= added
        if room < 0:
            return None
        widths.append(width)
    widest = max(widths, default=0)
    room -= sum(widest - width for width in widths)
    if room < 0:
        return None
    for row, width in zip(rows, widths, strict=True):
        row.extend([Element("td") for _ in range(widest - width)])
    return room


def _spread(row: Element, below: dict[int, int], room: int) -> tuple[int, int]:
    """Put empty cells into the columns that other cells reach into, while there is room.

    How many cells the row has then, and how many of them are new.
    """
    column = added = 0
    for cell in [each for each in row.children if isinstance(each, Element)]:
        while below.get(column, 0) and added <= room:
            below[column] -= 1
            cell.insert_before(Element("td"))
            column, added = column + 1, added + 1
        wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
        if added <= room:
            for _ in range(wide - 1):
                cell.insert_after(Element("td"))
            added += wide - 1
        if high > 1:
            below.update(dict.fromkeys(range(column, column + wide), high - 1))
        column += wide
    while below.get(column, 0) and added <= room:
        below[column] -= 1
        row.append(Element("td"))
        column, added = column + 1, added + 1
    return column, added


def _span(cell: Element, name: str) -> int:
    """The number that an attribute gives, which goes: with one the whole table would stay HTML."""
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    is_number = value.isdecimal() and len(value) < 6
    return min(max(int(value), 1), _WIDEST) if is_number else 1
