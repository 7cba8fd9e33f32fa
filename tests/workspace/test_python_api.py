"""The Python API as its docstrings show it: open, crawl, stop, go on, read back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from crawl4r.errors import InvalidUrl, SettingsError, UsageError, WorkspaceError
from crawl4r.politeness.host_budget import HostRules
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies, page_requests
from tests.site.process import SiteProcess

SIZE = 30  # pages
LOOPBACK: dict[str, Any] = {"allow_private": ["127.0.0.1"], "rate": 0}


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=["127.0.0.1", "127.0.0.2"]) as running:
        yield running


@pytest.fixture
def url(site: SiteProcess) -> str:
    return site.url(f"/site/{SIZE}/")


def finish(workspace: Path, *seeds: str, **options: Any) -> str:
    async def crawl() -> str:
        async with crawl4r.open(workspace, **LOOPBACK) as opened:
            return await opened.crawl(*seeds, **options).finish()

    return asyncio.run(crawl())


def test_pages_arrive_while_the_crawl_runs(site: SiteProcess, url: str, tmp_path: Path) -> None:
    async def crawl() -> dict[str, bytes]:
        async with crawl4r.open(tmp_path, contact="https://example.org/bot", **LOOPBACK) as opened:
            return {page.url: page.body async for page in opened.crawl(url, per_host=4)}

    assert asyncio.run(crawl()) == expected_bodies(site, SIZE)
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, SIZE))


def test_max_pages_ends_the_loop(url: str, tmp_path: Path) -> None:
    async def crawl() -> list[crawl4r.Page]:
        async with crawl4r.open(tmp_path, **LOOPBACK) as opened:
            return [page async for page in opened.crawl(url, max_pages=5)]

    pages = asyncio.run(crawl())
    assert len(pages) == 5
    assert {page.status for page in pages} == {200}


@pytest.mark.parametrize("way", ["break", "stop", "stop_now"])
def test_a_crawl_left_in_the_middle_goes_on_later(
    site: SiteProcess, url: str, tmp_path: Path, way: str
) -> None:
    before = len(site.requests())

    async def leave_in_the_middle() -> int:
        seen = 0
        async with crawl4r.open(tmp_path, **LOOPBACK) as opened:
            run = opened.crawl(url, rate=100, extract=False)
            async for _ in run:
                seen += 1
                if seen == 7 and way == "break":
                    break
                if seen == 7:
                    getattr(run, way)()
        return seen

    assert 7 <= asyncio.run(leave_in_the_middle()) < SIZE
    assert finish(tmp_path, url) == "nothing left"
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, SIZE))
    asked = page_requests(site, before)
    assert sum(asked.values()) - len(asked) <= (1 if way == "stop_now" else 0)


def test_a_stop_before_the_first_page_is_heard(url: str, tmp_path: Path) -> None:
    async def crawl() -> str:
        async with crawl4r.open(tmp_path, **LOOPBACK) as opened:
            run = opened.crawl(url, rate=5)
            task = asyncio.create_task(run.finish())
            await asyncio.sleep(0)
            run.stop()
            async with asyncio.timeout(20):
                return await task

    assert asyncio.run(crawl()) == "stopped"


def test_an_error_of_the_caller_leaves_a_crawl_that_can_go_on(
    site: SiteProcess, url: str, tmp_path: Path
) -> None:
    async def fail() -> None:
        async with crawl4r.open(tmp_path, **LOOPBACK) as opened:
            async for page in opened.crawl(url):
                raise KeyError(page.url)

    with pytest.raises(KeyError):
        asyncio.run(fail())
    assert finish(tmp_path, url) == "nothing left"
    assert_every_page_is_stored_once(tmp_path, expected_bodies(site, SIZE))


def test_what_was_stored_is_read_back_without_a_loop(
    site: SiteProcess, url: str, tmp_path: Path
) -> None:
    assert finish(tmp_path, url) == "nothing left"
    bodies = expected_bodies(site, SIZE)
    with crawl4r.open(tmp_path, read_only=True) as opened:
        page = opened.get(url)
        assert page is not None
        assert (page.url, page.status, page.body) == (url, 200, bodies[url])
        assert page.html == bodies[url].decode()
        assert (page.title, page.verdict) == ("Page 0 of 30", "ok")
        assert opened.get(f"{url}?utm_source=x#top") == page
        assert opened.get(url, at=page.capture.fetched_at - 1) is None
        assert opened.get(site.url("/unknown")) is None
        assert {row.url for row in opened.pages("done")} == bodies.keys()
        assert opened.why(url)["state"] == "done"
        assert opened.status()["pages"] == SIZE


def test_two_workspaces_in_one_process_share_the_budget_of_a_host(
    site: SiteProcess, tmp_path: Path
) -> None:
    before = len(site.requests())

    async def crawl_both() -> None:
        budgets = crawl4r.HostBudgets(HostRules(delay=0, per_host=1))
        options: dict[str, Any] = {"budgets": budgets, **LOOPBACK}
        async with (
            crawl4r.open(tmp_path / "a", **options) as first,
            crawl4r.open(tmp_path / "b", **options) as second,
        ):
            await asyncio.gather(
                first.crawl(site.url("/site/8/")).finish(),
                second.crawl(site.url("/site/9/")).finish(),
            )

    asyncio.run(crawl_both())
    assert_every_page_is_stored_once(tmp_path / "a", expected_bodies(site, 8))
    assert_every_page_is_stored_once(tmp_path / "b", expected_bodies(site, 9))
    assert {record.in_flight for record in site.requests()[before:]} == {1}


def test_options_of_a_crawl_hold_for_that_crawl_alone(url: str, tmp_path: Path) -> None:
    async def crawl() -> list[str]:
        async with crawl4r.open(tmp_path, max_pages=3, **LOOPBACK) as opened:
            first = await opened.crawl(url).finish()
            second = await opened.crawl(url, max_pages=6).finish()
            assert opened.status()["pages"] == 6
            return [first, second]

    assert asyncio.run(crawl()) == ["max pages", "max pages"]


def test_refresh_visits_again_and_yields_what_it_saw(url: str, tmp_path: Path) -> None:
    finish(tmp_path, url)

    async def refresh() -> list[tuple[int, bool]]:
        async with crawl4r.open(tmp_path, **LOOPBACK) as opened:
            return [(p.status, bool(p.body)) async for p in opened.crawl(url, refresh=True)]

    assert asyncio.run(refresh()) == [(304, True)] * SIZE


def test_mistakes_are_errors_that_name_what_is_wrong(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="max_page"):
        crawl4r.open(tmp_path, max_page=3)
    with pytest.raises(SettingsError, match=r"limits\.depth"):
        crawl4r.open(tmp_path, depth=-1)
    with pytest.raises(WorkspaceError, match=str(tmp_path / "none")):
        crawl4r.open(tmp_path / "none", read_only=True)
    with crawl4r.open(tmp_path) as opened:
        with pytest.raises(WorkspaceError, match=str(tmp_path)):
            crawl4r.open(tmp_path)
        with pytest.raises(InvalidUrl):
            opened.get("http://[")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = crawl4r.no_such_name


def test_a_crawl_that_cannot_begin_says_so_at_once(url: str, tmp_path: Path) -> None:
    async def ask(*seeds: str, **options: Any) -> None:
        async with crawl4r.open(tmp_path) as opened:
            opened.crawl(*seeds, **options)

    for seeds, options in (((), {}), (("ftp://a/",), {}), ((url,), {"deny": ["site"]})):
        with pytest.raises(UsageError):
            asyncio.run(ask(*seeds, **options))
