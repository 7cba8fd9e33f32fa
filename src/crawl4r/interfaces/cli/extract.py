"""`crawl4r extract`: read HTML from files, with no network and no workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.entries import EXTRACTOR
from crawl4r.interfaces.cli.extracted import chunk_options
from crawl4r.interfaces.cli.options import json_option
from crawl4r.resilience.spawning import fork_ahead, start_ahead, usable_cores


@click.command("extract")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--url", default="", help="Where it comes from: makes links absolute.")
@click.option("--content-type", help="What the server called it.  [default: from the file's name]")
@click.option(
    "--jsonl",
    is_flag=True,
    help='Read lines like {"url": ..., "path": ...}; write a line for each.',
)
@json_option
def command(
    file: Path | None,
    url: str,
    content_type: str | None,
    jsonl: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Turn an HTML file, or stdin, into markdown, and judge it.

    \b
    crawl4r extract page.html --url https://example.org/a
    curl -s https://example.org/ | crawl4r extract --url https://example.org/ --json
    crawl4r extract --jsonl < pages.jsonl > documents.jsonl
    """
    workers = usable_cores() if jsonl else 1
    if jsonl:
        fork_ahead(EXTRACTOR, workers)  # what they need is loaded once for all
    else:
        start_ahead(EXTRACTOR, workers)
    from crawl4r.interfaces.cli import extract_files  # noqa: PLC0415 - while the process starts

    if jsonl:
        extract_files.many(file, workers, options)
    else:
        extract_files.one(file, url, content_type, options, json_wanted=as_json)


for _option in reversed(chunk_options):
    command = _option(command)
