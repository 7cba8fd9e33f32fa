"""How a list counts: the number of its first page in a URL, and the step from a page to the next."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import gcd

_LARGEST_STEP = 1_000  # items on a page
_SMALLEST_STEP = 5
_COMMON_STEPS = frozenset([10, 12, 15, 16, 20, 24, 25, 30, 36, 40, 48, 50, 60, 100])


def count_by_texts(pairs: Collection[tuple[int, int]], own: int | None) -> tuple[int, int] | None:
    """First and step from pairs (number that the link shows, number in its URL); None when the pairs
    fit no such rule. `own` is the number in the page's own URL."""
    ordered = sorted(set(pairs))
    for first in (1, 0):
        explained = sum(value == shown - 1 + first for shown, value in ordered)
        if 2 * explained > len(ordered):
            return first, 1
    if len(ordered) <= 1:
        return _count_by_one(*ordered[0], own) if ordered else None
    (text, value), (last_text, last_value) = ordered[0], ordered[-1]
    if last_text == text:
        return None
    step, rest = divmod(last_value - value, last_text - text)
    first = value - (text - 1) * step
    if rest or not 1 <= step <= _LARGEST_STEP or first not in (0, 1):
        return None
    is_straight = all(number == first + (shown - 1) * step for shown, number in ordered)
    return (first, step) if is_straight else None


def _count_by_one(text: int, value: int, own: int | None) -> tuple[int, int] | None:
    for first in (0, 1):
        if text > 1 and value > first and (value - first) % (text - 1) == 0:
            step = (value - first) // (text - 1)
            fits = own is None or (own - first) % step == 0
            if fits and _SMALLEST_STEP <= step <= _LARGEST_STEP:
                return first, step
    return None


def count_items(
    values: Iterable[int], own: int | None, *, is_opening: bool, leads_on: bool
) -> tuple[int, int] | None:
    """First and step of offsets without telling link texts: their greatest common divisor."""
    known = set(values) | ({own} if own is not None else set())
    above = [value for value in known if value > 1]
    for first in (0, 1):
        step = gcd(*(value - first for value in above))
        if not _SMALLEST_STEP <= step <= _LARGEST_STEP:
            continue
        if any(value % step not in (0, first) for value in known):
            continue
        # A lone link to the last page would give the whole list as the step.
        if len(known) > 1 or leads_on or step in _COMMON_STEPS:
            return first, step
    if is_opening and 2 in known and max(known) <= 50:
        return 1, 1  # `?start=2`: the parameter counts pages
    return None
