"""Split a document into atoms: blocks, and parts of blocks beyond the limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crawl4r.content.markdown.blocks import ChunkKind, MarkdownBlock
from crawl4r.content.markdown.lines import split_lines

CountTokens = Callable[[Sequence[str]], Sequence[int]]
Splitter = Callable[[str], list[str]]

_FINE = 100  # depth of the first kind of break inside a block; deeper than any list
_WHOLE = (ChunkKind.CODE, ChunkKind.TABLE)  # stay in one piece, even without their heading
# A break after a full stop and blanks, or after an ideographic full stop. The look-behind comes first,
# so that the search walks a run of stops or blanks once.
_SENTENCE_BREAK = re.compile(
    r"(?<=[.!?\u2026])\s+|(?<=[.!?\u2026][\"'\u201d\u2019)\]*_])\s+|(?<=[\u3002\uff01\uff1f])\s*"
)
_WORD = re.compile(r"\s*\S+\s*|\s+")


class MarkdownSection(NamedTuple):
    """A heading (with parent headings that have no own text) and the blocks below it."""

    path: tuple[str, ...]
    first: int  # its first block
    body: int  # the first block that is no heading
    end: int


class Atom(NamedTuple):
    """A part of one block that is not split further."""

    start: int
    end: int
    tokens: int
    depth: int  # of the break before it; a shallow break is a better cut
    room: int  # maximum tokens of a piece that begins here
    section: int
    block: MarkdownBlock


def counting_once(count: CountTokens) -> CountTokens:
    """A counter with a cache: words recur, and so do chunks that are blocks."""
    known: dict[str, int] = {}

    def count_new(texts: Sequence[str]) -> Sequence[int]:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, count(new), strict=True))
        return [known[text] for text in texts]

    return count_new


def sections_of(blocks: Sequence[MarkdownBlock]) -> list[MarkdownSection]:
    """Cut at headings. A heading directly above a lower one stays with it."""
    sections: list[MarkdownSection] = []
    path: list[tuple[int, str]] = []
    first = 0
    for at, block in enumerate(blocks):
        if not block.level:
            continue
        above = blocks[at - 1].level if at > first else 0
        if at > first and not 0 < above < block.level:
            sections.append(_section(blocks, path, first, at))
            first = at
        path = [(level, words) for level, words in path if level < block.level]
        path.append((block.level, block.heading))
    if blocks:
        sections.append(_section(blocks, path, first, len(blocks)))
    return sections


def _section(
    blocks: Sequence[MarkdownBlock], path: Sequence[tuple[int, str]], first: int, end: int
) -> MarkdownSection:
    body = next((at for at in range(first, end) if not blocks[at].level), end)
    return MarkdownSection(tuple(words for _, words in path if words), first, body, end)


def structural_atoms(
    markdown: str,
    blocks: Sequence[MarkdownBlock],
    sections: Sequence[MarkdownSection],
    count: CountTokens,
    limit: int,
) -> list[Atom]:
    """Blocks that fit; else their sentences or lines, then words, then characters."""
    tokens = _block_tokens(markdown, blocks, sections, count, limit)
    atoms = []
    for number, section in enumerate(sections):
        heading = sum(tokens[section.first : section.body])
        for at in range(section.first, section.end):
            block = blocks[at]
            joins_heading = at == section.body and block.kind not in _WHOLE and heading * 2 <= limit
            room = limit - heading if joins_heading else limit
            atoms.append(Atom(block.start, block.end, tokens[at], block.depth, room, number, block))
    for fineness, split in enumerate((sentences_of, split_lines, words_of, _slices(limit), list)):
        atoms = _refine(markdown, atoms, split, _FINE + fineness, count, limit)
    return atoms


def _block_tokens(
    markdown: str,
    blocks: Sequence[MarkdownBlock],
    sections: Sequence[MarkdownSection],
    count: CountTokens,
    limit: int,
) -> list[int]:
    """The tokens of each block. If a whole section fits, its first block carries all tokens.

    Most sections fit, so most of a document is counted only once.
    """
    totals = count([markdown[blocks[s.first].start : blocks[s.end - 1].end] for s in sections])
    tokens = [0] * len(blocks)
    large: list[int] = []
    for section, total in zip(sections, totals, strict=True):
        tokens[section.first] = total
        if total > limit:
            large.extend(range(section.first, section.end))
    counts = count([markdown[blocks[at].start : blocks[at].end] for at in large])
    for at, own in zip(large, counts, strict=True):
        tokens[at] = own
    return tokens


def word_atoms(
    markdown: str,
    blocks: Sequence[MarkdownBlock],
    sections: Sequence[MarkdownSection],
    count: CountTokens,
    limit: int,
) -> list[Atom]:
    """The words, and the characters of words beyond the limit."""
    atoms = [
        Atom(block.start, block.end, limit + 1, block.depth, limit, number, block)
        for number, section in enumerate(sections)
        for block in blocks[section.first : section.end]
    ]
    for fineness, split in enumerate((words_of, _slices(limit), list)):
        atoms = _refine(markdown, atoms, split, _FINE + fineness, count, limit)
    return atoms


def _refine(
    markdown: str,
    atoms: Sequence[Atom],
    split: Splitter,
    depth: int,
    count: CountTokens,
    limit: int,
) -> list[Atom]:
    """Split the atoms that do not fit, and count all new atoms with one call."""
    parts = {
        at: split(markdown[atom.start : atom.end])
        for at, atom in enumerate(atoms)
        if atom.tokens > atom.room and not (split is sentences_of and atom.block.kind in _WHOLE)
    }
    if not parts:
        return list(atoms)
    tokens = iter(count([text for texts in parts.values() for text in texts]))
    refined: list[Atom] = []
    for at, atom in enumerate(atoms):
        if at in parts:
            refined.extend(_split_atom(atom, parts[at], tokens, depth, limit))
        else:
            refined.append(atom)
    return refined


def _split_atom(
    atom: Atom, texts: Sequence[str], tokens: Iterator[int], depth: int, limit: int
) -> Iterator[Atom]:
    start = atom.start
    for text in texts:
        end = start + len(text)
        if start == atom.start:  # the break before it is unchanged
            yield atom._replace(end=end, tokens=next(tokens))
        else:
            yield Atom(start, end, next(tokens), depth, limit, atom.section, atom.block)
        start = end


def sentences_of(text: str) -> list[str]:
    """The sentences, each with the following blanks."""
    parts, start = [], 0
    for found in _SENTENCE_BREAK.finditer(text):
        if start < found.end() < len(text):
            parts.append(text[start : found.end()])
            start = found.end()
    return [*parts, text[start:]]


def words_of(text: str) -> list[str]:
    """The words, each with the following blanks (the first also with leading ones)."""
    return _WORD.findall(text)


def _slices(limit: int) -> Splitter:
    """Cut a very long word into parts that surely fit, without counting each character."""
    size = max(1, limit // 8)
    return lambda text: [text[at : at + size] for at in range(0, len(text), size)]
