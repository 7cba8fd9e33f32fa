"""`crawl4r scrape`: print one live page as markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crawl4r.interfaces.cli.chunk_options import chunk_options, chunk_rules
from crawl4r.interfaces.cli.options import json_option
from crawl4r.processes.entrypoints import EXTRACTOR
from crawl4r.processes.spawn import start_ahead

if TYPE_CHECKING:
    from crawl4r.settings.load import Settings


@click.command("scrape")
@click.argument("url")
@click.option(
    "--allow-private", multiple=True, metavar="CIDR_OR_HOST", help="Open the egress gate."
)
@click.option("--contact", help="Tell sites how their owner can reach you.")
@chunk_options
@json_option
def command(
    url: str,
    allow_private: tuple[str, ...],
    contact: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fetch one page politely and print its markdown.

    \b
    crawl4r scrape https://example.org/
    crawl4r scrape https://example.org/ --json --chunks | jq .chunks
    """
    start_ahead(EXTRACTOR, 1)  # it loads during our imports and the fetch
    import asyncio  # noqa: PLC0415

    from crawl4r.interfaces.cli.view.extraction import show  # noqa: PLC0415
    from crawl4r.workspace.scrape import scrape_page  # noqa: PLC0415

    rules = chunk_rules(**options)
    page = asyncio.run(
        scrape_page(url, _find_scheme, rules, allow_private=allow_private, contact=contact)
    )
    show(page.capture.url, page.extraction, page.chunks, as_json=as_json)


async def _find_scheme(settings: Settings, url: str) -> str:
    from crawl4r.interfaces.cli.typed_seeds import with_schemes  # noqa: PLC0415

    (found,) = await with_schemes(settings, [url])
    return found
