"""`crawl4r diff`: show the changes in the text of a page."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from crawl4r.content.compare.changes import MOST_COMPARED, TextComparison
from crawl4r.documents.compare import Incomparable, compare_safely
from crawl4r.documents.documenter import extract_safely
from crawl4r.errors import PageUnavailable, UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_text
from crawl4r.interfaces.cli.view.format import clock_time
from crawl4r.model import Capture, Verdict
from crawl4r.safe_text import command_line
from crawl4r.wiring.documents import make_comparers, make_extractors
from crawl4r.workspace.workspace import Workspace

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@click.argument("url")
@workspace_option
@click.option(
    "--from",
    "before",
    type=int,
    metavar="CAPTURE",
    help="Start from this capture, by its number in `history`.",
)
@click.option(
    "--to",
    "after",
    type=int,
    metavar="CAPTURE",
    help="Compare with this capture.  [default: the newest two]",
)
@json_option
def command(
    url: str, workspace: Path, before: int | None, after: int | None, as_json: bool
) -> None:
    """Compare the text of two captures of a page.

    The comparison ignores navigation and other boilerplate.

    \b
    crawl4r diff https://example.org/news -w news
    crawl4r diff https://example.org/news -w news --from 12 --to 40
    """
    with open_for_reading(workspace) as opened:
        old, new = _pair(opened, url, before, after)
        change, lines = asyncio.run(_compared(opened, url, old, new))
    if as_json:
        print_json({"url": url, "from": old.id, "to": new.id, **change._asdict(), "diff": lines})
        return
    if change.kind == "unchanged" or not lines:
        say("the text is the same")
        return
    if change.is_cut:
        say(
            f"crawl4r: only {MOST_COMPARED:,} characters from the first difference are shown",
            err=True,
        )
    for line in lines.rstrip("\n").split("\n"):
        say_text(line, colour=_COLOURS.get(line[:1]))


def _label(url: str, capture: Capture) -> str:
    return f"{url} ({clock_time(capture.fetched_at)})"


def _pair(
    opened: Workspace, url: str, before: int | None, after: int | None
) -> tuple[Capture, Capture]:
    read = [c for c, _ in opened.history(url) if c.verdict is Verdict.OK and c.sha256]
    if len(read) < 2 and not (before and after):
        again = command_line("crawl4r", "crawl", "--refresh", "-w", opened.home)
        raise UsageError(f"{url} has {len(read)} capture(s) with text; `{again}` visits it again")
    by_id = {capture.id: capture for capture in read}
    for number in (before, after):
        if number is not None and number not in by_id:
            history = command_line("crawl4r", "history", url, "-w", opened.home)
            raise UsageError(f"capture {number} is not one of {url}; see `{history}`")
    new = by_id[after] if after else read[-1]
    earlier = [capture for capture in read if capture.id < new.id]
    if before is None and not earlier:
        raise UsageError(f"there is no capture before {new.id}; give --from")
    return by_id[before] if before else earlier[-1], new


async def _compared(opened: Workspace, url: str, old: Capture, new: Capture) -> TextComparison:
    before, after = await _texts(opened, [old, new])
    async with make_comparers(opened.settings) as sandbox:
        try:
            labels = (_label(url, old), _label(url, new))
            return await compare_safely(sandbox, before, after, labels=labels)
        except Incomparable as problem:
            raise PageUnavailable(f"the texts of {url} cannot be compared: {problem}") from None


async def _texts(opened: Workspace, captures: list[Capture]) -> list[str]:
    async with make_extractors(opened.settings) as sandbox:
        texts = []
        for capture in captures:
            body = opened.blobs.read(capture.sha256 or "") or b""
            repeated = opened.repeated_blocks(capture.url)
            found = await extract_safely(sandbox, capture, body, repeated)
            texts.append(found.document.markdown if found.document else "")
        return texts
