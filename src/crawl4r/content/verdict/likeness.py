"""Does a page look like what its host shows for a URL that cannot exist?

Compared are sets of words, not sequences: error pages repeat the URL, and a word of the URL can then be
left out of both wherever it stands. Pages of one template share all its words, so it is what one page
says beyond the other that counts, however much they have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from urllib.parse import unquote, urlsplit
from zlib import crc32

from msgspec import Struct
from turbohtml import Document

from crawl4r.content.verdict.visible import SPACELESS, look

_MOST_WORDS = 400  # the ones with the least hashes: a fair sample, and the same one on every page
_FEW = 4  # words that may differ on pages that are the same
_SHARE = 0.03
_PARAGRAPHS = 2
_WORD = re.compile(r"[^\W_]+", re.ASCII)


class Likeness(Struct, frozen=True):
    """What a page looks like, in a few kilobytes at most."""

    title: frozenset[int]  # hashes of words, here and below
    words: frozenset[int]
    address: frozenset[int]  # words of the URL, which the page may repeat
    paragraphs: int
    names_address: bool  # title or heading speak of what the URL speaks of


def likeness(tree: Document, url: str = "") -> Likeness:
    """What this page looks like. Numbers are left out, the words of its URL are known as such."""
    visible = look(tree)
    address = _hashes(_words_of_address(url))
    title = _hashes(_words(visible.title))
    heading = _hashes(_words(" ".join(visible.headings)))
    # The text around the main part too: some sites put all they say there.
    words = _hashes(_words(f"{visible.main} {visible.chrome}"))
    return Likeness(
        title,
        frozenset(sorted(words)[:_MOST_WORDS]),
        address,
        visible.paragraphs,
        bool(address & (title | heading)),
    )


def resembles(page: Likeness, probe: Likeness) -> bool:
    """Is the page what the probe is, save for the URL they repeat?

    False whenever in doubt, and for pages without words: an empty shell looks like any other.
    """
    echoes = page.address | probe.address
    said, probed = page.words - echoes, probe.words - echoes
    if not said or not probed:
        return False
    if page.names_address and not probe.names_address:
        return False
    if page.title - echoes != probe.title - echoes:
        return False
    if abs(page.paragraphs - probe.paragraphs) > _PARAGRAPHS:
        return False
    allowed = max(min(_FEW, len(probed) // 3), int(len(probed) * _SHARE))
    return _differ(said, probed) <= allowed


def _differ(one: frozenset[int], other: frozenset[int]) -> int:
    """Words that only one of them has. Past the end of a full sample nothing is known of either."""
    horizon = min(
        (max(words) for words in (one, other) if len(words) >= _MOST_WORDS // 2),
        default=1 << 32,
    )
    return sum(1 for word in one ^ other if word <= horizon)


def _words(text: str) -> Iterable[str]:
    """Words that hold no digit: numbers, dates and request ids change from visit to visit."""
    word = _WORD if text.isascii() else _any_word()
    return (each for each in word.findall(text.lower()) if not any(map(str.isdigit, each)))


@cache
def _any_word() -> re.Pattern[str]:
    return re.compile(rf"{SPACELESS}{{1,2}}|[^\W_]+")


def _words_of_address(url: str) -> Iterable[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    return _words(unquote(f"{parts.path} {parts.query}"))


def _hashes(words: Iterable[str]) -> frozenset[int]:
    return frozenset(crc32(word.encode("utf-8", "replace")) for word in words)
