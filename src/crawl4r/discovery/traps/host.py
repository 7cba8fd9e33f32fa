"""The URLs of one host by shape: how many were admitted, what they brought, what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from crawl4r.discovery.traps.budgets import (
    Look,
    TrapRules,
    UrlBudget,
    as_pattern,
    filters_of,
    look_at,
)
from crawl4r.discovery.traps.calendars import Calendars
from crawl4r.discovery.traps.counts import Tallies
from crawl4r.discovery.traps.repeating_paths import winding
from crawl4r.discovery.traps.session_ids import SessionIds
from crawl4r.discovery.traps.url_shapes import shape_of

_MOST_SHAPES = 2_000
_MOST_SPENT = 100
_MOST_FOUND = 200  # links read from a page


class HostTraps:
    """See `TrapGuard`, which keeps one of these for each host."""

    def __init__(self, netloc: str, rules: TrapRules, today: int) -> None:
        self._netloc = netloc
        self._rules = rules
        self._tallies = Tallies(_MOST_SHAPES)
        self._sessions = SessionIds()
        self._calendars = Calendars(today)
        self._spent: dict[str, str] = {}  # keys that refused something, and why
        self._is_wary = False  # some finding may refuse a URL that was admitted

    def judge(self, url: str) -> str | None:
        look = look_at(url, self._rules)
        return (
            winding(look.shape, self._rules.repeats, self._rules.segments)
            or self._learnt(look)
            or self._over_budget(look)
            or None
        )

    def recheck(self, url: str) -> str | None:
        if not self._is_wary:
            return None
        return self._learnt(look_at(url, self._rules)) or None

    def admit(self, url: str) -> None:
        shape, budgets, _ = look_at(url, self._rules)
        if shape.tokens or shape.moment:
            self._is_wary = True
            self._sessions.admit(shape)
            self._calendars.admit(shape)
        for budget in budgets:
            tally = self._tallies.open(budget.key)
            tally.admitted += 1
            if budget.is_for_products:
                filters = filters_of(shape)
                tally.count_params(pair for pair in shape.params if pair[0] in filters)

    def observe(self, url: str, found: Iterable[str] | None, *, is_new: bool) -> None:
        look = look_at(url, self._rules)
        shape = look.shape
        shapes = (
            None if found is None else [shape_of(other) for other in islice(found, _MOST_FOUND)]
        )
        if shape.tokens or shape.moment:
            self._is_wary = True
            self._sessions.observe(shape, is_new=is_new)
            self._calendars.observe(shape, shapes, is_new=is_new)
        led = is_new if shapes is None else any(other.path != shape.path for other in shapes)
        blamed = set() if is_new else {budget.key for budget in self._to_blame(look)}
        for budget in look.budgets + look.names:
            if is_new or led or budget.key in blamed:
                tally = self._tallies.open(budget.key)
                tally.fresh += is_new
                tally.led += led
                if is_new:
                    tally.barren = 0
                elif budget.key in blamed:
                    tally.barren += 1
                    self._is_wary = self._is_wary or tally.barren >= self._rules.streak

    def _to_blame(self, look: Look) -> Sequence[UrlBudget]:
        """The keys that a page without new content counts against: an odd path; else the parameters
        that brought the least so far; else the folder. A filter must not close the pages of a list, and
        parameters must not close a folder."""
        folder, *others = look.budgets
        if not others:
            return [folder]
        if suspects := [budget for budget in others if budget.is_suspect]:
            return suspects
        least = min((self._tallies.get(name.key).fresh for name in look.names), default=0)
        return others + [n for n in look.names if self._tallies.get(n.key).fresh == least]

    def _learnt(self, look: Look) -> str:
        if refusal := self._sessions.refusal(look.shape) or self._calendars.refusal(look.shape):
            return refusal
        for budget in look.budgets + look.names:
            tally = self._tallies.get(budget.key)
            if tally.barren and budget.is_barren(tally):
                why = f"the last {tally.barren} pages of {budget.key} brought nothing new"
                self._note(budget.key, why)
                return f"{why}; raise limits.traps.streak"
        return ""

    def _over_budget(self, look: Look) -> str:
        for budget in look.budgets:
            tally = self._tallies.get(budget.key)
            if budget.is_used_up(tally):
                why = f"budget of {budget.limit(tally)} URLs {budget.what} is used up"
                self._note(budget.key, why)
                return f"{why}; raise limits.traps.{budget.setting}"
        return ""

    def _note(self, key: str, why: str) -> None:
        self._spent[key] = why
        if len(self._spent) > _MOST_SPENT:
            del self._spent[next(iter(self._spent))]

    def excludes(self) -> Iterator[tuple[str, str]]:
        """Patterns of the rules that refused URLs, sessions and calendars first."""
        start = rf"^https?://{re.escape(self._netloc)}"
        for place in self._sessions.places():
            if place.startswith("?"):
                pattern = rf"{start}/.*[?&]{re.escape(place[1:])}="
                yield pattern, "a session id: the same pages again; better in scope.drop_params"
        for key, dates in self._calendars.endless():
            pattern = as_pattern(key) if "?" in key else as_pattern(key.rstrip("/")) + r"/?(?:\?|$)"
            yield (
                start + pattern,
                f"a calendar without end: {dates} dates led only to further dates",
            )
        for key, why in self._spent.items():
            yield start + as_pattern(key), why

    def as_json(self) -> dict[str, Any]:
        return {
            "shapes": self._tallies.as_json(),
            "sessions": self._sessions.as_json(),
            "calendars": self._calendars.as_json(),
            "spent": self._spent,
        }

    @staticmethod
    def from_json(plain: Mapping[str, Any], netloc: str, rules: TrapRules, today: int) -> HostTraps:
        made = HostTraps(netloc, rules, today)
        made._tallies = Tallies.from_json(plain["shapes"], _MOST_SHAPES)
        made._sessions = SessionIds.from_json(plain["sessions"])
        made._calendars = Calendars.from_json(plain["calendars"], today)
        made._spent = dict(plain["spent"])
        made._is_wary = True
        return made
