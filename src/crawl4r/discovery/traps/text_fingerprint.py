"""What a page says, as a number: the same for pages that say the same in another order, or with
other links.

A site may have any number of addresses for one page, and make a page for any number of addresses. What
such pages have in common is what they say; what changes is their links, their numbers, and the words
that stand in the address as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote
from zlib import crc32

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.formats.html import body_of, spaced_text

# A query, a session, a date: addresses of which a site may have any number for the same page.
_ONE_OF_MANY = re.compile(r"[?;(]|/[0-9]|[0-9]/|=")
_ENOUGH_WORDS = 25  # different ones, in paragraphs
_MUCH_SAID = 2_000  # characters that are not worth counting words in
_FIRST = 8  # paragraphs that tell most pages apart
_MOST_KNOWN = 100_000
_WORD = re.compile(r"[^\W\d_]+")


class TextFingerprints:
    """Remembers what was said before: only pages that share their paragraphs are read to the end."""

    def __init__(self) -> None:
        self._known: dict[int, set[int]] = {}  # paragraphs, and what else pages with them said
        self._count = 0

    def of(self, document: LinkDocument, url: str) -> int:
        """0 for a page whose address is hardly one of many; it may as well be new."""
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
        # Paragraphs of the site's own, maybe, beside what differs. What the first page had besides is
        # not known: the second is taken for the same.
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
    """The first ones, where they are enough; all of them where a query may have sorted them."""
    nodes = document.tree.select("p")
    if "?" not in url and len(nodes) > _FIRST:
        said = [node.text for node in nodes[:_FIRST]]
        if _is_enough(said):
            return said
    return [node.text for node in nodes]


def _is_enough(said: Sequence[str]) -> bool:
    """Paragraphs count where there is enough in them: lists and tables of links differ from one
    address to the next without a new word being said."""
    return sum(map(len, said)) >= _MUCH_SAID or len(set(" ".join(said).split())) >= _ENOUGH_WORDS


def _words_of_its_own(document: LinkDocument, url: str) -> set[str]:
    """All words that stand neither in a link nor in the address."""
    body = body_of(document.tree)
    if body is None:
        return set()
    words = {word for word in spaced_text(body).lower().split() if word.isalpha()}
    for node in body.find_all("a"):
        words.difference_update(node.text.lower().split())
    return words.difference(_WORD.findall(unquote(url).lower()))


def _mark(said: Iterable[str]) -> int:
    return sum({crc32(text.encode("utf-8", "replace")) for text in said}) & 0xFFFFFFFF
