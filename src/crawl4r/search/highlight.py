"""Where a passage answers: the query's words in its text, and a link that leads there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from crawl4r.search.port import KeywordQuery

Stems = Callable[[Sequence[str]], list[str]]

_WORD = re.compile(r"[^\W_]+")
_ALIKE = 3  # letters that a word and its forms share at the beginning
_FRAGMENT_WORDS = 8
_LONGEST_LINE = 2_000  # characters
_UNSAFE = "-,&"  # have a meaning inside a text fragment


def highlights(text: str, query: KeywordQuery, stems: Stems) -> list[tuple[int, int]]:
    """Character ranges of the words that the query asks for, in any of their forms."""
    wanted, prefixes = _wanted(query)
    if not wanted:
        return []
    beginnings = {word[:_ALIKE] for word in wanted}
    candidates = [
        match for match in _WORD.finditer(text) if match[0][:_ALIKE].lower() in beginnings
    ]
    forms = list({match[0].lower() for match in candidates})
    stem_of = dict(zip(forms, stems(forms), strict=True))
    asked = set(stems(wanted)) - {""}
    return [
        match.span()
        for match in candidates
        if stem_of[match[0].lower()] in asked or match[0].lower().startswith(prefixes)
    ]


def _wanted(query: KeywordQuery) -> tuple[list[str], tuple[str, ...]]:
    """Single words, and those that may go on."""
    words: dict[str, None] = {}
    prefixes = []
    for clause in query.clauses:
        if not clause.is_excluded:
            parts = [part.lower() for word in clause.words for part in _WORD.findall(word)]
            words |= dict.fromkeys(parts)
            if clause.is_prefix and parts:
                prefixes.append(parts[-1])
    return list(words), tuple(prefixes)


def best_line(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """The line with the most highlights; of a text without any, its first."""
    best, most = "", -1
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        count = sum(start <= mark[0] < end for mark in marks)
        if count > most and line.strip():
            best, most = line.strip(), count
        start = end
    return best[:_LONGEST_LINE]


def with_fragment(url: str, plain_line: str) -> str:
    """The address with a text fragment, which makes a browser scroll to these words."""
    words = plain_line.split()[:_FRAGMENT_WORDS]
    if not words:
        return url
    text = quote(" ".join(words), safe="")
    for sign in _UNSAFE:
        text = text.replace(sign, f"%{ord(sign):02X}")
    address, _, anchor = url.partition("#")
    return f"{address}#{anchor}:~:text={text}"
