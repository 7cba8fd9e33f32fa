"""`crawl4r export csv`: write captures and links as tables, from the archive."""

from __future__ import annotations

import sys
from pathlib import Path

from crawl4r.interfaces.cli.options import open_for_reading, print_json
from crawl4r.interfaces.cli.output import say


def export_csv(workspace: Path, out: Path, *, as_json: bool, is_quiet: bool) -> None:
    """Write the tables and tell what is in them."""
    with open_for_reading(workspace) as opened:
        report = opened.export("csv", out)
    for url, problem in report.damaged:
        say(f"crawl4r: damaged: {url}: {problem}", err=True)
    for url, reason in report.unreadable:
        say(f"crawl4r: without all its links: {url}: {reason}", err=True)
    if as_json:
        names = ("captures", "edges", "files", "dropped")
        print_json({name: getattr(report, name) for name in names})
    elif not is_quiet:
        say(f"{report.captures:,} captures and {report.edges:,} links in {out}")
    if report.damaged:
        sys.exit(4)
