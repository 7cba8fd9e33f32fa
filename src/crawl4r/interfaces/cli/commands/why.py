"""`crawl4r why`: what happened to a URL, and which rule decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_command
from crawl4r.interfaces.cli.view.format import (
    clock_time,
    counted,
    dropped_words,
    human_bytes,
    human_seconds,
    our_name,
)
from crawl4r.safe_text import command_line


@click.command("why")
@click.argument("url")
@workspace_option
@json_option
def command(url: str, workspace: Path, as_json: bool) -> None:
    """Show what happened to a URL, and which rule decided.

    Where it was found, what admitted or refused it, every attempt.

    \b
    crawl4r why https://example.org/private/
    """
    with open_for_reading(workspace) as opened:
        story = opened.why(url)
    if as_json:
        print_json(story)
        return
    for line in _tell(story):
        say(line)
    if _is_of_another_language(story):
        say("to make it searchable:")
        say_command(command_line(our_name(), "index", "--language", "all", "-w", workspace))


def _is_of_another_language(story: dict[str, Any]) -> bool:
    from crawl4r.search.catalogue import OTHER_LANGUAGE  # noqa: PLC0415 - help goes without

    document, indexed = story.get("document"), story["index"]
    left_out = indexed.get("left_out") if indexed else None
    if document is None or left_out is None:
        return False
    return bool(left_out == OTHER_LANGUAGE.format(document["language"]))


def _tell(story: dict[str, Any]) -> list[str]:
    lines = [story["url"]]
    scope = story["scope_now"]
    if not story["known"]:
        admitted = "would be admitted" if scope["admitted"] else "would be refused"
        lines.append(f"  never found by this crawl; it {admitted} by the scope: {scope['rule']}")
    else:
        lines += _tell_known(story)
    if robots := story["robots"]:
        lines.append(f"  robots.txt ({clock_time(robots['fetched_at'])}): {_robots_words(robots)}")
    return lines


def _tell_known(story: dict[str, Any]) -> list[str]:
    source = f"on {story['referrer']}" if story["referrer"] else "by you"
    lines = [
        f"  found {clock_time(story['found_at'])} as {_with_article(story['found_by'])} {source},"
        f" depth {story['depth']}",
        f"  scope: {story['rule']}"
        + (f", page type {story['page_type']}" if story["page_type"] else ""),
        f"  state: {story['state']}" + (f", {story['verdict']}" if story["verdict"] else ""),
    ]
    if story["reason"]:
        lines.append(f"  reason: {story['reason']}")
    if story["due_at"] and story["state"] == "waiting":
        lines.append(f"  next try: {clock_time(story['due_at'])}")
    lines.extend(
        f"  attempt {clock_time(attempt['at'])}: {attempt['verdict']}, {attempt['reason']}"
        for attempt in story["failed_attempts"]
    )
    for capture in story["captures"]:
        content = f" sha256 {capture['sha256']}" if capture["sha256"] else ""
        lines.append(
            f"  capture {capture['capture_id']} {clock_time(capture['captured_at'])}:"
            f" {capture['status']} {human_bytes(capture['bytes'])}"
            f" in {capture['latency_ms']} ms{content}"
        )
        if "dropped_at" in capture:
            lines.append(f"    bytes {dropped_words(capture)}")
        if capture.get("signals") and capture["verdict"] != "ok":
            why = f": {capture['reason']}" if capture["reason"] else ""
            lines.append(f"    {capture['verdict']} by {', '.join(capture['signals'])}{why}")
    if document := story["document"]:
        lines.append(_document_words(document))
    if indexed := story["index"]:
        lines.append(_index_words(indexed))
    if revisit := story["revisit"]:
        lines.append(_revisit_words(revisit))
    return lines


def _document_words(document: dict[str, Any]) -> str:
    gone = f", gone since {clock_time(document['gone_at'])}" if document["gone_at"] else ""
    if document["deleted_at"]:
        gone += (
            f", deleted on {clock_time(document['deleted_at'])} (`crawl4r restore` brings it back)"
        )
    twin = f", almost the same as document {document['near_of']}" if document["near_of"] else ""
    note = f"; {document['note']}" if document["note"] else ""
    return (
        f"  document from capture {document['capture_id']}: {document['title'] or 'untitled'!r},"
        f" {document['words']:,} words, {document['language'] or 'language unknown'}{gone}{twin}{note}"
    )


def _index_words(indexed: dict[str, Any]) -> str:
    if reason := indexed.get("left_out"):
        return f"  not in the search index: {reason}"
    cut = f"; {indexed['cut']}" if indexed.get("cut") else ""
    passages = counted(indexed["passages"], "passage")
    return f"  searchable: {passages}, {indexed['embedded']:,} with a vector{cut}"


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def _revisit_words(revisit: dict[str, Any]) -> str:
    """The line about revisits. Before the first revisit the estimate comes from other pages."""
    visits, changes = revisit["visits"], revisit["changes"]
    seen = "not visited again yet"
    if visits:
        seen = f"{counted(changes, 'change')} in {counted(visits, 'visit')}"
    gap = human_seconds(revisit["seconds_between_changes"])
    return (
        f"  revisit: {seen}, a change expected every {gap}, the next by"
        f" {clock_time(revisit['due_at'])}; changed by now: {revisit['probability']:.0%}"
    )


def _robots_words(robots: dict[str, Any]) -> str:
    if "rule" not in robots:
        return f"{robots['outcome']} (status {robots['status'] or 'none'})"
    if not robots["line"] and robots["allowed"]:
        return f"allowed, {robots['rule']}"
    word = "allowed" if robots["allowed"] else "denied"
    line = f" on line {robots['line']}" if robots["line"] else ""
    return f"{word} by {robots['rule']}{line}"
