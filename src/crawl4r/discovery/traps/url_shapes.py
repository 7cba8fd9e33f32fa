"""The shape of a URL: its text with a star for each number, date and random value.

`/shop/lamp-12?color=red` and `/shop/lamp-13?color=blue` have the shape `/shop/lamp-*?color=*`.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from crawl4r.urls.canonical import split

_FOLDERS = 4  # folders of a path that tell shapes apart; deeper paths share a shape
_MOST_NAMES = 12  # parameters that are told apart
URLS_AT_HAND = 1_024  # cached: a URL is judged, admitted and observed within a short time
_SEGMENTS_AT_HAND = 2_048
_NUMBERS = re.compile(r"[0-9]+")
_STARS = re.compile(r"\*(?:[-_.:,T]?\*)+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_WORD = re.compile(r"(?:^|[-_.])[a-z]{3,}(?:[-_.]|$)")
_SEPARATORS = re.compile(r"[^0-9A-Za-z]+")
_RUNS = re.compile(r"[0-9]+|[a-z]+|[A-Z]+")
_TOKEN = re.compile(r"[0-9A-Za-z_.~()-]{10,128}")

_APART = re.compile(r"([0-9]{4})[-_./]([01]?[0-9])(?:[-_./]([0-3]?[0-9]))?")
_TOGETHER = re.compile(r"([0-9]{4})([01][0-9])([0-3][0-9])?")
_CALENDAR = re.compile(
    r"(?<![a-z])(?:calendars?|cal|kalender|calendario|calendrier|agenda|termine|events?|eventos"
    r"|schedule|timetable|veranstaltungen|dates?|months?|days?|weeks?)(?![a-z])",
    re.IGNORECASE,
)
_PLAIN_YEARS = range(1500, 2300)  # years that need no word such as "archive" beside them
_YEAR_NAMES = frozenset(["year", "y", "yr", "jahr", "annee", "ano", "anno", "cyear", "yyyy"])
_MONTH_NAMES = frozenset(
    ["month", "m", "mo", "mon", "monat", "mois", "mes", "mese", "cmonth", "mm"]
)
_DATE_NAMES = frozenset(["date", "datum", "fecha", "data", "start", "from", "week", "woche", "cal"])
_DAY_NAMES = frozenset(["day", "d", "tag", "jour", "dia", "giorno", "dd"])


class PathDate(NamedTuple):
    """A date in a URL."""

    day: int  # proleptic, as `date.toordinal`
    is_calendar: bool  # the URL has a calendar word, or the date stands in its query


class Token(NamedTuple):
    """A value that looks random."""

    place: str  # `?sid`, or `/2` for the second segment of a path
    value: str


class Shape(NamedTuple):
    """A canonical URL with its shape."""

    netloc: str
    segments: list[str]
    path: str  # /shop/lamp-*
    folder: str  # /shop/
    params: list[tuple[str, str]]
    names: tuple[str, ...]  # of the parameters, sorted, each once
    tokens: tuple[Token, ...]
    rest: str  # the URL with a star for each token; empty without tokens
    moment: PathDate | None


@lru_cache(maxsize=URLS_AT_HAND)
def shape_of(url: str) -> Shape:
    """The shape of a canonical URL. Any text gives a shape."""
    parts = split(url)
    path, _, query = parts.path.partition("?")
    segments = [segment for segment in path.split("/") if segment]
    params = [_pair(param) for param in query.split("&")] if query else []
    names = tuple(sorted({name for name, _ in params})[:_MOST_NAMES])
    classes, rest = segments, ""
    tokens: tuple[Token, ...] = ()
    moment = None
    if _NUMBERS.search(parts.path):  # without a number there is no date or random value
        classes = [class_of(segment) for segment in segments]
        tokens, rest = _tokens(parts.netloc, segments, params)
        moment = _moment(segments, params, path)
    last = "/" if path.endswith("/") else ""
    above = classes if last else classes[:-1]
    folder = "/".join(["", *above[:_FOLDERS], "**" if len(above) > _FOLDERS else ""])
    whole = "/" + "/".join(classes) + (last if classes else "")
    return Shape(parts.netloc, segments, whole, folder, params, names, tokens, rest, moment)


@lru_cache(maxsize=_SEGMENTS_AT_HAND)
def class_of(segment: str) -> str:
    """A segment with stars for its numbers; one star when it is a number, a date or a token."""
    if not _NUMBERS.search(segment):
        return segment
    if looks_random(segment):
        return "*"
    return _STARS.sub("*", _NUMBERS.sub("*", segment))


@lru_cache(maxsize=_SEGMENTS_AT_HAND)
def looks_random(text: str) -> bool:
    """Whether a value has high entropy: letters and digits alternate more often than in words."""
    if len(text) < 10 or not _NUMBERS.search(text) or not _TOKEN.fullmatch(text):
        return False
    if _UUID.fullmatch(text):
        return True
    if _WORD.search(text):
        return False
    runs = _RUNS.findall(_SEPARATORS.sub("", text))
    digits = sum(len(run) for run in runs if run.isdecimal())
    length = sum(map(len, runs))
    if digits == length:
        return digits >= 20
    return digits >= 2 and len(set(text)) >= 6 and 5 * (len(runs) - 1) >= length


def _pair(param: str) -> tuple[str, str]:
    name, _, value = param.partition("=")
    return name, value


def _tokens(
    netloc: str, segments: list[str], params: list[tuple[str, str]]
) -> tuple[tuple[Token, ...], str]:
    tokens, path, query = [], [], []
    for index, segment in enumerate(segments, 1):
        is_token = looks_random(segment)
        if is_token:
            tokens.append(Token(f"/{index}", segment))
        path.append("*" if is_token else segment)
    for name, value in params:
        is_token = looks_random(value)
        if is_token:
            tokens.append(Token(f"?{name}", value))
        query.append(f"{name}={'*' if is_token else value}")
    if not tokens:
        return (), ""
    return tuple(tokens), f"{netloc}/{'/'.join(path)}?{'&'.join(query)}"


def _moment(segments: list[str], params: list[tuple[str, str]], path: str) -> PathDate | None:
    """The date whose listing a URL is. An article below a date is no listing."""
    if any(segment[:4].isdecimal() for segment in segments):
        is_calendar = _CALENDAR.search(path) is not None
        if day := _in_path(segments, is_calendar):
            return PathDate(day, is_calendar)
    if params and (day := _in_query(params)):
        names = " ".join([path, *(name.replace("_", " ") for name, _ in params)])
        return PathDate(day, _CALENDAR.search(names) is not None)
    return None


def _in_path(segments: list[str], is_calendar: bool) -> int | None:
    """`/2024/05/17/` or `/2024-05/` at the end; also other forms in a URL with a calendar word."""
    for index, segment in enumerate(segments):
        if not segment[:4].isdecimal():
            continue
        if not is_calendar and (
            int(segment[:4]) not in _PLAIN_YEARS or _is_narrow(segments[index:])
        ):
            continue
        text = "/".join(segments[index : index + 3]) if len(segment) == 4 else segment
        found = _APART.match(text) if is_calendar else _APART.fullmatch("/".join(segments[index:]))
        found = found or (_TOGETHER.fullmatch(segment) if is_calendar else None)
        if found and (day := _day(*found.groups())):
            return day
    return None


def _is_narrow(segments: list[str]) -> bool:
    """Whether the month has one digit: `/2150/2` may also be the second page of a topic."""
    return len(segments) > 1 and len(segments[1]) != 2


def _in_query(params: list[tuple[str, str]]) -> int | None:
    year = month = day = None
    for name, value in params:
        if not value[:1].isdecimal() or len(value) > 10:
            continue
        word = name.lower().rpartition("_")[2].rpartition("-")[2]
        if word in _YEAR_NAMES and len(value) == 4 and value.isdecimal():
            year = value
        elif word in _MONTH_NAMES and len(value) <= 2 and value.isdecimal():
            month = value
        elif word in _DAY_NAMES and len(value) <= 2 and value.isdecimal():
            day = value
        elif word in _MONTH_NAMES | _DATE_NAMES | _DAY_NAMES:
            found = _APART.fullmatch(value) or _TOGETHER.fullmatch(value)
            if found and (whole := _day(*found.groups())):
                return whole
    return _day(year, month, day) if year and month else None


def _day(year: str, month: str, day: str | None) -> int | None:
    try:
        return date(int(year), int(month), int(day or 1)).toordinal()
    except ValueError:
        return None
