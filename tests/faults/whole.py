"""Is a workspace whole? Every page once, its bytes exact, every record in step with the others."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import sqlite3
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import crawl4r
from tests.site.pages import page_bytes, page_path
from tests.site.process import SiteProcess

METADATA = Path("metadata", "crawl_metadata.jsonl")


def expected_bodies(site: SiteProcess, size: int) -> dict[str, bytes]:
    """URL to body for every page of /site/<size>/."""
    origin = site.url("")
    return {origin + page_path(size, n): page_bytes(size, n, origin) for n in range(size)}


def assert_every_page_is_stored_once(workspace: Path, bodies: dict[str, bytes]) -> None:
    """All promises of the crash contract that a finished workspace can prove."""
    with crawl4r.open(workspace, read_only=True) as opened:
        rows = list(opened.pages())
        assert Counter(row.url for row in rows) == Counter(bodies.keys())
        endings = {(row.state, row.status, row.verdict, row.reason) for row in rows}
        assert endings == {("done", 200, "ok", "")}
        for row in rows:
            page = opened.get(row.url)
            assert page is not None
            assert page.body == bodies[row.url]
            assert row.sha256 == hashlib.sha256(page.body).hexdigest()
            assert row.bytes == len(page.body)
        captures = list(opened.captures.after(0))
    assert Counter(capture.url for capture in captures) == Counter(bodies.keys())
    lines = metadata_lines(workspace)
    assert [line["capture_id"] for line in lines] == [capture.id for capture in captures]
    assert [line["url"] for line in lines] == [capture.url for capture in captures]
    assert [line["sha256"] for line in lines] == [c.sha256 for c in captures]


def metadata_lines(workspace: Path) -> list[dict[str, object]]:
    """Every line, each of which must be whole."""
    text = (workspace / METADATA).read_text("utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def page_requests(site: SiteProcess, since: int = 0) -> Counter[str]:
    """How often each page was asked for, from the site's own log."""
    paths = (urlsplit(record.path).path for record in site.requests()[since:])
    return Counter(path for path in paths if path.startswith("/site/"))


def assert_nothing_is_torn(workspace: Path, bodies: dict[str, bytes]) -> None:
    """The state that a failed crawl must leave: perhaps fewer pages, but each complete."""
    if (workspace / METADATA).exists():
        text = (workspace / METADATA).read_text("utf-8")
        assert not text or text.endswith("\n"), f"torn: {text[-80:]!r}"
        for line in text.splitlines():
            json.loads(line)
    if not _has_begun(workspace / "state.db"):
        return
    with crawl4r.open(workspace, read_only=True) as opened:
        for row in opened.pages("done"):
            page = opened.get(row.url)
            assert page is not None
            assert page.body == bodies[row.url]


def _has_begun(state: Path) -> bool:
    """Whether the tables were ever made; without them there is nothing to be torn."""
    if not state.exists():
        return False
    with contextlib.closing(sqlite3.connect(state)) as connection:
        return bool(connection.execute("PRAGMA user_version").fetchone()[0])


def go_on(workspace: Path, seed: str) -> None:
    """Run the crawl to its end in this process, as the command would."""

    async def crawl() -> None:
        options = {"allow_private": ["127.0.0.1"], "rate": 0, "per_host": 8, "concurrency": 8}
        async with crawl4r.open(workspace, **options) as opened:
            await opened.crawl(seed).finish()

    asyncio.run(crawl())
