"""`crawl4r scrape`: one live page as markdown."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import click

from crawl4r.app import make_extractors
from crawl4r.documenting import extract_safely
from crawl4r.errors import PageUnavailable
from crawl4r.interfaces.cli.extracted import chunk_options, show
from crawl4r.interfaces.cli.options import json_option
from crawl4r.model import Capture, Extraction, Verdict
from crawl4r.resilience.spawning import start_ahead
from crawl4r.workspace import Workspace, open_workspace


@click.command("scrape")
@click.argument("url")
@click.option(
    "--allow-private", multiple=True, metavar="CIDR_OR_HOST", help="Open the egress gate."
)
@click.option("--contact", help="Where a site's owner can reach you.")
@json_option
def command(
    url: str,
    allow_private: tuple[str, ...],
    contact: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fetch one page, as politely as a crawl does, and print its markdown.

    \b
    crawl4r scrape https://example.org/
    crawl4r scrape https://example.org/ --json --chunks | jq .chunks
    """
    start_ahead("crawl4r.extracting:make_extractor", 1)  # it loads while the page is fetched
    asked = {"allow_private": allow_private, "contact": contact, "store_patience": 0}
    with tempfile.TemporaryDirectory(prefix="crawl4r-scrape-") as place:
        capture, extraction = asyncio.run(_scrape(url, Path(place), asked))
    show(capture.url, extraction, options, json_wanted=as_json)


for _option in reversed(chunk_options):
    command = _option(command)


async def _scrape(url: str, place: Path, asked: dict[str, Any]) -> tuple[Capture, Extraction]:
    async with open_workspace(place, **asked) as workspace:
        await workspace.crawl(url, depth=0, extract=False).finish()
        capture = _page_reached_from(workspace, url)
        body = workspace.blobs.read(capture.sha256 or "") or b""
        async with make_extractors(workspace.settings) as sandbox:
            return capture, await extract_safely(sandbox, capture, body, with_links=True)


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
