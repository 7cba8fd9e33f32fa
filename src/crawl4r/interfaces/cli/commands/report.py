"""`crawl4r report`: report the requests to a host, for its owner."""

from __future__ import annotations

import time
from pathlib import Path

import click

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.storage.layout import refuse_output
from crawl4r.workspace.moments import epoch_seconds


@click.command("report")
@click.argument("host")
@workspace_option
@click.option(
    "--html",
    "html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write the report as one HTML file with plots.",
)
@click.option(
    "--since", metavar="TIME", help="Begin at this time: 2026-11-15 or 2026-11-15T10:00 (UTC)."
)
@click.option("--until", metavar="TIME", help="End before this time.")
@json_option
def command(
    host: str,
    workspace: Path,
    html: Path | None,
    since: str | None,
    until: str | None,
    as_json: bool,
) -> None:
    """Report the requests to a host, and their politeness.

    It names the pace, and the lines of robots.txt that were obeyed.

    \b
    crawl4r report example.org -w docs
    crawl4r report example.org -w docs --html example.org.html --since 2026-11-01
    crawl4r report example.org:8080 -w docs --json | jq .gaps

    Without a port the report covers all ports of the host, which share one host budget.
    """
    begin, end = epoch_seconds(since, "--since"), epoch_seconds(until, "--until")
    with open_for_reading(workspace) as opened:
        report = opened.host_report(host, begin, end)
    if html is not None:
        refuse_output(workspace, html, "--html")
        from crawl4r.interfaces.html.host_report import page  # noqa: PLC0415 - only for --html

        _write(html, page(report, time.time()))
    if as_json:
        print_json(report)
        return
    from crawl4r.interfaces.cli.view.host_report_text import lines  # noqa: PLC0415

    for line in lines(report):
        say(line)
    if html is not None:
        say(f"page: {html}")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as problem:
        raise UsageError(f"--html: cannot write {file}: {problem.strerror}") from None
