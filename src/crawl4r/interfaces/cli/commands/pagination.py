"""`crawl4r pagination`: find the other pages of a list in an HTML file, without network."""

from __future__ import annotations

import asyncio
import mimetypes
import sys
from pathlib import Path

import click

from crawl4r.discovery.pagination.finder import Pagination
from crawl4r.errors import PageUnavailable, UsageError
from crawl4r.formats.charset import as_utf8, guess_encoding
from crawl4r.interfaces.cli.options import json_option, print_json
from crawl4r.interfaces.cli.output import say
from crawl4r.processes.entrypoints import PAGE_FINDER
from crawl4r.processes.sandbox import Sandbox, SandboxKilled
from crawl4r.settings.load import load_settings
from crawl4r.urls.canonical import canonicalize, with_scheme


@click.command("pagination")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--url", required=True, help="Resolve links relative to this URL of the file.")
@click.option("--content-type", help="Name the media type.  [default: from the file's name]")
@json_option
def command(file: Path | None, url: str, content_type: str | None, as_json: bool) -> None:
    """Find the other pages of a list in an HTML file.

    Also prints the rule of their URLs.

    \b
    crawl4r pagination page.html --url https://example.org/news
    curl -s https://a.example/b | crawl4r pagination - --url https://a.example/b
    """
    address = canonicalize(with_scheme(url))
    body = sys.stdin.buffer.read() if file is None or str(file) == "-" else _read(file)
    guessed = mimetypes.guess_type(file.name)[0] if file else None
    encoding = guess_encoding(body, content_type or guessed or "text/html")
    found = asyncio.run(_find(as_utf8(body, encoding), address))
    if as_json:
        print_json({"url": address} | found.as_json())
    else:
        _show(found)


async def _find(html: bytes, url: str) -> Pagination:
    content = load_settings().content
    sandbox = Sandbox(
        PAGE_FINDER,
        None,
        seconds=content.seconds,
        memory_bytes=content.memory_mb * 1024**2,
    )
    async with sandbox:
        try:
            return await sandbox.run(url, html, Pagination)
        except SandboxKilled as killed:
            raise PageUnavailable(
                f"the page cannot be read: {killed.reason}; if it is worth the time, raise"
                " content.seconds (CRAWL4R_CONTENT__SECONDS)"
            ) from None


def _show(found: Pagination) -> None:
    rule = found.rule
    if rule:
        say(f"page       {found.current}")
    for name, url in (("next", found.next), ("previous", found.previous)):
        say(f"{name:10} {url or '-'}")
    for number, url in found.pages:
        say(f"page {number:<5} {url}")
    if rule:
        say(f"rule       {rule.template}  ({rule.style}, from {rule.first} by {rule.step})")
    else:
        say("rule       -  (no list whose pages are counted)")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None
