"""Compute how far a chunk reaches back into the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.content.chunks.atoms import CountTokens, sentences_of, words_of
from crawl4r.content.markdown.blocks import ChunkKind
from crawl4r.content.markdown.lines import split_lines


def tail_length(text: str, kind: ChunkKind, count: CountTokens, overlap: int) -> int:
    """The length of the whole sentences at the end of a chunk, up to `overlap` tokens, in characters.

    Counts whole words of a long sentence, and whole lines of code, tables and lists. Never the whole
    chunk.
    """
    if kind is not ChunkKind.PROSE:
        return _fitting(split_lines(text)[1:], count, overlap)
    return _fitting(sentences_of(text)[1:], count, overlap) or _fitting(
        words_of(text)[1:], count, overlap
    )


def _fitting(parts: Sequence[str], count: CountTokens, most: int) -> int:
    last = parts[-most - 1 :]
    length = 0
    for part, tokens in zip(reversed(last), reversed(count(last)), strict=True):
        most -= tokens
        if most < 0:
            break
        length += len(part)
    return length
