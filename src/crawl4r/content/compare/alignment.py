"""Find the common items of two sequences in order, with bounded work.

Items that occur once on each side are anchors (the longest sequence of them in common order, as in
patience diff). Between anchors the shortest edit is found (Myers 1986). A stretch whose edit is
longer than `_MAX_EDITS`, or that comes after the steps of `WorkBudget` are used up, counts as replaced.
So the work is linear in the items and bounded, while difflib may need quadratic time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

_MAX_EDITS = 256  # insertions and removals between two anchors
_MAX_STEPS = 4_000_000  # some three seconds


class Gap(NamedTuple):
    """before[a_start:a_end] became after[b_start:b_end]; one of the two may be empty."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int


class WorkBudget(Struct):
    """The remaining steps for finding shortest edits."""

    steps: int = _MAX_STEPS


def gaps(
    before: Sequence[str], after: Sequence[str], budget: WorkBudget | None = None
) -> list[Gap]:
    """The gaps in order; none for equal sequences. The items between gaps are equal."""
    found = []
    a = b = 0
    pairs = _pairs(before, after, budget or WorkBudget())
    for next_a, next_b in [*pairs, (len(before), len(after))]:
        if a < next_a or b < next_b:
            found.append(Gap(a, next_a, b, next_b))
        a, b = next_a + 1, next_b + 1
    return found


def _pairs(
    before: Sequence[str], after: Sequence[str], budget: WorkBudget
) -> list[tuple[int, int]]:
    """The places of matched items, increasing on both sides."""
    head, tail = _common_ends(before, after)
    pairs = [(at, at) for at in range(head)]
    a, b = head, head
    end = (len(before) - tail, len(after) - tail)
    for next_a, next_b in [*_anchors(before, after, head, *end), end]:
        pairs.extend(_matched_between(before, after, Gap(a, next_a, b, next_b), budget))
        if (next_a, next_b) != end:
            pairs.append((next_a, next_b))
        a, b = next_a + 1, next_b + 1
    pairs.extend((end[0] + at, end[1] + at) for at in range(tail))
    return pairs


def _common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


def _anchors(
    before: Sequence[str], after: Sequence[str], head: int, a_end: int, b_end: int
) -> list[tuple[int, int]]:
    counts, others = Counter(before[head:a_end]), Counter(after[head:b_end])
    place = {after[at]: at for at in range(head, b_end)}
    unique = [
        (at, place[item])
        for at in range(head, a_end)
        if counts[item := before[at]] == 1 and others[item] == 1
    ]
    return _longest_growing(unique)


def _longest_growing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence with increasing second places, by patience sorting."""
    tops: list[int] = []  # the smallest second place that ends a run of each length
    ends: list[int] = []  # the index of that pair
    previous: list[int] = []
    for at, (_, b) in enumerate(pairs):
        pile = bisect_left(tops, b)
        tops[pile : pile + 1] = [b]
        ends[pile : pile + 1] = [at]
        previous.append(ends[pile - 1] if pile else -1)
    run = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(pairs[at])
        at = previous[at]
    return run[::-1]


def _matched_between(
    before: Sequence[str], after: Sequence[str], gap: Gap, budget: WorkBudget
) -> list[tuple[int, int]]:
    """Matched places within a gap. Items of one side only are excluded first."""
    common = set(before[gap.a_start : gap.a_end]) & set(after[gap.b_start : gap.b_end])
    old = [at for at in range(gap.a_start, gap.a_end) if before[at] in common]
    new = [at for at in range(gap.b_start, gap.b_end) if after[at] in common]
    matched = _match([before[at] for at in old], [after[at] for at in new], budget)
    return [(old[a], new[b]) for a, b in matched]


def _match(
    before: Sequence[str], after: Sequence[str], budget: WorkBudget
) -> list[tuple[int, int]]:
    """Matched places of the shortest edit; none when it is too long."""
    reached = {1: 0}  # on each diagonal (place before minus place after), how far before
    trail: list[dict[int, int]] = []
    for edits in range(min(len(before) + len(after), _MAX_EDITS) + 1):
        if budget.steps <= 0:
            break
        trail.append(reached)
        reached = dict(reached)
        for diagonal in range(-edits, edits + 1, 2):
            origin = _origin(reached, diagonal, edits)
            start = a = reached[origin] + (origin < diagonal)
            while a < len(before) and 0 <= a - diagonal < len(after):
                if before[a] != after[a - diagonal]:
                    break
                a += 1
            reached[diagonal] = a
            budget.steps -= 1 + a - start
            if a >= len(before) and a - diagonal >= len(after):
                return _walk_back(trail, len(before), len(after))
    return []


def _origin(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """The origin of the best path to a diagonal: an insertion from above, a removal from below."""
    if diagonal == -edits:
        return diagonal + 1
    if diagonal == edits or reached[diagonal - 1] >= reached[diagonal + 1]:
        return diagonal - 1
    return diagonal + 1


def _walk_back(trail: Sequence[dict[int, int]], a: int, b: int) -> list[tuple[int, int]]:
    """Walk the path from its end: first the equal items, then the edit before them."""
    pairs: list[tuple[int, int]] = []
    for edits in range(len(trail) - 1, -1, -1):
        diagonal = a - b
        origin = _origin(trail[edits], diagonal, edits)
        edited = trail[edits][origin] + (origin < diagonal)
        pairs.extend((at, at - diagonal) for at in range(a - 1, edited - 1, -1))
        a = trail[edits][origin]
        b = a - origin
    return pairs[::-1]
