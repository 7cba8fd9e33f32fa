"""One live page, fetched and read: a crawl of one page, in a workspace that is gone afterwards."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from crawl4r.app_content import make_extractors
from crawl4r.documenting import extract_safely
from crawl4r.errors import PageUnavailable
from crawl4r.interfaces.cli.chunking import chunking
from crawl4r.interfaces.cli.seeds import with_schemes
from crawl4r.model import Capture, Extraction, Verdict
from crawl4r.workspace import Workspace, open_workspace


class Scraped(NamedTuple):
    capture: Capture
    extraction: Extraction
    chunks: dict[str, Any]  # as JSON has them, when they are wanted


def scrape(url: str, options: dict[str, Any], **asked: Any) -> Scraped:
    """Fetch and read one page; `options` say how it is cut. Raises PageUnavailable, saying why."""
    with tempfile.TemporaryDirectory(prefix="crawl4r-scrape-") as place:
        return asyncio.run(_scrape(url, Path(place), options, {**asked, "store_patience": 0}))


async def _scrape(url: str, place: Path, options: dict[str, Any], asked: dict[str, Any]) -> Scraped:
    async with open_workspace(place, **asked) as workspace:
        (url,) = await with_schemes(workspace.settings, [url])
        await workspace.crawl(url, depth=0, extract=False).finish()
        capture = _page_reached_from(workspace, url)
        body = workspace.blobs.read(capture.sha256 or "") or b""
        settings = workspace.settings
        async with make_extractors(settings) as sandbox, chunking(settings, **options) as chunks_of:
            found = await extract_safely(sandbox, capture, body, with_links=True)
            return Scraped(capture, found, await chunks_of(found))


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
            raise PageUnavailable(f"{at}: {newest.reason}")
        if newest.location is None:
            return newest
        at = newest.location
    raise PageUnavailable(f"{url} redirects in a circle")
