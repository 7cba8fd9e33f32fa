"""The query language: what a user types, as words to look for and conditions that hold.

    heat transfer           passages with these words; more of them, rarer ones and nearer titles win
    "boundary layer"        the words in this order; "boundary lay*" works too
    connect*                any word that begins like this
    +wing -flutter          must have, must not have; also with a phrase
    site:example.org        on this site or below it
    type:pdf  type:code     documents of this kind, passages of this type
    lang:de  tag:manual  collection:"my papers"
    after:2024  before:2024-05-01     captured then (UTC); a year, a month or a day

What only looks like this (`C++`, `std::map`, `-1`, `ps -ef`, `foo:bar`) is looked for as words.
Nothing that can be typed is an error.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from crawl4r.errors import InvalidUrl
from crawl4r.search.port import Clause, Filters, KeywordQuery
from crawl4r.urls.canonical import canonicalize, split

LONGEST_QUERY = 10_000  # characters
MOST_CLAUSES = 256  # different ones: each is looked up

_TOKEN = re.compile(
    r"""(?P<sign>[+-]?)
        (?:(?P<field>site|type|lang|tag|collection|before|after):(?=\S))?
        (?:"(?P<phrase>[^"]*)"(?!\w) | (?P<word>\S+))""",
    re.VERBOSE | re.IGNORECASE,
)
_UNTYPED = re.compile(
    r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
)  # control characters, halves of characters
_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f", '"'))
_AROUND_WORDS = "\"'`.,;:!?()[]{}<>|*\u2026\u00ab\u00bb\u2018\u2019\u3001\u3002\u300c\u300d"
_PREFIX = re.compile(r"(?:\w[\w.-]+|[^\W\x00-\x7f])\*")
_OPTION = re.compile(r"[a-z]{1,2}(?![\w:])", re.IGNORECASE | re.ASCII)  # as in `ps -ef`
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-\w+)?")
_NAME = re.compile(r"[\w-]+")


class ParsedQuery(NamedTuple):
    keywords: KeywordQuery
    filters: Filters
    plain: str  # the words without syntax: what an embedder understands
    notes: tuple[str, ...]  # what was ignored, and why


def parse(text: str) -> ParsedQuery:
    """Read a query; never raises."""
    reading = _Reading()
    if len(text) > LONGEST_QUERY:
        reading.notes.append(f"only the first {LONGEST_QUERY:,} characters were read")
    for token in _TOKEN.finditer(_UNTYPED.sub(" ", text[:LONGEST_QUERY]).translate(_QUOTES)):
        reading.add(token["sign"], token["field"], token["phrase"], token["word"])
    return reading.result()


class _Reading:
    """The tokens so far. `plain` keeps words as they were written, clauses in lower case."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._clauses: dict[tuple[tuple[str, ...], bool, bool], Clause] = {}
        self._plain: list[str] = []
        self._filters = Filters()

    def add(self, sign: str, field: str | None, phrase: str | None, word: str | None) -> None:
        written = phrase if phrase is not None else (word or "")
        if field is not None and self._add_filter(sign, field.lower(), written):
            return
        if field is not None:
            written = f"{field}:{written}"
        if sign and not _is_sign(written, is_phrase=phrase is not None):
            written, sign = sign + written, ""
        self._add_clause(written.split(), sign)

    def result(self) -> ParsedQuery:
        clauses = tuple(self._clauses.values())
        if len(clauses) > MOST_CLAUSES:
            self.notes.append(f"only the first {MOST_CLAUSES} words were looked for")
        return ParsedQuery(
            KeywordQuery(clauses[:MOST_CLAUSES]),
            self._filters,
            " ".join(self._plain),
            tuple(dict.fromkeys(self.notes)),
        )

    def _add_clause(self, written: list[str], sign: str) -> None:
        is_prefix = bool(written) and _PREFIX.fullmatch(written[-1]) is not None
        if is_prefix:
            written = [*written[:-1], written[-1].removesuffix("*")]
        if sign != "-":
            self._plain += written
        bare = (word.strip(_AROUND_WORDS).lower() for word in written)
        words = tuple(word for word in bare if any(map(str.isalnum, word)))
        if not words:
            return
        key = (words, is_prefix, sign == "-")
        known = self._clauses.get(key, Clause(words, 0, is_prefix, sign == "-"))
        self._clauses[key] = known._replace(
            times=known.times + 1, is_required=known.is_required or sign == "+"
        )

    def _add_filter(self, sign: str, field: str, value: str) -> bool:
        """Whether this is a condition (or a mistaken one), not words."""
        if field in ("before", "after"):
            return self._add_date(sign, field, value)
        spelled = _spelled(field, value)
        if not spelled:
            return False
        filters = self._filters
        if sign == "-":
            self.notes.append(f"-{field}: is not supported; -{field}:{value} was ignored")
        elif field == "site":
            self._filters = filters._replace(domains=_with(filters.domains, spelled))
        elif field == "lang":
            self._filters = filters._replace(languages=_with(filters.languages, spelled))
        elif field == "type":
            self._filters = filters._replace(types=_with(filters.types, spelled))
        elif field == "tag":
            self._filters = filters._replace(tags=_with(filters.tags, spelled))
        else:
            self._filters = filters._replace(collections=_with(filters.collections, spelled))
        return True

    def _add_date(self, sign: str, field: str, value: str) -> bool:
        moment = _moment(value)
        if moment is None and not value[:1].isdigit():
            return False
        if moment is None:
            self.notes.append(f"{field}:{value} is not a year, month or day and was ignored")
        elif sign == "-":
            self.notes.append(f"-{field}: is not supported; -{field}:{value} was ignored")
        elif field == "before":
            self._filters = self._filters._replace(before=min(self._filters.before, moment))
        else:
            self._filters = self._filters._replace(since=max(self._filters.since, moment))
        return True


def _with(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return values if value in values else (*values, value)


def _spelled(field: str, value: str) -> str:
    """The value as facets spell it; empty when it cannot be one."""
    if field == "site":
        return _domain(value)
    lowered = value.lower()
    if field == "lang":
        return lowered.partition("-")[0] if _LANGUAGE.fullmatch(lowered) else ""
    if field == "type":
        return lowered if _NAME.fullmatch(lowered) else ""
    return value.strip().strip('"')


def _domain(value: str) -> str:
    bare = value.strip().removeprefix("*.").strip(".,;")
    try:
        return split(canonicalize(bare if "://" in bare else f"http://{bare}/")).netloc
    except InvalidUrl:
        return ""


def _moment(value: str) -> float | None:
    """The first moment of a year, month or day, in epoch seconds."""
    match = _DATE.fullmatch(value.strip())
    if match is None:
        return None
    try:
        year, month, day = (int(part or 1) for part in match.groups())
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _is_sign(written: str, *, is_phrase: bool) -> bool:
    """Whether a plus or minus in front of this means something: not in -1, --help, `ps -ef`."""
    return is_phrase or (written[:1].isalpha() and _OPTION.match(written) is None)
