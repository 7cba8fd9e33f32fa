"""Search results as people and as scripts read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.padding import Padding
from rich.text import Text

from crawl4r.interfaces.cli.screen import Screen
from crawl4r.interfaces.cli.wording import clock_time
from crawl4r.search.catalogue import Found
from crawl4r.search.request import Answer, Hit, SearchRequest
from crawl4r.shown import command_line, visible, visible_text

_SHOWN = 360  # characters of a passage
_LINK_MARKS = re.compile(r"\[(?=[^\[\]]*\]\()|\]\([^()\s]*\)?")


def name_of(hit: Hit) -> str:
    """The name that an import gave the document, or our own."""
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
        "content_type": entry.content_type,
        "highlights": [list(mark) for mark in hit.highlights],
        "link": hit.link,
        "captured_at": clock_time(version.captured_at),
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


def _neighbour(found: Found) -> dict[str, Any]:
    entry = found.entry
    return {"text": entry.text, "start": entry.start, "end": entry.end}


def print_answer(answer: Answer, request: SearchRequest, *, explain: bool) -> None:
    screen = Screen()
    if not answer.hits:
        screen.print("Nothing found.")
    for number, hit in enumerate(answer.hits, 1):
        print_hit(screen, number, hit, explain=explain)
    for note in answer.notes:
        screen.print(Text(visible(note), "yellow"))
    took = answer.milliseconds.get("total", 0.0)
    words = f"{len(answer.hits)} of {answer.candidates} candidates in {took:.0f} ms"
    if explain:
        parts = [f"{k} {v:.1f}" for k, v in answer.milliseconds.items() if k != "total"]
        words += f" ({', '.join(parts)})"
    screen.print(Text(words, "dim"))
    if answer.cursor:
        more = command_line("--limit", request.limit * 2)
        screen.print(Text(f"more: {more}, or --cursor with --json", "dim"))


def print_hit(screen: Screen, number: int, hit: Hit, *, explain: bool) -> None:
    entry, version = hit.found
    names = dict.fromkeys([version.title, *entry.headings])
    way = visible_text(" > ".join(" ".join(name.split()) for name in names) or version.url)
    screen.print(
        Text.assemble((f"{number:2}. ", "dim"), (way, "bold"), (f"  {hit.score:.3f}", "dim"))
    )
    screen.print(Padding(_excerpt(hit), (0, 0, 0, 4)))
    source = f"{hit.link or version.url}"
    screen.print(Padding(Text(source, style="cyan", overflow="fold"), (0, 0, 0, 4)))
    screen.print(
        Padding(
            Text(
                f"{clock_time(version.captured_at)}  sha256 {version.sha256[:12]}"
                f"  characters {entry.start:,} to {entry.end:,}",
                style="dim",
            ),
            (0, 0, 0, 4),
        )
    )
    if explain:
        screen.print(Padding(Text(_explained(hit), style="magenta"), (0, 0, 0, 4)))
    screen.print()


def _explained(hit: Hit) -> str:
    def half(name: str, rank: int | None, score: float | None) -> str:
        if score is None:
            return f"{name}: no"
        place = f"rank {rank}" if rank else "not among the best"
        return f"{name}: {place}, {score:.3f}"

    parts = [
        half("words", hit.keyword_rank, hit.keyword_score),
        half("meaning", hit.vector_rank, hit.vector_score),
    ]
    if hit.rerank_score is not None:
        parts.append(f"reranker: {hit.rerank_score:.3f}")
    return "; ".join(parts)


def _excerpt(hit: Hit) -> Text:
    """The part of the passage with the most of the query's words in it."""
    text, marks = hit.found.entry.text, hit.highlights
    start = _best_window(marks, len(text))
    start = max(text.rfind("\n", 0, start) + 1, text.rfind(". ", 0, start) + 1, start - 120, 0)
    end = min(start + _SHOWN, len(text))
    shown = _without_addresses(_marked(text, start, end, marks))
    lines = Text("\n").join(line for line in shown.split("\n") if line.plain.strip())
    lines.rstrip()
    return lines + Text(" ..." if end < len(text) else "", style="dim")


def _marked(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> Text:
    """A part of a text with its marks. Escapes change offsets, so each piece is escaped on its own."""
    shown, at = Text(), start
    for first, last in marks:
        if first >= at and last <= end:
            shown.append(visible_text(text[at:first]))
            shown.append(visible_text(text[first:last]), "bold yellow")
            at = last
    return shown.append(visible_text(text[at:end]))


def _without_addresses(text: Text) -> Text:
    """Links as their words alone: nobody reads an address in the middle of a sentence."""
    kept, at = Text(), 0
    for mark in _LINK_MARKS.finditer(text.plain):
        kept.append_text(text[at : mark.start()])
        at = mark.end()
    return kept.append_text(text[at:])


def _best_window(marks: Any, length: int) -> int:
    starts = [first for first, _ in marks]
    best = max(
        starts, key=lambda at: (sum(at <= other < at + _SHOWN for other in starts), -at), default=0
    )
    return min(best, max(length - 1, 0))
