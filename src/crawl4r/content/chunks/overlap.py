"""How far a chunk reaches back into the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.content.chunks.atoms import CountTokens, sentences_of, words_of
from crawl4r.content.markdown.blocks import ChunkKind
from crawl4r.content.markdown.lines import split_lines


def tail_length(text: str, kind: ChunkKind, count: CountTokens, overlap: int) -> int:
    """How many characters at the end of a chunk are whole sentences of up to `overlap` tokens.

    Of a long sentence, whole words; of code, tables and lists, whole lines. Never all of the chunk.
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
