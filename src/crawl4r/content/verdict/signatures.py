"""Which signs of a page that is not what was asked for speak in a text? `signature_list` has them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import re2

from crawl4r.content.verdict.signature_list import PLACES, SIGNATURES, SignatureEntry
from crawl4r.model import Verdict

_LINES = "title", "heading"  # asked for much the same, so they share their patterns
_SEPARATOR = re.compile(
    r"\s[-/]+\s|[|\u2013\u2014:\u00b7\u2022\u00bb\u00ab\u203a\u2039]+|\.{2,}\s|[!?]+\s"
)
_MARKS = (
    string.punctuation
    + string.whitespace
    + "\u2026\u201c\u201d\u201e\u2018\u00a1\u00bf\u3002\uff01\uff1f"
)
_LETTERS = r"a-z\x{80}-\x{10ffff}"  # in lower case, as all texts are
_LONGEST_TITLE = 500
_LONGEST_LINE = 100  # characters; a message is shorter, and what is longer speaks about one
_FURTHER = 0.2  # of the weight, for each further pattern of a signature that matches


class Signature(NamedTuple):
    """One sign that a page is not a page: what it speaks for, how loudly, beside how much text."""

    name: str
    verdict: Verdict
    weight: float
    words: int  # the most of them beside which it still counts


class Signatures:
    """All signatures, to be asked for one place of a page at a time."""

    def __init__(self, sections: Mapping[Verdict, Sequence[SignatureEntry]]) -> None:
        lines = _Patterns()
        self._patterns = {place: lines if place in _LINES else _Patterns() for place in PLACES}
        for verdict, entries in sections.items():
            for entry in entries:
                self._add(verdict, entry)

    def _add(self, verdict: Verdict, entry: SignatureEntry) -> None:
        signature = Signature(entry.name, verdict, entry.weight, entry.words)
        places = frozenset(entry.where)
        owners = {id(each): each for each in map(self._patterns.__getitem__, places)}
        for patterns in owners.values():
            patterns.add(_patterns_of(entry), signature, places)

    def prepare(self) -> None:
        """Compile those that almost every page is asked for, which else happens with the first page."""
        self._patterns["title"].compile()

    def heard(self, place: str, text: str, words: int) -> list[Signature]:
        """The signatures that speak in this text, each once, beside so many words of page text."""
        patterns = self._patterns[place]
        if not text or words > patterns.most_words:
            return []
        matches = Counter(
            signature
            for signature, places in patterns.matching(text)
            if words <= signature.words and place in places
        )
        return [
            signature._replace(weight=signature.weight * (1 + _FURTHER * (count - 1)))
            for signature, count in matches.items()
        ]


class _Patterns:
    """Patterns behind one filter: what must occur literally is looked for in one pass, and only then
    the patterns it stands in are run, each linear. (One automaton for all of them grows too large.)

    Compiled when first asked, for most pages are asked for their title only.
    """

    def __init__(self) -> None:
        self.most_words = 0
        self._filter: Any = None
        self._waiting: list[str] = []
        self._owners: list[tuple[Signature, frozenset[str]]] = []

    def add(self, patterns: Iterable[str], signature: Signature, places: frozenset[str]) -> None:
        for pattern in patterns:
            self._waiting.append(pattern)
            self._owners.append((signature, places))
        self.most_words = max(self.most_words, signature.words)

    def compile(self) -> None:
        fresh = re2.Filter()
        for pattern in self._waiting:
            fresh.Add(pattern, _options())
        fresh.Compile()
        self._filter = fresh  # only now: crawls in other threads ask it too

    def matching(self, text: str) -> Iterator[tuple[Signature, frozenset[str]]]:
        if not self._waiting:
            return
        if self._filter is None:
            self.compile()
        for index in self._filter.Match(text) or ():
            yield self._owners[index]


def _patterns_of(entry: SignatureEntry) -> Iterator[str]:
    patterns = map(_with_cheap_letters, entry.patterns)
    for pattern in [*map(re2.escape, entry.phrases), *patterns]:
        yield f"(?m)^(?:{pattern})$" if entry.whole else pattern


def _with_cheap_letters(pattern: str) -> str:
    """All signs beyond ASCII count as letters: the true ones take most of the time of compiling."""
    return pattern.replace(r"[^\pL]", f"[^{_LETTERS}]").replace(r"\pL", f"[{_LETTERS}]")


def _options() -> Any:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return options


def lines_of(texts: Sequence[str]) -> str:
    """Each text, and each part of it between separators, on a line, bare of marks at its ends.

    So a pattern can ask for a whole line: "404 not found", however the site adds its own name.
    """
    lines: list[str] = []
    for text in texts:
        parts = _SEPARATOR.split(text[:_LONGEST_TITLE])
        lines += [text, *parts] if len(parts) > 1 else [text]
    bare = (line.strip(_MARKS) for line in lines)
    return "\n".join(line for line in bare if 0 < len(line) <= _LONGEST_LINE)


@cache
def bundled() -> Signatures:
    """The signatures that come with the package."""
    return Signatures(SIGNATURES)
