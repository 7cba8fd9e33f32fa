"""`crawl4r extract`: read HTML from files, with no network and no workspace."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import click

from crawl4r.app import make_extractors
from crawl4r.documenting import extract_body
from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.extracted import as_json, chunk_options, show
from crawl4r.interfaces.cli.options import json_option, print_json
from crawl4r.model import Extraction
from crawl4r.resilience.sandbox import Sandbox
from crawl4r.settings import load_settings

_AHEAD = 4  # files that are read for each process


@click.command("extract")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--url", default="", help="Where it comes from: makes links absolute.")
@click.option("--content-type", help="What the server called it.  [default: from the file's name]")
@click.option(
    "--jsonl",
    is_flag=True,
    help='Read lines like {"url": ..., "path": ...}; write a line for each.',
)
@json_option
def command(
    file: Path | None,
    url: str,
    content_type: str | None,
    jsonl: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Judge a page and turn it into markdown; from a file, or from stdin.

    \b
    crawl4r extract page.html --url https://example.org/a
    curl -s https://example.org/ | crawl4r extract --url https://example.org/ --json
    crawl4r extract --jsonl < pages.jsonl > documents.jsonl
    """
    if jsonl:
        asyncio.run(_extract_many(_jobs(file), options))
        return
    body = sys.stdin.buffer.read() if file is None or str(file) == "-" else _read(file)
    declared = content_type or _type_of(file)
    extraction = asyncio.run(_extract_one(body, url, declared))
    show(url, extraction, options, json_wanted=as_json)


for _option in reversed(chunk_options):
    command = _option(command)


async def _extract_one(body: bytes, url: str, content_type: str) -> Extraction:
    async with make_extractors(load_settings()) as sandbox:
        return await extract_body(sandbox, body, url=url, content_type=content_type)


async def _extract_many(jobs: Iterable[tuple[str, Path]], options: dict[str, Any]) -> None:
    workers = os.cpu_count() or 1
    settings = load_settings(overrides={"content": {"workers": workers}})
    async with make_extractors(settings) as sandbox:
        async for url, path, found in _in_order(sandbox, jobs, workers * _AHEAD):
            line = {"path": str(path)}
            line |= found if isinstance(found, dict) else as_json(url, found, **options)
            print_json(line)


async def _in_order(
    sandbox: Sandbox, jobs: Iterable[tuple[str, Path]], ahead: int
) -> AsyncIterator[tuple[str, Path, Extraction | dict[str, str]]]:
    """Results in the order of the jobs, with a few of them under way at once."""
    jobs = iter(jobs)
    waiting: deque[tuple[str, Path, asyncio.Task[Extraction | dict[str, str]]]] = deque()

    def begin(count: int) -> None:
        for url, path in islice(jobs, count):
            task = asyncio.create_task(_extract_file(sandbox, url, path))
            waiting.append((url, path, task))

    begin(ahead)
    while waiting:
        url, path, task = waiting.popleft()
        yield url, path, await task
        begin(1)


async def _extract_file(sandbox: Sandbox, url: str, path: Path) -> Extraction | dict[str, str]:
    try:
        body = path.read_bytes()  # noqa: ASYNC240 - nobody else waits for this loop
    except OSError as problem:
        return {"url": url, "error": f"cannot be read: {problem.strerror}"}
    return await extract_body(sandbox, body, url=url, content_type=_type_of(path))


def _jobs(file: Path | None) -> Iterable[tuple[str, Path]]:
    stream = sys.stdin if file is None or str(file) == "-" else file.open(encoding="utf-8")
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                job = json.loads(line)
                yield str(job.get("url") or ""), Path(job["path"])
            except (ValueError, KeyError, TypeError, AttributeError):
                raise UsageError(
                    f'line {number} is not like {{"url": "https://...", "path": "page.html"}}'
                ) from None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None


def _type_of(file: Path | None) -> str:
    guessed = mimetypes.guess_type(file.name)[0] if file else None
    return guessed or "text/html"
