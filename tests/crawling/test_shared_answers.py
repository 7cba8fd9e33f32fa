"""A page that several crawls of a store want is asked for once, and each judges it by its own rules."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from tests.site.process import SiteProcess

LOOPBACK: dict[str, Any] = {"rate": 0, "allow_private": ["127.0.0.1"], "explore": False}
SIZE = 8


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def crawl(workspace: Path, url: str, name: str, **options: Any) -> crawl4r.CrawlRun:
    async def run() -> crawl4r.CrawlRun:
        again = {word: options.pop(word) for word in ("refresh",) if word in options}
        async with crawl4r.open(workspace, **LOOPBACK | options) as opened:
            running = opened.crawl(url, name=name, **again)
            await running.finish()
            return running

    return asyncio.run(run())


def asked(site: SiteProcess) -> Counter[str]:
    return Counter(record.path for record in site.requests() if "/site/" in record.path)


def visits(run: crawl4r.CrawlRun) -> tuple[int, int]:
    assert run.crawl is not None
    return run.crawl.progress.pages, run.crawl.progress.shared


def test_a_second_crawl_takes_fresh_answers_and_follows_their_links(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url(f"/site/{SIZE}/")
    assert visits(crawl(tmp_path, url, "one")) == (SIZE, 0)
    assert visits(crawl(tmp_path, url, "two")) == (SIZE, SIZE)
    assert set(asked(site).values()) == {1}
    with crawl4r.open(tmp_path, read_only=True) as opened:
        assert [crawl.pages for crawl in opened.crawls()] == [SIZE, SIZE]
        assert opened.captures.last_id() == SIZE


def test_each_crawl_follows_links_by_its_own_rules(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url(f"/site/{SIZE}/")
    crawl(tmp_path, url, "one")
    deny = rf"/site/{SIZE}/p/[12]\.html"
    second = crawl(tmp_path, url, "two", deny=[deny])
    with crawl4r.open(tmp_path, read_only=True) as opened:
        pages = [crawl.pages for crawl in opened.crawls()]
    assert pages[0] == SIZE > pages[1] > 0
    assert visits(second) == (pages[1], pages[1])


@pytest.mark.parametrize("options", [{"fresh_for": 0}, {"fresh_for": 1e-9}])
def test_what_is_not_fresh_any_more_is_asked_for_with_the_validators_of_the_other_crawl(
    site: SiteProcess, tmp_path: Path, options: dict[str, Any]
) -> None:
    """A 304 has no links: they are read from the bytes that the store has."""
    url = site.url(f"/site/{SIZE}/")
    crawl(tmp_path, url, "one")
    assert visits(crawl(tmp_path, url, "two", **options))[1] == 0
    assert set(asked(site).values()) == {2}
    statuses = Counter(record.status for record in site.requests() if "/site/" in record.path)
    with crawl4r.open(tmp_path, read_only=True) as opened:
        assert [crawl.pages for crawl in opened.crawls()] == [SIZE, SIZE]
    assert statuses[304] in {0, SIZE}


def test_a_crawl_never_takes_its_own_answers(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url(f"/site/{SIZE}/")
    crawl(tmp_path, url, "one")
    assert visits(crawl(tmp_path, url, "one", refresh=True))[1] == 0
    assert set(asked(site).values()) == {2}


def test_pages_of_another_crawl_are_handed_to_a_program_too(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url(f"/site/{SIZE}/")
    crawl(tmp_path, url, "one")

    async def pages() -> list[str]:
        async with crawl4r.open(tmp_path, **LOOPBACK) as opened:
            return [page.url async for page in opened.crawl(url, name="two")]

    assert len(set(asyncio.run(pages()))) == SIZE


def test_failures_are_not_shared(site: SiteProcess, tmp_path: Path) -> None:
    (tmp_path / "crawl4r.yaml").write_text("fetch: {retries: 0}")
    url = site.url("/status/503")
    for name in ("one", "two"):
        crawl(tmp_path, url, name)
    assert [record.status for record in site.requests()].count(503) == 2
