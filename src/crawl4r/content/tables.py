"""Tables made fit for markdown: every row with a cell for each column, and no blocks in them."""

from __future__ import annotations

from turbohtml import Element

_PARTS = ("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col")
# What a table holds that is there to lay out a page, and not to show data.
_LAYOUT = ("table", "h1", "h2", "form", "nav", "article", "section", "main", "aside", "header")
_WIDEST = 50  # columns or rows that one cell may span
_MOST_CELLS = 20_000  # that are added to one page


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
    """Give the rows of every table the same number of cells, the text of a span in its first one."""
    room = _MOST_CELLS
    for table in list(body.iter_elements("table")):
        rows = [row for row in table.iter_elements("tr") if row.closest("table") == table]
        widths = []
        below: dict[int, int] = {}  # by column, the rows that a cell further up still reaches into
        for row, before in zip(rows, (None, *rows), strict=False):
            if before is not None and row.parent != before.parent:
                below.clear()  # no cell reaches out of its part of the table
            width = _spread(row, below, room)
            room -= width
            widths.append(width)
        for row, width in zip(rows, widths, strict=True):
            missing = min(max(widths) - width, room)
            room -= missing
            row.extend([Element("td") for _ in range(missing)])


def _spread(row: Element, below: dict[int, int], room: int) -> int:
    """Put empty cells into the columns that other cells reach into; how many the row has then."""
    column = 0
    for cell in [each for each in row.children if isinstance(each, Element)]:
        while below.get(column, 0) and column < room:
            below[column] -= 1
            cell.insert_before(Element("td"))
            column += 1
        wide, high = min(_span(cell, "colspan"), room), _span(cell, "rowspan")
        for _ in range(wide - 1):
            cell.insert_after(Element("td"))
        if high > 1:
            below.update(dict.fromkeys(range(column, column + wide), high - 1))
        column += max(wide, 1)
    while below.get(column, 0) and column < room:
        below[column] -= 1
        row.append(Element("td"))
        column += 1
    return column


def _span(cell: Element, name: str) -> int:
    """The number that an attribute gives, which goes: with one the whole table would stay HTML."""
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    is_number = value.isdecimal() and len(value) < 6
    return min(max(int(value), 1), _WIDEST) if is_number else 1
