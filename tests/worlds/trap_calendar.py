"""A calendar without end: every day, week and month has a page, a few days have an event."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta

from tests.worlds.page import Link, Page
from tests.worlds.trap_family import Shown, name_of, written

TODAY = date(2025, 11, 24)
EVENTS = 24
MONTHS_BEFORE, MONTHS_AFTER = 2, 5  # that have events, seen from today


class CalendarTrap:
    """`/calendar` is this month; `month/2025-11`, `week/2025-48` and `day/2025-11-24` stand below."""

    entry = "/calendar"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        chance = random.Random(f"{seed}/events")
        months = [_month(TODAY, step) for step in range(-MONTHS_BEFORE, MONTHS_AFTER + 1)]
        self._events: dict[date, str] = {}
        while len(self._events) < EVENTS:
            # The months in turn, so that each has some.
            day = months[len(self._events) % len(months)] + timedelta(chance.randrange(28))
            self._events.setdefault(day, f"/event/{len(self._events) + 1}")
        self.real = frozenset([self.entry, *self._events.values()])
        self.ways = frozenset(f"/calendar/month/{day:%Y-%m}" for day in months)

    def at(self, target: str) -> Shown | None:
        path = target.partition("?")[0]
        if path == self.entry:
            return Shown(self._month(TODAY.replace(day=1)), path)
        if path in self.real:
            title = f"{name_of(self._seed, path)} evening"
            return Shown(Page(title, written(self._seed, path)), path)
        try:
            view = self._view(path)
        except (ValueError, OverflowError):  # no such day, or past the last year that a date has
            return None
        return Shown(view) if view else None

    def _view(self, path: str) -> Page | None:
        kind, _, name = path.removeprefix("/calendar/").partition("/")
        match kind:
            case "month":
                return self._month(date.fromisoformat(f"{name}-01"))
            case "week":
                year, _, week = name.partition("-")
                return self._week(date.fromisocalendar(int(year), int(week), 1))
            case "day":
                return self._day(date.fromisoformat(name))
        return None

    def _month(self, first: date) -> Page:
        before, after = _month(first, -1), _month(first, 1)
        days = [first + timedelta(n) for n in range((after - first).days)]
        around = [
            Link(f"/calendar/month/{month:%Y-%m}", f"{month:%Y-%m}") for month in (before, after)
        ]
        weeks = dict.fromkeys(_week_path(day) for day in days)
        around += [Link(week, week) for week in weeks]
        around += [Link(f"/calendar/day/{day}", str(day.day)) for day in days]
        return self._page(f"Calendar of {first:%Y-%m}", days, around)

    def _week(self, monday: date) -> Page:
        days = [monday + timedelta(n) for n in range(7)]
        around = [Link(_week_path(monday + timedelta(step)), "Week") for step in (-7, 7)]
        around += [Link(f"/calendar/day/{day}", str(day)) for day in days]
        return self._page(f"Week of {monday}", days, around)

    def _day(self, day: date) -> Page:
        around = [day + timedelta(step) for step in (-1, 1)]
        links = [Link(f"/calendar/day/{other}", str(other)) for other in around]
        month = Link(f"/calendar/month/{day:%Y-%m}", "This month")
        return self._page(f"The day {day}", [day], [*links, month])

    def _page(self, title: str, days: list[date], around: list[Link]) -> Page:
        events = tuple(self._shown(days))
        count = f"There are {len(events)} events." if events else "There are no events."
        text = (count, *written(self._seed, self.entry, 1))  # the same on every view
        return Page(title, text, events, aside=tuple(around))

    def _shown(self, days: list[date]) -> Iterator[Link]:
        for day in days:
            if path := self._events.get(day):
                yield Link(path, f"{name_of(self._seed, path)} evening")


def _month(day: date, step: int) -> date:
    """The first day of the month so many months later."""
    months = day.year * 12 + day.month - 1 + step
    return date(months // 12, months % 12 + 1, 1)


def _week_path(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"/calendar/week/{year}-{week:02}"
