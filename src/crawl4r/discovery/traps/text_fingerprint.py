"""A fingerprint of a page's text. Pages with the same text in another order, or with other links,
have the same fingerprint.

A site may serve one page under any number of URLs. Such pages share their text; they differ in links,
in numbers and in words that also stand in the URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote
from zlib import crc32

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.formats.html import body_of, spaced_text

# A query, a session, a date: forms of URLs that a site can make without end for one page.
_ONE_OF_MANY = re.compile(r"[?;(]|/[0-9]|[0-9]/|=")
_ENOUGH_WORDS = 25  # different ones, in paragraphs
_MUCH_SAID = 2_000  # characters; longer texts need no count of words
_FIRST = 8  # paragraphs, enough to tell most pages apart
_MOST_KNOWN = 100_000
_WORD = re.compile(r"[^\W\d_]+")


class TextFingerprints:
    """Remembers the paragraphs of earlier pages, and reads only pages that share some to the end."""

    def __init__(self) -> None:
        self._known: dict[int, set[int]] = {}  # by first paragraphs: fingerprints of the rest
        self._count = 0

    def of(self, document: LinkDocument, url: str) -> int:
        """The fingerprint; 0 for a page whose URL has no query, session or date: it counts as new."""
        if _ONE_OF_MANY.search(url, url.find("/", len("https://"))) is None:
            return 0
        said = _paragraphs(document, url)
        if not _is_enough(said):
            body = body_of(document.tree)
            return _mark(said if body is None else spaced_text(body).split())
        mark = _mark(said)
        others = self._known.get(mark)
        if others is None:
            self._remember(mark)
            return mark
        # The shared paragraphs may be site boilerplate. The rest of the first page was not kept, so the
        # second page counts as the same.
        own = _mark(_words_of_its_own(document, url))
        is_same = not others or own in others
        others.add(own)
        self._count += not is_same
        return mark if is_same else mark ^ own

    def _remember(self, mark: int) -> None:
        if self._count >= _MOST_KNOWN:
            self._known.clear()
            self._count = 0
        self._known[mark] = set()
        self._count += 1


def _paragraphs(document: LinkDocument, url: str) -> list[str]:
    """The first paragraphs if they are enough; all of them if a query may have sorted them."""
    nodes = document.tree.select("p")
    if "?" not in url and len(nodes) > _FIRST:
        said = [node.text for node in nodes[:_FIRST]]
        if _is_enough(said):
            return said
    return [node.text for node in nodes]


def _is_enough(said: Sequence[str]) -> bool:
    """Whether paragraphs hold enough text to compare pages by. Lists and tables of links do not count:
    they differ between URLs without any new text."""
    return sum(map(len, said)) >= _MUCH_SAID or len(set(" ".join(said).split())) >= _ENOUGH_WORDS


def _words_of_its_own(document: LinkDocument, url: str) -> set[str]:
    """All words outside of links, except words of the URL."""
    body = body_of(document.tree)
    if body is None:
        return set()
    words = {word for word in spaced_text(body).lower().split() if word.isalpha()}
    for node in body.find_all("a"):
        words.difference_update(node.text.lower().split())
    return words.difference(_WORD.findall(unquote(url).lower()))


def _mark(said: Iterable[str]) -> int:
    return sum({crc32(text.encode("utf-8", "replace")) for text in said}) & 0xFFFFFFFF
