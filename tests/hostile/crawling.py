"""One crawl over hostile seeds, and what became of each."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.crawling.loop import EndedBy
from crawl4r.reports.url_story import PageRow

MOST_SECONDS = 60  # that any crawl of these tests may take; they take a few


@dataclass(frozen=True, slots=True)
class Crawled:
    ended_by: EndedBy
    rows: dict[str, PageRow]  # by URL

    def urls(self, verdict: str) -> set[str]:
        return {url for url, row in self.rows.items() if row.verdict == verdict}


def quick_settings(**sections: dict[str, Any]) -> crawl4r.Settings:
    """No waiting between requests, little patience with each, few retries."""
    merged: dict[str, dict[str, Any]] = {
        "agent": {"contact": "https://example.org"},
        "network": {"allow_private": ["127.0.0.0/8"]},
        "politeness": {"rate": 0, "per_host": 4, "concurrency": 16},
        "fetch": {"timeout": 2, "connect_timeout": 1, "retries": 1, "backoff_base": 0.05},
        "reading": {"seconds": 2},
        "content": {"probe": False},
        "index": {"enabled": False},
        "explore": {"enabled": False},
        "limits": {"traps": {"enabled": False}},
    }
    for name, section in sections.items():
        merged[name] = {**merged.get(name, {}), **section}
    return crawl4r.load_settings(environment={}, overrides=merged)


def crawl(
    folder: Path,
    seeds: Sequence[str],
    settings: crawl4r.Settings | None = None,
    then: Callable[[crawl4r.Workspace], None] | None = None,
    most_seconds: float = MOST_SECONDS,
) -> Crawled:
    """Crawl to the end; `then` may look into the workspace before it closes."""

    async def run() -> Crawled:
        async with crawl4r.Workspace(folder, settings or quick_settings()) as workspace:
            async with asyncio.timeout(most_seconds):
                ended_by = await workspace.crawl(*seeds).finish()
            rows = {row.url: row for row in workspace.pages()}
            if then:
                then(workspace)
            return Crawled(ended_by, rows)

    return asyncio.run(run())
