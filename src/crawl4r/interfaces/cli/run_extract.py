"""Extract one or many files, for `crawl4r extract`."""

from __future__ import annotations

import asyncio
import mimetypes
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from pathlib import Path

from crawl4r.documents.extract_safely import extract_safely
from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.output import print_json
from crawl4r.interfaces.cli.view.extraction import show
from crawl4r.interfaces.json.extraction import chunks_json, extraction_json
from crawl4r.model import Extraction, PageBody
from crawl4r.processes.sandbox import Sandbox
from crawl4r.safe_text import read_json
from crawl4r.settings.load import load_settings
from crawl4r.wiring.documents import make_extractors
from crawl4r.workspace.chunks import ChunkRules, Chunks, open_chunker

_AHEAD = 4  # files read ahead for each process


def one(
    file: Path | None,
    url: str,
    content_type: str | None,
    rules: ChunkRules | None,
    *,
    as_json: bool,
) -> None:
    """Extract one file or standard input, and print the result."""
    body = sys.stdin.buffer.read() if file is None or str(file) == "-" else _read(file)
    declared = content_type or _type_of(file)
    found, chunks = asyncio.run(_extract_one(body, url, declared, rules))
    show(url, found, chunks, as_json=as_json)


def many(file: Path | None, workers: int, rules: ChunkRules | None) -> None:
    """Extract the files that the JSON lines of `file` name; print a JSON line for each."""
    asyncio.run(_extract_many(_jobs(file), workers, rules))


async def _extract_one(
    body: bytes, url: str, content_type: str, rules: ChunkRules | None
) -> tuple[Extraction, Chunks | None]:
    settings = load_settings()
    async with make_extractors(settings) as sandbox:
        found = await extract_safely(sandbox, PageBody(body, url, content_type))
    if rules is None:
        return found, None
    async with open_chunker(settings, rules) as chunker:
        return found, await chunker.chunks_of(found)


async def _extract_many(
    jobs: Iterable[tuple[str, Path]], workers: int, rules: ChunkRules | None
) -> None:
    settings = load_settings(overrides={"content": {"workers": workers}})
    async with (
        make_extractors(settings) as sandbox,
        open_chunker(settings, rules or ChunkRules()) as chunker,
    ):
        async for url, path, found in _in_order(sandbox, jobs, workers * _AHEAD):
            if isinstance(found, dict):
                print_json({"path": str(path), **found})
                continue
            chunks = await chunker.chunks_of(found) if rules else None
            print_json({"path": str(path), **extraction_json(url, found), **chunks_json(chunks)})


async def _in_order(
    sandbox: Sandbox, jobs: Iterable[tuple[str, Path]], ahead: int
) -> AsyncIterator[tuple[str, Path, Extraction | dict[str, str]]]:
    """Results in the order of the jobs, with a few jobs running at once."""
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
        body = path.read_bytes()  # noqa: ASYNC240 - no other task uses this loop
    except OSError as problem:
        return {"url": url, "error": f"cannot be read: {problem.strerror}"}
    return await extract_safely(sandbox, PageBody(body, url, _type_of(path)))


def _jobs(file: Path | None) -> Iterable[tuple[str, Path]]:
    stream = sys.stdin if file is None or str(file) == "-" else file.open(encoding="utf-8")
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                job = read_json(line)
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
