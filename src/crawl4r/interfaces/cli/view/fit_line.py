"""Words on one line of a terminal: when there is no room for all, the least important go first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

GAP = "  "
_ECHO = 2  # columns that a terminal needs to show `^C` behind the line without breaking it


class LinePart(NamedTuple):
    """A part of a line. Those with the largest `rank` go first; what has rank 0 stays."""

    rank: int
    text: str


def room_on(width: int) -> int:
    """Columns of a terminal that a line may fill."""
    return max(1, width - _ECHO - 1)


def fit(pieces: Sequence[LinePart], room: int) -> str:
    """The pieces in their order, as many as there is room for; never longer than the room."""
    left = [piece for piece in pieces if piece.text]
    while cell_len(line := GAP.join(piece.text for piece in left)) > room:
        least = max(left, key=lambda piece: piece.rank)
        if least.rank == 0:
            return _cut(line, room)
        left.remove(least)
    return line


def _cut(line: str, room: int) -> str:
    """With an ellipsis in place of what is left out."""
    return set_cell_size(line, room - 1).rstrip() + "…"
