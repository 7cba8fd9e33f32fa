"""Cut a document into passages in a sandbox process; the catalogue numbers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crawl4r.content.markdown.plain_text import plain_text
from crawl4r.indexing.cutter import Pieces, embedded_text
from crawl4r.model import Document
from crawl4r.processes.blocking_sandbox import BlockingSandbox
from crawl4r.processes.sandbox import SandboxKilled
from crawl4r.search.indexed_passage import IndexedPassage, PassageEntry
from crawl4r.search.port import Passage

_KEY_DIGITS = 32


class Cut(NamedTuple):
    """The passages of a document, still without numbers."""

    entries: Sequence[PassageEntry]
    note: str = ""  # names the part of the document that no passage holds


class Uncut(NamedTuple):
    """A document that could not be cut."""

    reason: str


CutDocuments = Callable[[Sequence[Document]], Sequence[Cut | Uncut]]


class SafeCutter:
    """Cuts documents in processes that run `entries.CUTTER`."""

    def __init__(self, sandbox: BlockingSandbox, max_characters: int) -> None:
        """`most`: the characters of a document to cut; older versions kept longer ones."""
        self._sandbox = sandbox
        self._most = max_characters

    def __call__(self, documents: Sequence[Document]) -> list[Cut | Uncut]:
        jobs = [(each.title, each.markdown[: self._most].encode()) for each in documents]
        answers = self._sandbox.run_all(jobs, Pieces)
        return [self._read(*pair) for pair in zip(documents, answers, strict=True)]

    def _read(self, document: Document, answer: Pieces | SandboxKilled) -> Cut | Uncut:
        if isinstance(answer, SandboxKilled):
            return Uncut(f"could not be cut into passages: {answer.reason}")
        try:
            made = cut_of(document, answer)
        except ValueError as problem:
            return Uncut(f"could not be cut into passages: the answer was nonsense ({problem})")
        if len(document.markdown) > self._most and not made.note:
            return made._replace(note=f"only the first {self._most:,} characters are indexed")
        return made


def cut_of(document: Document, cut: Pieces) -> Cut:
    """The pieces of a document as entries. Raises ValueError for invalid pieces."""
    entries = []
    for piece in cut.pieces:
        if not 0 <= piece.start < piece.end <= len(document.markdown):
            raise ValueError("a place outside the document")
        if len(piece.key) != _KEY_DIGITS:
            raise ValueError("a key of the wrong length")
        text = document.markdown[piece.start : piece.end]
        entries.append(PassageEntry(0, *piece[:-1], text, bytes.fromhex(piece.key)))
    note = f"only the first {len(entries):,} passages are indexed" if cut.is_cut else ""
    return Cut(entries, note)


def text_of(found: IndexedPassage) -> str:
    return embedded_text(found.version.title, found.entry.headings, found.entry.text)


def searchable(found: IndexedPassage) -> Passage:
    """A passage by its words alone, without the addresses of links."""
    passage = found.passage()
    return passage._replace(text=plain_text(passage.text))
