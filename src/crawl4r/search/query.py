"""The query language: parse a user's text into search terms and conditions.

    heat transfer           passages with these words; more of them, rarer ones and nearer titles win
    "boundary layer"        the words in this order; "boundary lay*" works too
    connect*                any word that begins like this
    +wing -flutter          must have, must not have; also with a phrase
    site:example.org        on this site or below it
    type:pdf  type:code     documents of this kind, passages of this type
    lang:de  tag:manual  collection:"my papers"
    after:2024  before:2024-05-01     captured then (UTC); a year, a month or a day

Text that only resembles this syntax (`C++`, `std::map`, `-1`, `ps -ef`, `foo:bar`) is searched as
words. A condition with an unknown value (`type:spreadsheet`, `lang:english`, `after:lunch`) is a
mistake, and so is a query without words. Quotes turn a condition into words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from crawl4r.errors import InvalidUrl, UsageError
from crawl4r.formats.dates import moment
from crawl4r.search.languages import language_code, not_a_language
from crawl4r.search.port import Clause, Filters, KeywordQuery
from crawl4r.urls.canonical import canonicalize, split

LONGEST_QUERY = 1_000  # characters of a user's query
LONGEST_READ = 10_000  # characters
# Kinds of documents (`content/kinds.py`), and of passages (`content/markdown_blocks.py`).
TYPES = ("html", "pdf", "text", "feed", "json", "xml", "record", "prose", "code", "table", "list")
MOST_CLAUSES = 256  # distinct ones; each costs a look-up

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


class ParsedQuery(NamedTuple):
    keywords: KeywordQuery
    filters: Filters
    plain: str  # the words without syntax, for the embedder
    notes: tuple[str, ...]  # ignored parts, with the reason
    mistakes: tuple[str, ...] = ()  # invalid parts, with what to write instead


def parse(text: str) -> ParsedQuery:
    """Parse a query; never raises."""
    reading = _Reading()
    if len(text) > LONGEST_READ:
        reading.notes.append(f"only the first {LONGEST_READ:,} characters were read")
    for token in _TOKEN.finditer(_UNTYPED.sub(" ", text[:LONGEST_READ]).translate(_QUOTES)):
        reading.add(token["sign"], token["field"], token["phrase"], token["word"])
    return reading.result()


def parse_checked(text: str) -> ParsedQuery:
    """Parse a user's query. Raises UsageError for a mistake, with what to change."""
    if len(text) > LONGEST_QUERY:
        raise UsageError(
            f"the query has {len(text):,} characters; shorten it to {LONGEST_QUERY:,} or fewer"
        )
    parsed = parse(text)
    if parsed.mistakes:
        raise UsageError("; ".join(parsed.mistakes))
    if not parsed.plain.strip():
        raise UsageError(
            "the query only narrows and excludes; add a word to look for"
            if text.strip()
            else "the query is empty; give some words to look for"
        )
    return parsed


def check_types(types: Iterable[str]) -> None:
    """Raises UsageError for a type that neither documents nor passages can have."""
    for value in types:
        if value.lower() not in TYPES:
            raise UsageError(_not_a_type(value))


def _not_a_type(value: str) -> str:
    return f"{value!r} is not a type; there are {', '.join(TYPES)}"


class _Reading:
    """The tokens so far. `plain` keeps words as they were written, clauses in lower case."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.mistakes: list[str] = []
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
            tuple(dict.fromkeys(self.mistakes)),
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
        if mistake := _mistake(field, value):
            self.mistakes.append(f'{mistake} (to look for these words: "{field}:{value}")')
            return True
        if field in ("before", "after"):
            self._add_date(sign, field, value)
            return True
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

    def _add_date(self, sign: str, field: str, value: str) -> None:
        start = _start_of(value)
        assert start is not None, "it was looked at"
        if sign == "-":
            self.notes.append(f"-{field}: is not supported; -{field}:{value} was ignored")
        elif field == "before":
            self._filters = self._filters._replace(before=min(self._filters.before, start))
        else:
            self._filters = self._filters._replace(since=max(self._filters.since, start))


def _mistake(field: str, value: str) -> str:
    """Why this value is invalid, and which values are valid; empty when it is valid."""
    if field == "type" and value.lower() not in TYPES:
        return _not_a_type(value)
    if field == "lang" and not language_code(value):
        return not_a_language(value)
    if field in ("before", "after") and _start_of(value) is None:
        return (
            f"{value!r} is not a date; {field}: takes a year, a month or a day,"
            f" like {field}:2026, {field}:2026-05 or {field}:2026-05-31"
        )
    return ""


def _with(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return values if value in values else (*values, value)


def _spelled(field: str, value: str) -> str:
    """The value in the spelling of the facets; empty when it is invalid."""
    if field == "site":
        return _domain(value)
    if field == "lang":
        return language_code(value)
    if field == "type":
        return value.lower()
    return value.strip().strip('"')


def _domain(value: str) -> str:
    bare = value.strip().removeprefix("*.").strip(".,;")
    try:
        return split(canonicalize(bare if "://" in bare else f"http://{bare}/")).netloc
    except InvalidUrl:
        return ""


def _start_of(value: str) -> float | None:
    """The first moment of a year, month or day, in epoch seconds."""
    match = _DATE.fullmatch(value.strip())
    return moment(*match.groups()) if match else None


def _is_sign(written: str, *, is_phrase: bool) -> bool:
    """Whether a plus or minus in front of this is an operator: not in -1, --help, `ps -ef`."""
    return is_phrase or (written[:1].isalpha() and _OPTION.match(written) is None)
