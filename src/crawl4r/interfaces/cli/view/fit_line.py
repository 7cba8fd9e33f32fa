"""Fit text on one line of a terminal by dropping the least important pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

GAP = "  "
_ECHO = 2  # columns for `^C` behind the line


class LinePart(NamedTuple):
    """A part of a line. Parts with the largest `rank` are dropped first; rank 0 stays."""

    rank: int
    text: str


def room_on(width: int) -> int:
    """The usable columns of a terminal."""
    return max(1, width - _ECHO - 1)


def fit(pieces: Sequence[LinePart], room: int) -> str:
    """Join as many pieces as fit, in order; never longer than `room`."""
    left = [piece for piece in pieces if piece.text]
    while cell_len(line := GAP.join(piece.text for piece in left)) > room:
        least = max(left, key=lambda piece: piece.rank)
        if least.rank == 0:
            return _cut(line, room)
        left.remove(least)
    return line


def _cut(line: str, room: int) -> str:
    """Shorten a text with an ellipsis."""
    return set_cell_size(line, room - 1).rstrip() + "…"
