"""Read the links of stored pages in sandbox processes."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.logs.edge_rows import EdgePage, Edges
from crawl4r.processes.sandbox import Sandbox, SandboxKilled


async def read_edges(sandbox: Sandbox, pages: Sequence[EdgePage]) -> list[Edges]:
    """The rows of each page; `sandbox` runs `entries.EDGE_READER`.

    All pages form one job. If a page kills the process, each page is read again alone, so that a
    hostile page only loses its own links.
    """
    if not pages:
        return []
    try:
        return await _read(sandbox, pages)
    except SandboxKilled as killed:
        if len(pages) == 1:
            return [Edges("", 0, killed.reason)]
    return [edges for page in pages for edges in await read_edges(sandbox, [page])]


async def _read(sandbox: Sandbox, pages: Sequence[EdgePage]) -> list[Edges]:
    head = [(page.url, page.encoding, page.content_type, len(page.body)) for page in pages]
    rows = await sandbox.run(head, b"".join(page.body for page in pages), list[Edges])
    if len(rows) != len(pages):
        raise SandboxKilled("the reading process did not answer what it was asked")
    return rows
