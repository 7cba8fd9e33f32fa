"""Dates in the paths of a host's URLs, and the listings by year, month and day that they suggest.

`/news/2024/05/17/slug` says that `/news/2024/05/` may list what was published in that month, and that
the months beside it may have a listing too. This module makes no requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from heapq import nlargest
from typing import NamedTuple

from msgspec import Struct, field

from crawl4r.discovery.guesses.usual_places import PatternRecord, Proposal, tries_left, worth
from crawl4r.urls.canonical import split

_MOST_TEMPLATES = 30  # of a host
_MOST_PERIODS = {1: 200, 2: 600, 3: 200}  # of a template by year, month and day
_DEEPEST = 8  # segments read from a path
_EARLIEST = 1991  # no listing on the web is older
_MONTHS_AROUND = 12  # months proposed beyond the known ones; each success extends the range
_YEARS_AROUND = 2
_MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

_YEAR = re.compile(r"(?:199|20\d)\d", re.ASCII)
_MONTH = re.compile(r"0?[1-9]|1[0-2]|" + "|".join(_MONTH_NAMES), re.ASCII)
_DAY = re.compile(r"0?[1-9]|[12]\d|3[01]", re.ASCII)
# A year and a month in one segment, with a day or without: 2024-05, 202405, 2024_05_17.
_TOGETHER = re.compile(
    r"((?:199|20\d)\d)([-_.]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?", re.ASCII
)
_EXTENSION = re.compile(r"\.[a-z]{2,5}$", re.ASCII)
_INDEX_PAGE = re.compile(r"(?:index|default)\.[a-z]{2,5}", re.ASCII)
YEAR, MONTH, DAY = 1, 2, 3


class _Sighting(NamedTuple):
    """One template that a URL fits."""

    text: str  # `/news/{year}/{month}`, with an extension when the name has one
    period: tuple[int, ...]  # year, month, day: as many as the template has
    is_listing: bool  # True for the listing itself, False for a page below it
    is_narrow: bool  # a month or a day of one digit


class _Template(Struct):
    pages: int = 0
    known: set[tuple[int, ...]] = field(default_factory=set)  # periods of known pages
    asked: set[tuple[int, ...]] = field(default_factory=set)  # periods whose listing is known
    tail: str = "/"
    is_narrow: bool = False  # 2024/5, not 2024/05


class DatePaths:
    """Learns the date paths of one host from its URLs; keeps a few kilobytes for most hosts."""

    def __init__(self, origin: str) -> None:
        self._origin, self._netloc = split(origin).origin, split(origin).netloc
        self._templates: dict[str, _Template] = {}

    def add(self, url: str, *, exists: bool = True) -> None:
        """Learn a known canonical URL. Pass `exists=False` for a proposed URL that does not exist or
        was not tried yet: it is not proposed again, and is no evidence for its period."""
        parts = split(url)
        if parts.netloc != self._netloc:
            return
        path, _, query = parts.path.partition("?")
        for sighting in _sightings(path):
            is_listing = sighting.is_listing and not query
            if exists or is_listing:
                self._learn(sighting, path, exists=exists, is_listing=is_listing)

    def propose(
        self, now: float, most: int = 50, records: Mapping[str, PatternRecord] | None = None
    ) -> list[Proposal]:
        """Up to `most` listings to request, the best first: periods of known pages, then gaps between
        them, then the months around them, never after `now` (epoch seconds).

        `records` rank the patterns. A pattern without any success is proposed three times.
        """
        today = datetime.fromtimestamp(now, UTC)
        until = (today.year, today.month, today.day)
        found: dict[str, tuple[float, tuple[int, ...], str]] = {}
        for text, template in self._templates.items():
            pattern = text + template.tail
            record = (records or {}).get(pattern)
            wanted = [
                (weight * worth(record), period)
                for weight, period in _wanted(text, template)
                if period <= until[: len(period)]
            ]
            for score, period in nlargest(tries_left(record, most), wanted):
                url = self._origin + _written(pattern, period, template.is_narrow)
                found[url] = max(found.get(url, (0.0, (), "")), (score, period, pattern))
        best = nlargest(most, ((rank, url) for url, rank in found.items()))
        return [Proposal(url, pattern) for (_, _, pattern), url in best]

    def _learn(self, seen: _Sighting, path: str, *, exists: bool, is_listing: bool) -> None:
        template = self._templates.get(seen.text)
        if template is None:
            if len(self._templates) == _MOST_TEMPLATES:
                if not exists:
                    return
                fewest = min(self._templates, key=lambda text: self._templates[text].pages)
                del self._templates[fewest]
            template = self._templates[seen.text] = _Template()
            if _EXTENSION.search(seen.text):
                template.tail = ""
        template.pages += exists
        template.is_narrow |= seen.is_narrow
        most = _MOST_PERIODS[len(seen.period)]
        if exists and len(template.known) < most:
            template.known.add(seen.period)
        # Record every possible listing, because an unrecorded one would be proposed again.
        if is_listing and (len(template.asked) < 3 * most or seen.period in template.known):
            template.asked.add(seen.period)
            if exists and not _EXTENSION.search(seen.text):
                template.tail = "/" if path.endswith("/") or _INDEX_PAGE.search(path) else ""


def _sightings(path: str) -> list[_Sighting]:
    """The templates of the first date in a path, the coarsest first."""
    *folders, last = path.split("/")[1:]
    segments = folders if not last or _INDEX_PAGE.fullmatch(last) else [*folders, last]
    ending = ""
    if segments and segments[-1] is last and (match := _EXTENSION.search(last)):
        ending = match.group()
        segments = [*folders, last.removesuffix(ending)]
    for at, segment in enumerate(segments[:_DEEPEST]):
        prefix = "/".join(["", *segments[:at]])
        if match := _TOGETHER.fullmatch(segment):
            year, mark, month, day = match.groups()
            text = f"{prefix}/{{year}}{mark}{{month}}" + (f"{mark}{{day}}" if day else "")
            period = tuple(int(part) for part in (year, month, day) if part)
            is_last = at + 1 == len(segments)
            return [_Sighting(text + (ending if is_last else ""), period, is_last, False)]
        if _YEAR.fullmatch(segment):
            return _by_segments(prefix, segments[at:], ending)
    return []


def _by_segments(prefix: str, segments: Sequence[str], ending: str) -> list[_Sighting]:
    """`2024/05/17/slug`: a listing may stand at each level."""
    found: list[_Sighting] = []
    text, is_narrow = prefix, False
    period: list[int] = []
    for level, (segment, form) in enumerate(zip(segments, (_YEAR, _MONTH, _DAY), strict=False), 1):
        if not form.fullmatch(segment):
            break
        is_last = level == len(segments)
        is_named = segment in _MONTH_NAMES
        number = _MONTH_NAMES.index(segment) + 1 if is_named else int(segment)
        text += "/" + ("{mon}" if is_named else ("{year}", "{month}", "{day}")[level - 1])
        period = [*period, number]
        is_narrow |= len(segment) == 1
        whole = text + ending if is_last else text
        found.append(_Sighting(whole, tuple(period), is_last, is_narrow))
    return found


def _wanted(text: str, template: _Template) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Periods with an unknown listing, each with its promise from 0 to 1."""
    if not template.known:
        return
    level = len(next(iter(template.known)))
    missing = template.known - template.asked
    if level == DAY:  # listings of months name the same pages with fewer requests
        is_all = "/{day}" not in text  # only listings of days exist
        yield from ((0.6 if is_all else 0.3, period) for period in missing)
        return
    yield from ((0.9 if level == MONTH else 0.8, period) for period in missing)
    if level == YEAR and len(template.known) < 2:
        return  # a single number in a path is too weak as evidence
    numbers = {_ordinal(period) for period in template.known}
    first, last = min(numbers), max(numbers)
    reach = _MONTHS_AROUND if level == MONTH else _YEARS_AROUND
    for number in range(first - reach, last + reach + 1):
        period = _period(number, level)
        if number not in numbers and period not in template.asked and period[0] >= _EARLIEST:
            away = max(first - number, number - last, 0)
            yield (0.7 if not away else 0.6 * 0.9**away) * (1 if level == MONTH else 0.7), period


def _ordinal(period: tuple[int, ...]) -> int:
    return period[0] * 12 + period[1] - 1 if len(period) == MONTH else period[0]


def _period(number: int, level: int) -> tuple[int, ...]:
    return (number // 12, number % 12 + 1) if level == MONTH else (number,)


def _written(pattern: str, period: tuple[int, ...], is_narrow: bool) -> str:
    year, month, day = (*period, 1, 1)[:3]
    width = 1 if is_narrow else 2
    return (
        pattern.replace("{year}", str(year))
        .replace("{month}", f"{month:0{width}}")
        .replace("{mon}", _MONTH_NAMES[month - 1])
        .replace("{day}", f"{day:0{width}}")
    )
