"""The chunks of a page that was read, for `extract` and `scrape`; cut in another process."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from crawl4r.app_content import make_chunkers
from crawl4r.content.chunk import Chunk
from crawl4r.model import Extraction
from crawl4r.resilience.sandbox import SandboxKilled
from crawl4r.settings import Settings

MakeChunks = Callable[[Extraction], Awaitable[dict[str, Any]]]


@contextlib.asynccontextmanager
async def chunking(
    settings: Settings, *, chunks: bool, chunk_tokens: int, chunk_by: str
) -> AsyncIterator[MakeChunks]:
    """What gives the chunks of an extraction, as JSON has them; nothing when they are not wanted."""
    async with make_chunkers(settings) as sandbox:

        async def make(extraction: Extraction) -> dict[str, Any]:
            markdown = extraction.document.markdown if extraction.document else ""
            head = {"tokens": chunk_tokens, "by": chunk_by}
            try:
                found = await sandbox.run(head, markdown.encode(), list[Chunk])
            except SandboxKilled as killed:
                return {"chunks": [], "chunks_problem": killed.reason}
            return {"chunks": [_chunk(chunk, markdown) for chunk in found]}

        async def make_none(_: Extraction) -> dict[str, Any]:
            return {}

        yield make if chunks else make_none


def _chunk(chunk: Chunk, markdown: str) -> dict[str, Any]:
    return {**chunk._asdict(), "text": markdown[chunk.start : chunk.end]}
