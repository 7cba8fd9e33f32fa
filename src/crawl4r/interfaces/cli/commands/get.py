"""`crawl4r get`: print a stored page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_markdown, say_text, write_bytes
from crawl4r.interfaces.cli.view.format import clock_time
from crawl4r.model import Capture
from crawl4r.safe_text import command_line
from crawl4r.transfer.export_documents import row_of
from crawl4r.workspace.moments import epoch_seconds
from crawl4r.workspace.page import Page
from crawl4r.workspace.workspace import Workspace


@click.command("get")
@click.argument("url", required=False)
@workspace_option
@click.option(
    "--raw",
    is_flag=True,
    help="Print the exact stored bytes; a terminal gets only harmless text.",
)
@click.option("--sha256", help="Select the page by content hash instead of URL.")
@click.option(
    "--at",
    metavar="TIME",
    help="Print the state of this time: 2026-11-15, 2026-11-15T10:00:00, or a Unix time.",
)
@click.option("--headers", is_flag=True, help="Print the response headers instead of the content.")
@click.option("--markdown", is_flag=True, help="Print the text of the page as markdown.")
@json_option
def command(
    url: str | None,
    workspace: Path,
    raw: bool,
    sha256: str | None,
    at: str | None,
    headers: bool,
    markdown: bool,
    as_json: bool,
) -> None:
    """Print a stored page: by URL, by hash, or as of a moment.

    \b
    crawl4r get https://example.org/ --raw > page.html
    crawl4r get https://example.org/ --markdown
    crawl4r get https://example.org/ --at 2026-11-01 --headers
    crawl4r get --sha256 9f86d081884c7d65... --raw
    """
    if (url is None) == (sha256 is None):
        raise click.UsageError("give a URL or --sha256")
    _check(markdown, {"sha256": sha256, "at": at, "headers": headers, "raw": raw})
    with open_for_reading(workspace) as opened:
        if sha256 is not None:
            write_bytes(_bytes_of(opened, sha256))
            return
        if markdown:
            _show_document(opened, url or "", as_json=as_json)
            return
        page = opened.get(url or "", epoch_seconds(at, "--at"))
        if page is None:
            raise UsageError(_why_nothing(opened, url or "", at))
        _show(page, raw=raw, headers=headers, as_json=as_json)


def _check(markdown: bool, others: dict[str, Any]) -> None:
    """Raise UsageError for options that --markdown would ignore."""
    for name, value in others.items():
        if markdown and value:
            raise click.UsageError(f"--markdown prints the newest text of a URL, without --{name}")


def _why_nothing(opened: Workspace, url: str, at: str | None) -> str:
    if at is not None and opened.get(url) is not None:
        history = command_line("crawl4r", "history", url, "-w", opened.home)
        return f"{url} has no stored bytes from before {at}; `{history}` lists its captures"
    return f"{url} has no stored bytes in {opened.home}; `{_why(opened, url)}` says what happened"


def _why(opened: Workspace, url: str | None) -> str:
    return command_line("crawl4r", "why", url, "-w", opened.home)


def _bytes_of(opened: Workspace, sha256: str) -> bytes:
    try:
        body = opened.blobs.read(sha256.lower())
    except ValueError:
        raise UsageError(f"--sha256: {sha256!r} is not a hash in hex") from None
    if body is None:
        opened.parts.dropped.refuse(sha256.lower(), sha256)
        raise UsageError(f"nothing with the hash {sha256} is stored")
    return body


def _show_document(opened: Workspace, url: str, *, as_json: bool) -> None:
    stored = opened.document(url)
    if stored is None:
        raise UsageError(f"{url} has no document; `{_why(opened, url)}` says what happened")
    if as_json:
        print_json(row_of(stored))
    else:
        say_markdown(stored.document.markdown)


def _show(page: Page, *, raw: bool, headers: bool, as_json: bool) -> None:
    if as_json:
        print_json({**_told(page.capture), "text": page.html})
    elif headers:
        say(f"{page.status} {page.url} ({clock_time(page.capture.fetched_at)})")
        for name, value in page.capture.headers:
            say(f"{name}: {value}")
    elif raw:
        write_bytes(page.body)
    else:
        say_text(page.html, end="")


def _told(capture: Capture) -> dict[str, Any]:
    """A capture with the common field names."""
    others = {"id": "capture_id", "fetched_at": "captured_at", "proxy": "proxy_id"}
    said = capture._asdict()
    del said["crawl"]  # a number of this store; `why` names the crawls
    return {others.get(name, name): value for name, value in said.items()}
