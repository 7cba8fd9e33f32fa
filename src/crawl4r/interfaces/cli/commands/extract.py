"""`crawl4r extract`: read HTML from files, with no network and no workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.chunk_options import chunk_options, chunk_rules
from crawl4r.interfaces.cli.options import json_option
from crawl4r.processes.entrypoints import EXTRACTOR
from crawl4r.processes.spawn import fork_ahead, start_ahead, usable_cores


@click.command("extract")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--url", default="", help="Resolve links relative to this URL of the file.")
@click.option("--content-type", help="Name the media type.  [default: from the file's name]")
@click.option(
    "--jsonl",
    is_flag=True,
    help='Read lines like {"url": ..., "path": ...}; write a line for each.',
)
@chunk_options
@json_option
def command(
    file: Path | None,
    url: str,
    content_type: str | None,
    jsonl: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Convert an HTML file or stdin to markdown, and judge it.

    \b
    crawl4r extract page.html --url https://example.org/a
    curl -s https://a.example/ | crawl4r extract --url https://a.example/ --json
    crawl4r extract --jsonl < pages.jsonl > documents.jsonl
    """
    workers = usable_cores() if jsonl else 1
    if jsonl:
        fork_ahead(EXTRACTOR, workers)  # the shared modules are loaded once
    else:
        start_ahead(EXTRACTOR, workers)
    from crawl4r.interfaces.cli import run_extract  # noqa: PLC0415 - loads while the process starts

    rules = chunk_rules(**options)
    if jsonl:
        run_extract.many(file, workers, rules)
    else:
        run_extract.one(file, url, content_type, rules, as_json=as_json)
