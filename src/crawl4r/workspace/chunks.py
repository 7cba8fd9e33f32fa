"""The chunks of a page that was read, cut in another process."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from crawl4r.content.chunks.chunk import Chunk
from crawl4r.model import Extraction
from crawl4r.processes.sandbox import Sandbox, SandboxKilled
from crawl4r.settings.load import Settings
from crawl4r.wiring.documents import make_chunkers


class ChunkRules(NamedTuple):
    """How a document is cut: along its structure, or by a sliding window."""

    tokens: int = 512  # of a chunk, at most
    by: str = "structure"  # or "window"


class Chunks(NamedTuple):
    """The chunks of a document; `problem` says why there are none."""

    markdown: str  # the document
    found: Sequence[Chunk] = ()
    problem: str = ""


class Chunker:
    """Cuts documents, one after the other."""

    def __init__(self, sandbox: Sandbox, rules: ChunkRules) -> None:
        self._sandbox = sandbox
        self._rules = rules

    async def chunks_of(self, extraction: Extraction) -> Chunks:
        markdown = extraction.document.markdown if extraction.document else ""
        try:
            found = await self._sandbox.run(self._rules._asdict(), markdown.encode(), list[Chunk])
        except SandboxKilled as killed:
            return Chunks(markdown, problem=killed.reason)
        return Chunks(markdown, found)


@contextlib.asynccontextmanager
async def open_chunker(settings: Settings, rules: ChunkRules) -> AsyncIterator[Chunker]:
    """Its process starts with the first document, and ends with this block."""
    async with make_chunkers(settings) as sandbox:
        yield Chunker(sandbox, rules)
