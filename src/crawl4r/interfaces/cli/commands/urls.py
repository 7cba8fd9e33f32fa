"""`crawl4r urls`: print the crawler's spelling of URLs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from crawl4r.errors import InvalidUrl, UsageError
from crawl4r.interfaces.cli.options import print_json, workspace_option
from crawl4r.interfaces.cli.output import say
from crawl4r.safe_text import read_json
from crawl4r.settings.load import FILE_NAME, load_settings
from crawl4r.urls.canonical import CanonicalRules, canonicalize


@click.group("urls")
def command() -> None:
    """Show URLs in the crawler's spelling."""


@command.command("canonical", short_help="Print the canonical spelling of URLs.")
@click.argument("urls", nargs=-1)
@click.option(
    "--jsonl", is_flag=True, help='Read {"url", "base"} lines on stdin, write a line for each.'
)
@click.option("--profile", help="Use a bundled configuration, e.g. github.")
@workspace_option
def canonical(urls: tuple[str, ...], jsonl: bool, profile: str | None, workspace: Path) -> None:
    """Print the canonical spelling of URLs, from arguments or as JSON lines on stdin.

    \b
    crawl4r urls canonical 'HTTP://Example.org:80/a/../b?utm_source=x'
    echo '{"url": "../c", "base": "http://a.example/b/"}' > urls.jsonl
    crawl4r urls canonical --jsonl < urls.jsonl
    """
    overrides = {"agent": {"require_contact": False}}
    settings = load_settings(workspace / FILE_NAME, profile=profile, overrides=overrides)
    rules = settings.scope.canonical()
    if not jsonl:
        for url in urls:
            say(canonicalize(url, None, rules))
        return
    for number, line in enumerate(sys.stdin, 1):
        if line.strip():
            print_json(_answer(_parse(line, number), rules))


def _parse(line: str, number: int) -> dict[str, Any]:
    try:
        item = read_json(line)
    except ValueError as problem:
        raise UsageError(f"line {number} is not JSON: {problem}") from None
    if not isinstance(item, dict) or not isinstance(item.get("url"), str):
        raise UsageError(f'line {number} has no "url"')
    return item


def _answer(item: dict[str, Any], rules: CanonicalRules) -> dict[str, Any]:
    base = item.get("base") or None
    try:
        return {
            "url": item["url"],
            "canonical": canonicalize(item["url"], base, rules),
            "error": None,
        }
    except InvalidUrl as problem:
        return {"url": item["url"], "canonical": None, "error": problem.reason}
