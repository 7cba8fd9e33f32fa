"""An extracted page as JSON, the output of `extract` and `scrape`."""

from __future__ import annotations

from typing import Any

from crawl4r.model import Extraction
from crawl4r.workspace.chunks import Chunks


def extraction_json(url: str, extraction: Extraction) -> dict[str, Any]:
    """The extraction as JSON. Values are empty where the page has none."""
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
        "images": [image._asdict() for image in extraction.images],
    }
    if note := said.get("note"):
        plain["note"] = note
    return plain


def chunks_json(chunks: Chunks | None) -> dict[str, Any]:
    """The chunks of an extraction; None without a request for them."""
    if chunks is None:
        return {}
    if chunks.problem:
        return {"chunks": [], "chunks_problem": chunks.problem}
    return {
        "chunks": [
            {**chunk._asdict(), "text": chunks.markdown[chunk.start : chunk.end]}
            for chunk in chunks.found
        ]
    }
