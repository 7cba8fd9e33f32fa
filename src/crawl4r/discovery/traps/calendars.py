"""Endless calendars: pages of days and months that lead only to further dates.

An old date alone is no reason to refuse a URL, because archives have old dates. What counts is
whether dates near it led to other pages; and few sites have content for the years to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from crawl4r.discovery.traps.url_shapes import PathDate, Shape

_NEAR = 62  # days around today that are never refused
_FAR = 400  # days ahead, from where dates are counted
_FAR_DATES = 24  # dates beyond `_FAR` that may be admitted
_FAR_GROWTH = 10  # extra dates for each one that led to other pages
_BARREN = 12  # dates in a row without links to other pages
_MOST_CALENDARS = 48
_LAST_DAY = date.max.toordinal()


class Calendars:
    """The dated pages of one host. `today` is a day as `date.toordinal` counts them."""

    def __init__(self, today: int) -> None:
        self._today = today
        # For each shape and direction: barren dates in a row, the furthest day with links to other
        # pages, the number of such days, and the number of admitted dates far ahead.
        self._known: dict[str, list[int]] = {}

    def refusal(self, shape: Shape) -> str:
        """Why to refuse this date; empty to admit the URL."""
        moment = shape.moment
        if moment is None or abs(moment.day - self._today) <= _NEAR:
            return ""
        barren, edge, led, far = self._known.get(self._key(shape, moment), (0, self._today, 0, 0))
        if barren >= _BARREN and self._is_beyond(moment.day, edge):
            return (
                f"a calendar without end: the last {barren} dates of {shape.path} led only to"
                f" further dates, and {_month(moment.day)} lies beyond {_month(edge)}"
            )
        if moment.day - self._today > _FAR and far >= _FAR_DATES + _FAR_GROWTH * led:
            return (
                f"{far} dates more than a year ahead were taken of {shape.path}, and that is enough"
            )
        return ""

    def admit(self, shape: Shape) -> None:
        moment = shape.moment
        if moment is None or moment.day - self._today <= _FAR:
            return
        if counts := self._counts(shape, moment):
            counts[3] += 1

    def observe(self, shape: Shape, found: Sequence[Shape] | None, *, is_new: bool) -> None:
        """Report the visit of a dated page. `found`: the URLs that it was first to name, if known."""
        moment = shape.moment
        counts = self._counts(shape, moment) if moment else None
        if moment is None or counts is None:
            return
        if found is None or not moment.is_calendar:
            led = is_new or any(other.moment is None for other in found or ())
        else:
            # An empty month has a new text each time, so new content is no evidence.
            led = any(other.moment is None for other in found)
        if led:
            counts[0] = 0
            counts[2] += 1
            if self._is_beyond(moment.day, counts[1]):
                counts[1] = moment.day
        elif self._is_beyond(moment.day, counts[1]):
            counts[0] += 1

    def endless(self) -> Iterable[tuple[str, int]]:
        """Shapes with many dates in a row, or far ahead, that led only to dates; and their number."""
        for key, (barren, _, _, far) in self._known.items():
            if barren >= _BARREN or far >= _FAR_DATES:
                yield key[1:], max(barren, far)

    def _is_beyond(self, day: int, edge: int) -> bool:
        return day > edge if day > self._today else day < edge

    def _key(self, shape: Shape, moment: PathDate) -> str:
        query = "?" + "&".join(f"{name}=*" for name in shape.names) if shape.names else ""
        return f"{'+' if moment.day > self._today else '-'}{shape.path}{query}"

    def _counts(self, shape: Shape, moment: PathDate) -> list[int] | None:
        key = self._key(shape, moment)
        if key not in self._known and len(self._known) >= _MOST_CALENDARS:
            harmless = [other for other, counts in self._known.items() if counts[0] < _BARREN]
            if not harmless:
                return None
            del self._known[harmless[0]]
        return self._known.setdefault(key, [0, self._today, 0, 0])

    def as_json(self) -> dict[str, list[int]]:
        return self._known

    @staticmethod
    def from_json(plain: Mapping[str, Any], today: int) -> Calendars:
        made = Calendars(today)
        made._known = {key: list(counts) for key, counts in plain.items()}
        return made


def _month(day: int) -> str:
    return date.fromordinal(min(max(1, day), _LAST_DAY)).isoformat()[:7]
