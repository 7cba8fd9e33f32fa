"""`crawl4r scrape`: one live page as markdown."""

from __future__ import annotations

from typing import Any

import click

from crawl4r.entries import EXTRACTOR
from crawl4r.interfaces.cli.extracted import chunk_options, show
from crawl4r.interfaces.cli.options import json_option
from crawl4r.resilience.spawning import start_ahead


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
    """Fetch one page politely and print its markdown.

    \b
    crawl4r scrape https://example.org/
    crawl4r scrape https://example.org/ --json --chunks | jq .chunks
    """
    start_ahead(EXTRACTOR, 1)  # it loads while we do, and while the page is fetched
    from crawl4r.interfaces.cli.scrape_page import scrape  # noqa: PLC0415

    page = scrape(url, options, allow_private=allow_private, contact=contact)
    show(page.capture.url, page.extraction, page.chunks, json_wanted=as_json)


for _option in reversed(chunk_options):
    command = _option(command)
