"""`crawl4r export csv`: write captures and links as tables, from the archive."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawl4r.interfaces.cli.options import open_for_reading, print_json
from crawl4r.interfaces.cli.output import say

if TYPE_CHECKING:
    from crawl4r.logs.replay import ReplayReport

CSV = "csv"


def export_csv(workspace: Path, out: Path, *, as_json: bool, is_quiet: bool) -> None:
    """Write pages.csv and edges.csv into a folder, or only the pages into a .csv file."""
    if out.is_file() or (out.suffix == ".csv" and not out.is_dir()):
        places = {"pages": out}
    else:
        places = {"pages": out / "pages.csv", "edges": out / "edges.csv"}
    report = asyncio.run(_write(workspace, places))
    for url, problem in report.damaged:
        say(f"crawl4r: damaged: {url}: {problem}", err=True)
    for url, reason in report.unreadable:
        say(f"crawl4r: without all its links: {url}: {reason}", err=True)
    if as_json:
        files = [str(path) for path in places.values()]
        print_json({"captures": report.captures, "edges": report.edges, "files": files})
    elif not is_quiet:
        say(f"{report.captures:,} captures and {report.edges:,} links in {out}")
    if report.damaged:
        sys.exit(4)


async def _write(workspace: Path, places: dict[str, Path]) -> ReplayReport:
    with open_for_reading(workspace) as opened:
        return await opened.replay_into(places)
