"""A document as passages: where it is cut, and which words of each are searched and embedded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from crawl4r.content.chunk import CountTokens, chunk_by_structure
from crawl4r.content.markdown import plain_text
from crawl4r.model import Document
from crawl4r.search.catalogue import Entry, Found
from crawl4r.search.port import Passage

_MANY_LINKS, _MOSTLY = 6, 0.7  # links in a passage, and their share of its words
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\(")


def entries_of(document: Document, count_tokens: CountTokens, max_tokens: int) -> list[Entry]:
    """The passages of a document, without numbers yet; tables of contents and the like left out."""

    def count_words(texts: Sequence[str]) -> list[int]:
        # Of what is searched: a passage must not be short because its links are long.
        return list(count_tokens([plain_text(text) for text in texts]))

    entries = []
    for chunk in chunk_by_structure(document.markdown, count_words, max_tokens=max_tokens):
        text = document.markdown[chunk.start : chunk.end]
        if text.strip() and not _is_list_of_links(text):
            key = _key(embedded_text(document.title, chunk.headings, text))
            fields = (chunk.id, *chunk[:3], chunk.tokens, chunk.kind.value, chunk.headings)
            entries.append(Entry(0, *fields, text, key))
    return entries


def embedded_text(title: str, headings: Sequence[str], text: str) -> str:
    """A passage with the way to it in front: what it is about is often said only there.

    Without the marks of markdown and the addresses of links, which were a third of its tokens.
    """
    way = [part for part in (title, *(each for each in headings if each != title)) if part]
    words = plain_text(text)
    return f"{' > '.join(way)}\n{words}" if way else words


def text_of(found: Found) -> str:
    return embedded_text(found.version.title, found.entry.headings, found.entry.text)


def searchable(found: Found) -> Passage:
    """A passage by its words alone: nobody looks for the address of a link."""
    passage = found.passage()
    return passage._replace(text=plain_text(passage.text))


def _is_list_of_links(text: str) -> bool:
    """An index or a table of contents: what it lists is found where it leads to."""
    linked = [len(link[1]) for link in _LINK.finditer(text)]
    return len(linked) >= _MANY_LINKS and sum(linked) > _MOSTLY * len(plain_text(text))


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
