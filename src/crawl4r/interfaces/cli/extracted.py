"""How a page that was read is shown, by `extract` and by `scrape`."""

from __future__ import annotations

from typing import Any

import click

from crawl4r.interfaces.cli.options import print_json
from crawl4r.interfaces.cli.output import say, say_text
from crawl4r.model import Extraction, Verdict

chunk_options = [
    click.option("--chunks", is_flag=True, help="Also cut the text into chunks (with --json)."),
    click.option(
        "--chunk-tokens",
        type=click.IntRange(16, 8192),
        default=512,
        show_default=True,
        help="Tokens of a chunk, at most.",
    ),
    click.option(
        "--chunk-by",
        type=click.Choice(["structure", "window"]),
        default="structure",
        show_default=True,
        help="Along headings, lists and code; or a sliding window.",
    ),
]


def as_json(url: str, extraction: Extraction) -> dict[str, Any]:
    """The words that scripts rely on; empty where the page does not say."""
    document = extraction.document
    said = document._asdict() if document else {}
    plain = {
        "url": url,
        "verdict": extraction.verdict.verdict.value,
        "reason": extraction.verdict.reason,
        "signals": list(extraction.verdict.signals),
        "kind": said.get("kind", "other"),
        "title": said.get("title", ""),
        "author": said.get("author", ""),
        "published": said.get("published", ""),
        "description": said.get("description", ""),
        "keywords": list(said.get("keywords", ())),
        "image": said.get("image", ""),
        "canonical": said.get("canonical", ""),
        "site_name": said.get("site_name", ""),
        "language": said.get("language", ""),
        "markdown": said.get("markdown", ""),
        "text": extraction.text,
        "links": [link._asdict() for link in extraction.links],
    }
    if note := said.get("note"):
        plain["note"] = note
    return plain


def show(url: str, extraction: Extraction, chunks: dict[str, Any], *, json_wanted: bool) -> None:
    """Markdown on stdout; what is wrong with the page on stderr."""
    if json_wanted:
        print_json(as_json(url, extraction) | chunks)
        return
    if extraction.verdict.verdict is not Verdict.OK:
        signals = ", ".join(extraction.verdict.signals)
        say(
            f"crawl4r: {extraction.verdict.verdict}: {extraction.verdict.reason} ({signals})",
            err=True,
        )
    if extraction.document:
        say_text(extraction.document.markdown)
    else:
        say("crawl4r: there is no text in it", err=True)
