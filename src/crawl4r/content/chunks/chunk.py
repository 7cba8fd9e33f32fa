"""Cut a markdown document into chunks for embedding and search, each an exact range of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from crawl4r.content.chunks.atoms import (
    Atom,
    CountTokens,
    MarkdownSection,
    counting_once,
    sections_of,
    structural_atoms,
    word_atoms,
)
from crawl4r.content.chunks.overlap import tail_length
from crawl4r.content.markdown.blocks import ChunkKind, scan_blocks

__all__ = ["Chunk", "ChunkKind", "CountTokens", "chunk_by_structure", "chunk_by_window"]

_ID_BYTES = 16


class Chunk(NamedTuple):
    """One range of the document: exactly `markdown[start:end]`."""

    index: int  # type: ignore[assignment]  # hides the unused tuple.index
    start: int
    end: int
    headings: tuple[str, ...]  # above it and its own, outermost first
    kind: ChunkKind  # of most of its characters, without headings
    tokens: int  # of its own text, without `headings`
    id: str  # depends only on the text and its headings


class _Range(NamedTuple):
    """Neighbouring atoms, from `first` up to but not including `end`."""

    first: int
    end: int


def chunk_by_structure(
    markdown: str,
    count: CountTokens,
    *,
    max_tokens: int = 512,
    min_tokens: int = 32,
    overlap: int = 0,
    most_blocks: int | None = None,
) -> list[Chunk]:
    """Cut at the document's own breaks. Without an overlap the joined chunks equal the document, or its
    first `most_blocks` blocks or so.

    No chunk crosses a heading. Neighbouring blocks share a chunk up to `max_tokens`. A block that fits
    stays whole; a longer one is split between items, rows, lines or sentences, then words, then
    characters. A heading stays with the following block, unless that is code or a table that would not
    fit with it. Only a single character may exceed the limit.
    If the last chunk of a section is below `min_tokens` (at most half the limit), it takes blocks from
    the chunk before it.

    With an overlap, a chunk that continues a section begins with the last sentences (or lines of code,
    tables and lists) of the chunk before it, up to `overlap` tokens. The chunks of a section that does
    not fit as a whole leave that much room.
    """
    if max_tokens < 1:
        raise ValueError("a chunk needs room for a token")
    if not 0 <= overlap <= max_tokens // 2:
        raise ValueError("an overlap is at most half of a chunk")
    count = counting_once(count)
    blocks = scan_blocks(markdown, most_blocks)
    sections = sections_of(blocks)
    limit = max_tokens - overlap
    atoms = structural_atoms(markdown, blocks, sections, count, limit)
    packing = _Packing(atoms, limit, max_tokens)
    ranges = [
        packed
        for _, group in groupby(range(len(atoms)), key=lambda at: atoms[at].section)
        for packed in packing.pack(_range_of(group), min(min_tokens, max_tokens // 2))
    ]
    chunks = _chunks(markdown, packing, ranges, sections, count)
    if overlap:
        begins = {blocks[section.first].start for section in sections}
        return _overlapping(markdown, chunks, begins, count, overlap, max_tokens)
    return chunks


def chunk_by_window(
    markdown: str, count: CountTokens, *, size: int = 512, overlap: int = 64
) -> list[Chunk]:
    """Cut into overlapping windows of words, without regard to structure.

    Each window has at most `size` tokens and repeats up to `overlap` tokens of the one before it;
    together they cover the document. Its headings are those at its beginning.
    """
    if size < 1 or not 0 <= overlap <= size // 2:
        raise ValueError("a window needs room for a token, and an overlap of at most half of it")
    count = counting_once(count)
    blocks = scan_blocks(markdown)
    sections = sections_of(blocks)
    packing = _Packing(word_atoms(markdown, blocks, sections, count, size), size)
    return _chunks(markdown, packing, list(packing.slide(overlap)), sections, count)


def _range_of(group: Iterator[int]) -> _Range:
    members = list(group)
    return _Range(members[0], members[-1] + 1)


class _Packing:
    """Group atoms into pieces by the sum of their tokens."""

    def __init__(self, atoms: Sequence[Atom], limit: int, most: int | None = None) -> None:
        """`most`: the tokens up to which a section or a chunk stays whole."""
        self.atoms = atoms
        self.limit = limit
        self.most = most or limit
        self._before = [0, *accumulate(atom.tokens for atom in atoms)]

    def total(self, first: int, end: int) -> int:
        return self._before[end] - self._before[first]

    def pack(self, section: _Range, min_tokens: int) -> list[_Range]:
        if self.limit < self.most and self.total(*section) <= self.most:
            return [section]
        packed: list[_Range] = []
        pieces: list[list[_Range]] = []
        for piece in self._pieces(*section):
            if packed and self.total(packed[-1].first, piece.end) <= self.limit:
                packed[-1] = _Range(packed[-1].first, piece.end)
                pieces[-1].append(piece)
            else:
                packed.append(piece)
                pieces.append([piece])
        if len(packed) > 1:
            packed[-2:] = self._level(pieces[-2], packed[-1], min_tokens)
        return packed

    def _pieces(self, first: int, end: int) -> Iterator[_Range]:
        """Split what does not fit, at the shallowest breaks."""
        if end - first == 1 or self.total(first, end) <= self.atoms[first].room:
            yield _Range(first, end)
            return
        shallowest = min(self.atoms[at].depth for at in range(first + 1, end))
        breaks = [at for at in range(first + 1, end) if self.atoms[at].depth == shallowest]
        for start, stop in pairwise([first, *breaks, end]):
            yield from self._pieces(start, stop)

    def _level(self, pieces: list[_Range], last: _Range, min_tokens: int) -> list[_Range]:
        """Move atoms to a last chunk that is too small, as long as the chunk before keeps enough."""
        first, keep = pieces[0].first, len(pieces)
        while self.total(*last) < min_tokens and keep > 1:
            moved = pieces[keep - 1]
            stays = self.total(first, moved.first)
            is_body = not self.atoms[moved.first - 1].block.level
            if stays < min_tokens or not is_body or self.total(moved.first, last.end) > self.limit:
                break
            last, keep = _Range(moved.first, last.end), keep - 1
        return [_Range(first, last.first), last]

    def slide(self, overlap: int) -> Iterator[_Range]:
        first, count = 0, len(self.atoms)
        while first < count:
            end = self._furthest(first)
            yield _Range(first, end)
            if end == count:
                return
            # Start late enough that the next atom fits, because each window must go beyond the last
            # one.
            repeated = self._earliest(end, overlap)
            first = min(end, max(repeated, self._earliest(end + 1, self.limit)))

    def _furthest(self, first: int) -> int:
        return max(first + 1, bisect_right(self._before, self._before[first] + self.limit) - 1)

    def _earliest(self, end: int, tokens: int) -> int:
        return bisect_left(self._before, self._before[end] - tokens)

    def text(self, markdown: str, part: _Range) -> str:
        return markdown[self.atoms[part.first].start : self.atoms[part.end - 1].end]


def _chunks(
    markdown: str,
    packing: _Packing,
    ranges: Sequence[_Range],
    sections: Sequence[MarkdownSection],
    count: CountTokens,
) -> list[Chunk]:
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    chunks = []
    for index, (part, tokens) in enumerate(_counted(markdown, packing, ranges, count)):
        atoms = packing.atoms[part.first : part.end]
        headings = sections[atoms[0].section].path
        text = packing.text(markdown, part).strip()
        identity = _identity(headings, text, seen[headings, text])
        seen[headings, text] += 1
        chunks.append(
            Chunk(index, atoms[0].start, atoms[-1].end, headings, _kind(atoms), tokens, identity)
        )
    return chunks


def _counted(
    markdown: str, packing: _Packing, ranges: Sequence[_Range], count: CountTokens
) -> list[tuple[_Range, int]]:
    """Each range with its exact count; a range above the limit is halved.

    The counts of parts may differ in sum from that of the whole: a tokenizer may join across a cut.
    """
    counted = list(zip(ranges, count([packing.text(markdown, r) for r in ranges]), strict=True))
    while any(_is_over(packing, part, tokens) for part, tokens in counted):
        over = [part for part, tokens in counted if _is_over(packing, part, tokens)]
        halves = [half for part in over for half in _halves(part)]
        fresh = iter(zip(halves, count([packing.text(markdown, h) for h in halves]), strict=True))
        counted = [
            entry
            for part, tokens in counted
            for entry in (
                (next(fresh), next(fresh)) if _is_over(packing, part, tokens) else ((part, tokens),)
            )
        ]
    return list(_without_contained(counted))


def _without_contained(
    counted: Iterable[tuple[_Range, int]],
) -> Iterator[tuple[_Range, int]]:
    """Sort the ranges, and drop those within another one.

    Windows overlap, so a half of one may begin after the first half of the next, or lie within it.
    """
    reached = 0
    for part, tokens in sorted(counted, key=lambda entry: (entry[0].first, -entry[0].end)):
        if part.end > reached:
            reached = part.end
            yield part, tokens


def _overlapping(
    markdown: str,
    chunks: Sequence[Chunk],
    begins: set[int],
    count: CountTokens,
    overlap: int,
    most: int,
) -> list[Chunk]:
    """Prepend to each chunk the end of the one before it, unless it begins a section."""
    lapped = list(chunks)
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    for at, chunk in enumerate(chunks):
        if at and chunk.start not in begins:
            before = chunks[at - 1]
            tail = tail_length(markdown[before.start : before.end], before.kind, count, overlap)
            start = chunk.start - tail
            (tokens,) = count([markdown[start : chunk.end]])
            if tail and tokens <= most:
                chunk = chunk._replace(start=start, tokens=tokens)  # noqa: PLW2901
        text = markdown[chunk.start : chunk.end].strip()
        identity = _identity(chunk.headings, text, seen[chunk.headings, text])
        seen[chunk.headings, text] += 1
        lapped[at] = chunk._replace(id=identity)
    return lapped


def _halves(whole: _Range) -> list[_Range]:
    middle = (whole.first + whole.end) // 2
    return [_Range(whole.first, middle), _Range(middle, whole.end)]


def _is_over(packing: _Packing, part: _Range, tokens: int) -> bool:
    return tokens > packing.most and part.end - part.first > 1


def _kind(atoms: Sequence[Atom]) -> ChunkKind:
    sizes: Counter[ChunkKind] = Counter()
    for atom in atoms:
        sizes[atom.block.kind] += 0 if atom.block.level else atom.end - atom.start
    return sizes.most_common(1)[0][0]


def _identity(headings: tuple[str, ...], text: str, occurrence: int) -> str:
    # No heading holds a line break, so the empty line ends the path unambiguously.
    key = "\n".join((*headings, "", text, str(occurrence)))
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()
