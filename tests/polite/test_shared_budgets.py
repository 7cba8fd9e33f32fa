"""One budget a host, however many crawls want it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.model import HostMemory
from crawl4r.politeness.host_budget import Health, HostRules
from tests.polite.access import SLACK, by_host, crawling, gaps
from tests.site.access_log import AccessRecord
from tests.site.process import SiteProcess

HOSTS = [f"127.0.5.{number}" for number in range(1, 5)]


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=HOSTS) as running:
        yield running


def crawl_twice(
    site: SiteProcess, folder: Path, budgets: crawl4r.HostBudgets, **options: float
) -> list[dict[str, str | None]]:
    """Two crawls at once over the same hosts, of different pages."""

    async def run() -> list[dict[str, str | None]]:
        crawls = [
            crawling(
                folder / str(size),
                *[site.url(f"/site/{size}/", host) for host in HOSTS],
                budgets=budgets,
                **options,
            )
            for size in (5, 6)
        ]
        return await asyncio.gather(*crawls)

    return asyncio.run(run())


def assert_shared(records: list[AccessRecord], delay: float) -> None:
    for host, requests in by_host(records).items():
        assert len(requests) == 13, host  # 5 and 6 pages, robots.txt for each
        assert max(record.in_flight for record in requests) == 1, host
        assert min(gaps(requests)) >= delay - SLACK, host


def test_two_crawls_keep_one_pace_together_and_both_finish(
    site: SiteProcess, tmp_path: Path
) -> None:
    budgets = crawl4r.HostBudgets(HostRules(delay=0.1))
    five, six = crawl_twice(site, tmp_path, budgets, rate=10)
    assert list(five.values()) == ["ok"] * 20
    assert list(six.values()) == ["ok"] * 24
    assert_shared(site.requests(), delay=0.1)


def test_neither_of_two_crawls_starves(site: SiteProcess, tmp_path: Path) -> None:
    crawl_twice(site, tmp_path, crawl4r.HostBudgets(HostRules(delay=0.1)), rate=10)
    for requests in by_host(site.requests()).values():
        order = [record.path.split("/")[2] for record in requests if "site" in record.path]
        assert set(order[:6]) == {"5", "6"}


def test_fresh_budgets_take_the_pace_of_the_crawls_that_share_them(
    site: SiteProcess, tmp_path: Path
) -> None:
    budgets = crawl4r.HostBudgets()

    async def run() -> None:
        one, two = (
            crawling(tmp_path / str(n), site.url(f"/site/{n}/", HOSTS[0]), budgets=budgets, rate=5)
            for n in (2, 3)
        )
        await asyncio.gather(one, two)

    asyncio.run(run())
    assert min(gaps(site.requests())) >= 0.2 - SLACK
    assert budgets[HOSTS[0]].rules.delay == pytest.approx(0.2)


def test_the_more_polite_of_two_crawls_sets_the_pace(site: SiteProcess, tmp_path: Path) -> None:
    async def run() -> None:
        budgets = crawl4r.HostBudgets(HostRules(delay=0, per_host=8))
        hasty = crawling(
            tmp_path / "a", site.url("/site/5/", HOSTS[0]), budgets=budgets, rate=0, per_host=8
        )
        calm = crawling(tmp_path / "b", site.url("/site/6/", HOSTS[0]), budgets=budgets, rate=5)
        await asyncio.gather(calm, hasty)

    asyncio.run(run())
    assert_shared(site.requests(), delay=0.2)


def test_a_crawl_that_joins_does_not_shorten_a_wait_that_the_host_asked_for() -> None:
    """Its own memory of the host is older than what the others have just been told."""
    budgets = crawl4r.HostBudgets(HostRules(delay=0.1))
    host = budgets["example.org"]
    turn = host.begin(1000.0)
    assert turn is not None
    turn.end(1000.1, Health.OVERLOADED, 1000.0, 0.1, retry_after=60)
    assert host.ready_at(1000.2) >= 1060
    old = HostMemory("example.org", next_at=500.0, delay=0.1, failures=0, openings=0, open_until=0)
    budgets.restore([old], now=1000.2, wall=1000.2)
    assert host.ready_at(1000.2) >= 1060


def test_a_crawl_that_joins_does_not_close_a_breaker_that_is_open() -> None:
    budgets = crawl4r.HostBudgets(HostRules(delay=0.1))
    host = budgets["example.org"]
    for second in range(5):
        turn = host.begin(1000.0 + second)
        assert turn is not None
        turn.end(1000.1 + second, Health.SICK, 1000.0 + second, 0.1)
    assert host.ready_at(1005) > 1030
    old = HostMemory("example.org", next_at=500.0, delay=0.1, failures=0, openings=0, open_until=0)
    budgets.restore([old], now=1005.0, wall=1005.0)
    assert host.ready_at(1005) > 1030
