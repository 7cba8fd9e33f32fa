"""Cut a document into pieces, for search or output. Pure; runs in a sandbox process."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crawl4r.content.chunks.chunk import Chunk, CountTokens, chunk_by_structure, chunk_by_window
from crawl4r.content.chunks.tokens import load_tokenizer
from crawl4r.content.markdown.plain_text import plain_text

MOST_PIECES = 10_000  # of one document; a long novel has two thousand
_MOST_BLOCKS = 200_000  # paragraphs, headings, items and the like
_MANY_LINKS, _MOSTLY = 6, 0.7  # links in a piece, and their share of its words
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\(")
# A blank is no token, and a word of a thousand letters is one. To limit the length of pieces, at least
# so many characters count as a token: in the searched text, and in the markdown with its addresses.
_CHARACTERS_A_TOKEN, _MARKDOWN_A_TOKEN = 64, 256


class Piece(NamedTuple):
    """One stretch of the markdown: `markdown[start:end]`."""

    chunk_id: str
    index: int  # type: ignore[assignment]  # hides the unused tuple.index
    start: int
    end: int
    tokens: int
    kind: str
    headings: tuple[str, ...]
    key: str  # hexadecimal; equal for pieces with the same embedding


class Pieces(NamedTuple):
    """The pieces of a document, up to the limit."""

    pieces: list[Piece]
    is_cut: bool = False


def cut(
    title: str,
    markdown: str,
    count_tokens: CountTokens,
    max_tokens: int,
    *,
    min_tokens: int = 32,
    overlap: int = 0,
) -> Pieces:
    """Drop tables of contents and similar pieces, because search finds the linked sections."""
    # Count the searched text, so that long links do not shorten a passage.
    count = _bounded(count_tokens, max_tokens, plain_text)
    chunks = chunk_by_structure(
        markdown,
        count,
        max_tokens=max_tokens,
        min_tokens=min_tokens,
        overlap=overlap,
        most_blocks=_MOST_BLOCKS,
    )
    pieces: list[Piece] = []
    for chunk in chunks:
        text = markdown[chunk.start : chunk.end]
        if text.strip() and not _is_list_of_links(text):
            if len(pieces) == MOST_PIECES:
                return Pieces(pieces, is_cut=True)
            pieces.append(_piece(title, chunk, text))
    return Pieces(pieces, is_cut=bool(chunks) and chunks[-1].end < len(markdown))


def embedded_text(title: str, headings: Sequence[str], text: str) -> str:
    """The text of a piece after its title and headings, which often name its subject.

    Without the marks of markdown and the addresses of links, which were a third of its tokens.
    """
    way = [part for part in (title, *(each for each in headings if each != title)) if part]
    words = plain_text(text)
    return f"{' > '.join(way)}\n{words}" if way else words


def _bounded(count_tokens: CountTokens, limit: int, words: Callable[[str], str]) -> CountTokens:
    """Count the tokens of texts, except of those that are surely too long for one piece.

    A tokenizer needs a hundred times the memory of a text.
    """

    def count(texts: Sequence[str]) -> list[int]:
        counted = [words(text) for text in texts]
        tokens = [
            max(len(said) // _CHARACTERS_A_TOKEN, len(text) // _MARKDOWN_A_TOKEN)
            for said, text in zip(counted, texts, strict=True)
        ]
        short = [at for at, least in enumerate(tokens) if least <= limit]
        for at, exactly in zip(short, count_tokens([counted[at] for at in short]), strict=True):
            tokens[at] = max(tokens[at], exactly)
        return tokens

    return count


def _piece(title: str, chunk: Chunk, text: str) -> Piece:
    embedded = embedded_text(title, chunk.headings, text).encode("utf-8", "surrogatepass")
    key = hashlib.blake2b(embedded, digest_size=16).hexdigest()
    place = (chunk.index, chunk.start, chunk.end, chunk.tokens)
    return Piece(chunk.id, *place, chunk.kind.value, chunk.headings, key)


def _is_list_of_links(text: str) -> bool:
    linked = [len(link[1]) for link in _LINK.finditer(text)]
    return len(linked) >= _MANY_LINKS and sum(linked) > _MOSTLY * len(plain_text(text))


def make_cutter(config: Mapping[str, Any]) -> Callable[[str, bytes], Pieces]:
    """The sandbox's entry: `(title, markdown) -> pieces` of at most `max_tokens` tokens."""
    count = load_tokenizer().count
    most, least, overlap = (config[f"{name}_tokens"] for name in ("max", "min", "overlap"))

    def run(title: str, markdown: bytes) -> Pieces:
        return cut(title, markdown.decode(), count, most, min_tokens=least, overlap=overlap)

    return run


def make_chunker(_: Any) -> Callable[[Mapping[str, Any], bytes], list[Chunk]]:
    """The sandbox's entry: `(head, markdown) -> chunks` of at most `tokens` tokens, `by` structure or
    by window."""
    count_tokens = load_tokenizer().count

    def run(head: Mapping[str, Any], body: bytes) -> list[Chunk]:
        markdown, most = body.decode(), head["tokens"]
        count = _bounded(count_tokens, most, str)
        if head["by"] == "structure":
            return chunk_by_structure(markdown, count, max_tokens=most)
        return chunk_by_window(markdown, count, size=most, overlap=most // 8)

    return run
