"""Is there a page past the last one that is linked? Asked one page at a time, as long as it pays.

Pure state: the owner asks for `next_to_try`, fetches it like any other URL, and records what came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from crawl4r.discovery.page_rule import PageRule

_MOST_PAGES = 1_000  # of one list that are asked for without a link
_REMEMBERED = 24  # pages whose outcome and content are remembered, the latest ones
_ERRORS = 2  # in a row, then nothing more is asked for
_CLOSINGS = 3  # a list that links further than its end is tried again, but not for ever
_HEAD_START = 4  # lists a site may waste before it is doubted


class Outcome(StrEnum):
    """What came of a page of a list."""

    NEW = "new"
    GONE = "gone"  # 404 or 410
    EMPTY = "empty"  # it names nothing that was not known
    REDIRECT = "redirect"  # to the first page, or to another
    REPEATS = "repeats"  # it says what an earlier page says
    ERROR = "error"  # no answer that means anything


_IN_WORDS = {
    Outcome.NEW: "brought something new",
    Outcome.GONE: "is not there",
    Outcome.EMPTY: "names nothing new",
    Outcome.REDIRECT: "leads back to another page",
    Outcome.REPEATS: "repeats an earlier page",
    Outcome.ERROR: "could not be read",
}


class PageSeen(NamedTuple):
    """An answer for a page of a list, as far as it matters here."""

    status: int | None  # None when there was no answer
    location: str = ""  # where a redirect leads, as a canonical URL
    links: Collection[str] = ()  # canonical URLs that the page names
    new_links: int | None = None  # how many of them nobody knew; None when that was not counted
    fingerprint: str = ""  # of its text; empty when unknown


class SiteBelief:
    """How far the lists of a site are to be believed: a site that wastes requests is asked less."""

    def __init__(self, gained: int = 0, lost: int = 0) -> None:
        self.gained = gained  # pages that only speculation found
        self.lost = lost  # lists where it found none

    @property
    def trust(self) -> float:
        """The share of lists to try, from 0 to 1."""
        good = _HEAD_START + self.gained
        return (good / (good + self.lost)) ** 2

    def trusts(self, key: str) -> bool:
        """The same answer for a list each time, unless the trust has changed."""
        return crc32(key.encode("utf-8", "replace")) / 2**32 < self.trust

    def as_json(self) -> list[int]:
        return [self.gained, self.lost]

    @staticmethod
    def from_json(plain: list[int]) -> SiteBelief:
        return SiteBelief(*plain)


class Speculation:
    """One list. It goes on past the last linked page while new content comes, then it is closed."""

    def __init__(
        self, rule: PageRule, belief: SiteBelief | None = None, *, most: int = _MOST_PAGES
    ) -> None:
        self.rule = rule
        self._belief = belief or SiteBelief()
        self._most = most
        self._linked = 0  # the largest number that a page linked to
        self._reached = 0  # the largest number that is known to be a page, or was passed over
        self._visited = 0  # the largest number whose outcome was recorded
        self._outcomes: dict[int, Outcome] = {}
        self._prints: dict[int, list[str]] = {}
        self._gained = 0
        self._tries = 0
        self._errors = 0
        self._closings = 0
        self._closed_at = 0
        self._ending: Outcome | None = None

    def saw(self, numbers: Iterable[int]) -> None:
        """Pages that were linked. A link past the end that was found opens the list again."""
        self._linked = max(self._linked, *numbers, 0)
        self._reached = max(self._reached, self._linked)
        if self._linked > self._closed_at and self._closings < _CLOSINGS:
            self._closed_at = 0

    def next_to_try(self) -> int | None:
        """The page to ask for next, or None. The same until its outcome is recorded."""
        return None if self._obstacle() else self._reached + 1

    @property
    def is_closed(self) -> bool:
        return self._closed_at > 0

    @property
    def reason(self) -> str:
        """Why the next page is tried, or why none is, in words."""
        if obstacle := self._obstacle():
            return obstacle
        found = "the last that is linked" if self._reached == self._linked else "found unlinked"
        said = _IN_WORDS[self._outcomes.get(self._reached, Outcome.NEW)]
        return f"page {self._reached + 1} is tried: page {self._reached}, {found}, {said}"

    def outcome_of(self, number: int, seen: PageSeen) -> Outcome | None:
        """What an answer means; None for a redirect to the same page under another spelling."""
        if seen.status in (404, 410):
            return Outcome.GONE
        if seen.status is not None and 300 <= seen.status < 400 and seen.status != 304:
            target = self.rule.number_of(seen.location)
            return None if target == number else Outcome.REDIRECT
        if seen.status is None or seen.status >= 400:
            return Outcome.ERROR
        if self._repeats(number, self._prints_of(seen)):
            return Outcome.REPEATS
        return Outcome.EMPTY if seen.new_links == 0 else Outcome.NEW

    def record(self, number: int, outcome: Outcome, seen: PageSeen | None = None) -> None:
        """What came of a page, whether it was linked or tried."""
        is_try = number > self._linked
        is_first_time = number not in self._outcomes
        self._visited = max(self._visited, number)
        _remember(self._outcomes, number, outcome)
        if seen is not None:
            _remember(self._prints, number, self._prints_of(seen))
        if is_try and is_first_time:
            self._tries += 1
        if outcome is Outcome.NEW:
            self._errors = 0
            if number > self._reached:
                self._reached = number
                self._gained += 1
                self._belief.gained += 1
        elif number >= self._reached:
            self._fail(number, outcome, is_try=is_try)

    def _fail(self, number: int, outcome: Outcome, *, is_try: bool) -> None:
        if outcome is Outcome.ERROR:
            self._errors += 1
            if self._errors < _ERRORS:  # a page may be broken in the middle of a list
                self._reached = number
                return
        if not self.is_closed:
            self._closings += 1
            if is_try and not self._gained:
                self._belief.lost += 1
        self._closed_at, self._ending = number, outcome

    def _obstacle(self) -> str:
        if self._closed_at and self._ending:
            return f"the list is closed: page {self._closed_at} {_IN_WORDS[self._ending]}"
        if not self._reached:
            return "no page of the list is known"
        if self._visited < self._reached:
            return f"page {self._reached}, the last that is linked, was not visited yet"
        if self._tries >= self._most:
            return f"{self._tries} pages were tried without a link, and that is the limit"
        if not self._gained and not self._belief.trusts(self.rule.key):
            return f"{self._belief.lost} lists of this site had no page past their last link"
        return ""

    def _prints_of(self, seen: PageSeen) -> list[str]:
        """Of the text, and of the links apart from the pager's own, which differ on each page."""
        others = sorted({url for url in seen.links if self.rule.number_of(url) is None})
        links = _print("\n".join(others)) if others else ""
        return [_print(seen.fingerprint) if seen.fingerprint else "", links]

    def _repeats(self, number: int, prints: list[str]) -> bool:
        for other, (text, links) in self._prints.items():
            if other != number and ((text and text == prints[0]) or (links and links == prints[1])):
                return True
        return False

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.as_json(),
            "counts": [self._linked, self._reached, self._visited, self._gained, self._tries]
            + [self._errors, self._closings, self._closed_at],
            "ending": self._ending.value if self._ending else None,
            "outcomes": {str(number): value.value for number, value in self._outcomes.items()},
            "prints": {str(number): value for number, value in self._prints.items()},
        }

    @staticmethod
    def from_json(
        plain: Mapping[str, Any], belief: SiteBelief | None = None, *, most: int = _MOST_PAGES
    ) -> Speculation:
        made = Speculation(PageRule.from_json(plain["rule"]), belief, most=most)
        made._linked, made._reached, made._visited, made._gained, made._tries = plain["counts"][:5]
        made._errors, made._closings, made._closed_at = plain["counts"][5:]
        made._ending = Outcome(plain["ending"]) if plain["ending"] else None
        made._outcomes = {int(n): Outcome(value) for n, value in plain["outcomes"].items()}
        made._prints = {int(n): list(value) for n, value in plain["prints"].items()}
        return made


def _remember(table: dict[int, Any], number: int, value: Any) -> None:
    """The latest stay, and the first page, which is what a list without an end falls back to."""
    table.pop(number, None)
    table[number] = value
    if len(table) > _REMEMBERED:
        del table[next(key for key in table if key != 1)]


def _print(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
