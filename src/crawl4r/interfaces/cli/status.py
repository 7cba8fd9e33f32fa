"""`crawl4r status`: a workspace at a glance."""

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
from crawl4r.interfaces.cli.wording import clock_time, human_bytes, human_seconds
from crawl4r.state.lock import holder_of


@click.command("status")
@workspace_option
@json_option
def command(workspace: Path, as_json: bool) -> None:
    """Show totals, hosts and errors of a crawl, also while it runs.

    \b
    crawl4r status -w docs
    crawl4r status -w docs --json | jq .urls
    """
    with open_for_reading(workspace) as opened:
        status = opened.status() | {"running": holder_of(workspace)}
    if as_json:
        print_json(status)
        return
    for line in _lines(status):
        click.echo(line)


def _index_words(totals: dict[str, int] | None) -> str:
    if totals is None:
        return "index: none; `crawl4r index` makes one"
    return (
        f"index: {totals['documents']:,} documents in {totals['passages']:,} passages,"
        f" {totals['embedded']:,} of them with a vector"
    )


def _lines(status: dict[str, Any]) -> list[str]:
    running = status["running"]
    lines = [
        f"crawl: {'process ' + str(running) if running else 'not running'}",
        "urls: " + (", ".join(f"{n:,} {state}" for state, n in status["urls"].items()) or "none"),
        f"pages: {status['pages']:,} kept, {human_bytes(status['bytes'])} in"
        f" {status['blobs']:,} distinct bodies ({human_bytes(status['stored_bytes'])} on disk)",
        f"documents: {status['documents']:,}",
        _index_words(status["index"]),
        f"last capture: {clock_time(status['last_capture_at'])}",
    ]
    for host in status["hosts"]:
        wait = f", next in {human_seconds(host['waits_s'])}" if host["waits_s"] else ""
        trouble = f", {host['failures']} failures in a row" if host["failures"] else ""
        pending = f"{host['pending']:,} pending"
        lines.append(f"  {host['host']}: {pending}, breaker {host['breaker']}{wait}{trouble}")
    if status["endings"]:
        lines.append("not kept:")
    lines.extend(
        f"  {ending['urls']:>7,}  {ending['verdict']}: {ending['reason']}"
        for ending in status["endings"]
    )
    return lines
