"""Search results as JSON."""

from __future__ import annotations

from typing import Any

from crawl4r.clock import iso_time
from crawl4r.search.catalogue import IndexedPassage
from crawl4r.search.request import Answer, Hit


def name_of(hit: Hit) -> str:
    """The name from an import, or the document's own id."""
    return hit.found.version.external_id or hit.found.version.document_id


def answer_json(answer: Answer, *, explain: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "results": [hit_json(hit, explain=explain) for hit in answer.hits],
        "candidates": answer.candidates,
        "cursor": answer.cursor,
        "notes": list(answer.notes),
        "latency_ms": round(answer.milliseconds.get("total", 0.0), 2),
    }
    if explain:
        plain["milliseconds"] = {k: round(v, 3) for k, v in answer.milliseconds.items()}
    return plain


def hit_json(hit: Hit, *, explain: bool) -> dict[str, Any]:
    entry, version = hit.found
    plain: dict[str, Any] = {
        "url": version.url,
        "id": name_of(hit),
        "document_id": version.document_id,
        "chunk_id": entry.chunk_id,
        "score": round(hit.score, 6),
        "title": version.title,
        "section": " > ".join(entry.headings),
        "text": entry.text,
        "start": entry.start,
        "end": entry.end,
        "passage_type": entry.content_type,
        "highlights": [list(mark) for mark in hit.highlights],
        "snippet": str(hit.snippet),
        "link": hit.link,
        "captured_at": iso_time(version.captured_at),
        "sha256": version.sha256,
        "language": version.language,
    }
    if hit.neighbours:
        plain["neighbours"] = [_neighbour(found) for found in hit.neighbours]
    if explain or hit.rerank_score is not None:
        plain |= {
            "source": hit.source,
            "keyword_score": hit.keyword_score,
            "keyword_rank": hit.keyword_rank,
            "vector_score": hit.vector_score,
            "vector_rank": hit.vector_rank,
            "rerank_score": hit.rerank_score,
        }
    return plain


def _neighbour(found: IndexedPassage) -> dict[str, Any]:
    entry = found.entry
    return {"text": entry.text, "start": entry.start, "end": entry.end}
