"""What the server's own access log says of how politely it was asked."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.workspace.run import CrawlRun
from tests.site.access_log import AccessRecord

SLACK = (
    0.02  # seconds by which the server may see a gap shorter than it was kept: see site/arriving.py
)
MOST_SECONDS = 60


def by_host(records: Iterable[AccessRecord]) -> dict[str, list[AccessRecord]]:
    """Requests of each host in order of arrival."""
    hosts: dict[str, list[AccessRecord]] = {}
    for record in sorted(records, key=lambda record: record.arrived_monotonic):
        hosts.setdefault(record.host, []).append(record)
    return hosts


def gaps(records: Iterable[AccessRecord]) -> list[float]:
    """Seconds between the arrivals of one request and the next."""
    arrivals = sorted(record.arrived_monotonic for record in records)
    return [later - earlier for earlier, later in pairwise(arrivals)]


def assert_polite(records: Iterable[AccessRecord], delay: float) -> None:
    """To each host one request at a time, `delay` seconds apart, and robots.txt before all else."""
    for host, requests in by_host(records).items():
        assert max(record.in_flight for record in requests) == 1, host
        assert min(gaps(requests), default=delay) >= delay - SLACK, host
        assert requests[0].path == "/robots.txt", host


def crawl(folder: Path, *seeds: str, **options: Any) -> dict[str, str | None]:
    """Crawl to the end as a user would; verdicts by URL. For `options` see `crawling`."""

    async def run() -> dict[str, str | None]:
        return await crawling(folder, *seeds, **options)

    return asyncio.run(run())


async def crawling(
    folder: Path,
    *seeds: str,
    budgets: crawl4r.HostBudgets | None = None,
    when: Callable[[], bool] | None = None,
    then: Callable[[CrawlRun], None] = lambda run: None,
    **options: Any,
) -> dict[str, str | None]:
    """`then` is called once, as soon as `when` is true; before that the crawl must not end."""
    options = {
        "allow_private": ["127.0.0.0/8"],
        "contact": "https://example.org",
        "probe": False,
        **options,
    }
    async with (
        crawl4r.open(folder, budgets=budgets, **options) as workspace,
        asyncio.timeout(MOST_SECONDS),
    ):
        run = workspace.crawl(*seeds)
        ending = asyncio.create_task(run.finish())
        while when and not when():
            assert not ending.done()
            await asyncio.sleep(0.005)
        if when:
            then(run)
        await ending
        return {row.url: row.verdict for row in workspace.pages()}
