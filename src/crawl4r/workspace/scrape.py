"""One live page, fetched and read: a crawl of one page, in a workspace that is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from crawl4r.documents.extract_safely import extract_safely, page_of
from crawl4r.errors import PageUnavailable
from crawl4r.model import Capture, Extraction, Verdict
from crawl4r.settings.load import Settings
from crawl4r.wiring.documents import make_extractors
from crawl4r.workspace.chunks import ChunkRules, Chunks, open_chunker
from crawl4r.workspace.workspace import Workspace, open_workspace

FindScheme = Callable[[Settings, str], Awaitable[str]]  # of a URL that was typed without one


class Scraped(NamedTuple):
    capture: Capture
    body: bytes
    extraction: Extraction
    chunks: Chunks | None  # None unless they were asked for


async def scrape_page(
    url: str, find_scheme: FindScheme, chunk_rules: ChunkRules | None = None, **options: Any
) -> Scraped:
    """Fetch and read one page. Raises PageUnavailable, saying why."""
    with tempfile.TemporaryDirectory(prefix="crawl4r-scrape-") as place:
        async with open_workspace(Path(place), store_patience=0, **options) as workspace:
            settings = workspace.settings
            url = await find_scheme(settings, url)
            await workspace.crawl(url, depth=0, extract=False).finish()
            capture = _page_reached_from(workspace, url)
            body = workspace.blobs.read(capture.sha256 or "") or b""
            async with make_extractors(settings) as sandbox:
                found = await extract_safely(sandbox, page_of(capture, body))
            if chunk_rules is None:
                return Scraped(capture, body, found, None)
            async with open_chunker(settings, chunk_rules) as chunker:
                return Scraped(capture, body, found, await chunker.chunks_of(found))


def _page_reached_from(workspace: Workspace, url: str) -> Capture:
    """The capture at the end of the redirects, or the reason why there is none."""
    seen: set[str] = set()
    at = workspace.canonical(url)
    while at not in seen:
        seen.add(at)
        story = workspace.why(at)
        captures = workspace.captures.of_url(at)
        if not captures:
            why = story.get("reason") or story.get("rule") or story.get("verdict") or "unknown"
            raise PageUnavailable(f"{at} was not fetched: {story.get('verdict')}: {why}")
        newest = captures[-1]
        if newest.verdict is Verdict.HTTP_ERROR:
            raise PageUnavailable(f"{at}: {newest.reason}: check the URL, or try again later")
        if newest.location is None:
            return newest
        at = newest.location
    raise PageUnavailable(f"{url} redirects in a circle")
