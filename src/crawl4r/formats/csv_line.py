"""CSV for people who open it in a spreadsheet: text is never run, and a row is always a line.

Quoting is RFC 4180's, lines end with a line feed, the encoding is UTF-8. A text that a spreadsheet
would take for a formula gets an apostrophe in front, which spreadsheets hide and scripts can strip.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

# Signs that begin a formula, also in the full-width and small forms of East Asian keyboards.
_SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"  # noqa: RUF001
# Also after blanks, seen or unseen. A tab or a return alone begins a new cell in some programs.
_FORMULA = re.compile(rf"[\s\u200b\ufeff]*[{re.escape(_SIGNS)}]|[ \u3000]*[\t\r\n]")
# Everything that some reader takes for the end of a line; `str.splitlines` knows them all.
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SUSPECT = frozenset(_SIGNS + " ")


def cell(text: str | None) -> str:
    """The text as it may stand in a cell; None is an empty one."""
    if not text:
        return ""
    if text[0] not in _SUSPECT and text.isprintable():  # which no break and no other blank is
        return text
    line = _BREAK.sub(" ", text)
    # Also as a line: a break in front of a tab is a blank in front of it.
    return f"'{line}" if _FORMULA.match(text) or _FORMULA.match(line) else line


def quoted(text: str) -> str:
    """A cell as it stands in a line, for those who write too many of them to build rows."""
    if "," in text or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def is_plain(text: str) -> bool:
    """Whether `quoted(cell(text))` is the text itself, without a look at it sign by sign."""
    return text.isprintable() and text[:1] not in _SUSPECT and "," not in text and '"' not in text


def lines_of(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows of cells, one a line. Texts among them have been through `cell`."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


EDGES_HEADER = lines_of([("source", "target", "anchor", "rel")])  # of logs/edges.csv


def cells_of(line: bytes) -> list[str]:
    """The cells of one line as they stand there; empty when it is no line of ours."""
    try:
        return next(csv.reader([line.decode("utf-8")], strict=True), [])
    except (csv.Error, UnicodeDecodeError):
        return []
