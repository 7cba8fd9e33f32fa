"""Print an extracted page, for `extract` and `scrape`."""

from __future__ import annotations

from crawl4r.interfaces.cli.output import print_json, say, say_markdown
from crawl4r.interfaces.json.extraction import chunks_json, extraction_json
from crawl4r.model import Extraction, Verdict
from crawl4r.workspace.chunks import Chunks


def show(url: str, extraction: Extraction, chunks: Chunks | None, *, as_json: bool) -> None:
    """Print markdown on stdout, and problems of the page on stderr."""
    if as_json:
        print_json(extraction_json(url, extraction) | chunks_json(chunks))
        return
    if extraction.verdict.verdict is not Verdict.OK:
        signals = ", ".join(extraction.verdict.signals)
        say(
            f"crawl4r: {extraction.verdict.verdict}: {extraction.verdict.reason} ({signals})",
            err=True,
        )
    if extraction.document:
        say_markdown(extraction.document.markdown)
    else:
        say("crawl4r: there is no text in it", err=True)
