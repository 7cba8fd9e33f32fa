"""What a recovery brought back and what not, in words, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crawl4r.interfaces.cli.view.format import human_bytes, our_name
from crawl4r.recovery.outcome import Outcome
from crawl4r.recovery.salvaging import LINKS
from crawl4r.safe_text import command_line


def report_of(outcome: Outcome, workspace: Path, *, is_dry: bool) -> Iterator[str]:
    """What came back and what did not."""
    if not outcome.state:
        yield "state.db is whole; documents were missing"
    else:
        yield f"state.db {outcome.state}"
        if not outcome.captures:
            yield "nothing could be recovered: no line of metadata/crawl_metadata.jsonl is a capture"
            yield "nothing was changed"
            return
        yield from _came_back(outcome, is_dry)
    if not is_dry:
        yield f"documents: {outcome.documents:,} made from the pages"
    yield from _did_not(outcome)
    if outcome.set_aside:
        yield f"kept as {', '.join(outcome.set_aside)}: delete them when all is well"


def _came_back(outcome: Outcome, is_dry: bool) -> Iterator[str]:
    words = "would come back" if is_dry else "brought back"
    yield (
        f"{words}: {outcome.captures:,} captures, {outcome.pages:,} pages,"
        f" {outcome.stored:,} bodies of {human_bytes(outcome.stored_bytes)} in the store,"
        f" {outcome.urls:,} URLs, of which {outcome.to_visit:,} wait to be visited"
    )
    yield f"crawls: {', '.join(outcome.crawls)}"
    if outcome.salvaged:
        rows = ", ".join(f"{count:,} {table}" for table, count in outcome.salvaged.items())
        yield f"read from the damaged state.db: {rows}"


def _did_not(outcome: Outcome) -> Iterator[str]:
    counted = {
        "captures have lost their bytes: their URLs are visited again": outcome.without_bytes,
        "bodies are in the store without a line": outcome.without_line,
        "damaged records are in the store": outcome.damaged_records,
        "lines are no captures": outcome.unreadable_lines,
        "lines have the number of an earlier one": outcome.doubled_lines,
        "line at the end is torn": outcome.torn_lines,
    }
    lines = [f"  {count:,} {words}" for words, count in counted.items() if count]
    by_reason: dict[str, list[str]] = {}
    for loss in outcome.lost:
        by_reason.setdefault(loss.why, []).append(loss.what)
    lines += [f"  {', '.join(losses)} ({why})" for why, losses in by_reason.items()]
    if lines:
        yield "not brought back:"
        yield from lines


def steps_after(outcome: Outcome, workspace: Path, *, is_dry: bool) -> Iterator[str]:
    """The commands that go on from here."""
    place = ("-w", workspace)
    if outcome.state and not outcome.captures:
        return
    if is_dry:
        yield f"to do it: {command_line(our_name(), 'recover', *place)}"
        return
    yield "what to do next:"
    yield f"  {command_line(our_name(), 'status', *place)}"
    if outcome.to_visit:
        yield f"  {command_line(our_name(), 'crawl', *place)}   visits what waits"
    if any(loss.what == LINKS for loss in outcome.lost):
        yield f"  {command_line(our_name(), 'crawl', *place, '--refresh')}   finds lost links again"
    if (workspace / "index").is_dir():
        yield f"  {command_line(our_name(), 'index', *place)}   follows the documents again"
