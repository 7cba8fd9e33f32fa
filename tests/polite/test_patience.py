"""Servers that ask for time get it, and what they ask for is not asked of others."""

import contextlib
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from tests.polite.access import SLACK, by_host, crawl, gaps
from tests.site.process import SiteProcess

HOSTS = [f"127.0.4.{number}" for number in range(1, 9)]
HERE, *OTHERS = HOSTS


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=HOSTS) as running:
        yield running


def leaves(site: SiteProcess, count: int) -> list[str]:
    """Pages without links."""
    return [site.url(f"/links/leaf-{number}.html", HERE) for number in range(count)]


@pytest.mark.parametrize(("status", "seconds"), [(429, 2), (503, 3)])
def test_retry_after_in_seconds_is_kept_by_every_page_of_the_host(
    site: SiteProcess, tmp_path: Path, status: int, seconds: int
) -> None:
    flaky = site.url(f"/flaky/one?fail=1&status={status}&retry_after={seconds}", HERE)
    elsewhere = site.url("/site/3/", OTHERS[0])
    verdicts = crawl(tmp_path, flaky, *leaves(site, 3), elsewhere, rate=0)
    assert set(verdicts.values()) == {"ok"}
    requests = by_host(site.requests())
    refused = next(r for r in requests[HERE] if r.status == status)
    arrivals = [r.arrived_monotonic for r in requests[HERE]]
    later = min(arrived for arrived in arrivals if arrived > refused.arrived_monotonic)
    assert later - refused.arrived_monotonic >= seconds - SLACK
    assert requests[OTHERS[0]][-1].arrived_monotonic < later


def test_retry_after_as_a_date_is_kept(site: SiteProcess, tmp_path: Path) -> None:
    flaky = site.url("/flaky/one?fail=1&retry_after=date:2&status=503", HERE)
    assert crawl(tmp_path, flaky, rate=0) == {flaky: "ok"}
    _, refused, again = by_host(site.requests())[HERE]
    assert (refused.status, again.status) == (503, 200)
    # An HTTP date has whole seconds.
    assert again.arrived_wall >= math.floor(refused.arrived_wall + 2)


def test_retry_after_outlives_the_process_that_was_told(site: SiteProcess, tmp_path: Path) -> None:
    flaky = site.url("/flaky/one?fail=1&status=503&retry_after=3", HERE)
    crawl(
        *(tmp_path, flaky),
        rate=0,
        when=lambda: has_noted_an_attempt(tmp_path),
        then=lambda run: run.stop_now(),
    )
    crawl(tmp_path, *leaves(site, 1), rate=0)
    requests = [r for r in by_host(site.requests())[HERE] if r.path != "/robots.txt"]
    assert [r.status for r in requests] == [503, 200, 200]
    assert requests[1].arrived_monotonic - requests[0].arrived_monotonic >= 3 - SLACK


def has_noted_an_attempt(workspace: Path) -> bool:
    """With what the host asked for: both are of one commit."""
    with contextlib.closing(sqlite3.connect(workspace / "state.db")) as state:
        return bool(state.execute("SELECT count(*) FROM attempts").fetchone()[0])


def test_a_429_slows_its_host_down_and_success_speeds_it_up_again(
    site: SiteProcess, tmp_path: Path
) -> None:
    flaky = site.url("/flaky/one?fail=1&status=429", HERE)
    budgets = crawl4r.HostBudgets()
    verdicts = crawl(tmp_path, flaky, site.url("/site/5/", HERE), rate=10, budgets=budgets)
    assert set(verdicts.values()) == {"ok"}
    requests = by_host(site.requests())[HERE]
    refused = next(number for number, r in enumerate(requests) if r.status == 429)
    after = gaps(requests[refused:])
    assert after[0] >= 1 - SLACK  # ten times the configured pace
    assert min(after) >= 0.2
    (budget,) = budgets
    assert 0.1 <= budget.delay < 0.9
    assert max(r.in_flight for r in requests) == 1


def test_a_slow_host_slows_nobody_else_down(site: SiteProcess, tmp_path: Path) -> None:
    seeds = [site.url("/site/10/", host) for host in OTHERS]
    site.hold(HERE)

    def all_others_are_done() -> bool:
        asked = by_host(site.requests())
        return all(len(asked.get(host, [])) == 11 for host in OTHERS)

    pace = {"rate": 0, "per_host": 1, "concurrency": 4}
    release = lambda run: site.release(HERE)  # noqa: E731
    crawl(tmp_path, *leaves(site, 2), *seeds, **pace, when=all_others_are_done, then=release)
    assert len(by_host(site.requests())[HERE]) == 3


def test_hosts_whose_robots_txt_is_down_hold_nobody_else_up(tmp_path: Path) -> None:
    """Waiting to ask again is no reason to keep one of the few places at work."""
    down = OTHERS[:4]
    with SiteProcess(hosts=HOSTS, robots=dict.fromkeys(down, "status:503")) as site:
        seeds = [site.url("/site/3/", host) for host in down]
        verdicts = crawl(
            *(tmp_path, *seeds, site.url("/site/20/", HERE)),
            **{"rate": 0, "concurrency": 2},
            when=lambda: len(by_host(site.requests()).get(HERE, [])) == 21,
            then=lambda run: run.stop_now(),
        )
    assert {verdicts[seed] for seed in seeds} == {None}, "they were not given up before that"


def test_hosts_that_asked_for_time_hold_nobody_else_up(site: SiteProcess, tmp_path: Path) -> None:
    busy = [site.url("/flaky/one?fail=1&status=503&retry_after=3", host) for host in OTHERS[:4]]
    crawl(tmp_path, *busy, site.url("/site/20/", HERE), rate=0, concurrency=2)
    requests = by_host(site.requests())
    again = [requests[host][-1] for host in OTHERS[:4]]
    assert {record.status for record in again} == {200}
    assert requests[HERE][-1].arrived_monotonic < min(r.arrived_monotonic for r in again)


def test_a_host_that_keeps_failing_is_left_alone_for_a_while(
    site: SiteProcess, tmp_path: Path
) -> None:
    seeds = [site.url(f"/status/500?n={number}", HERE) for number in range(20)]
    # A crawl with so many pages of the other host has had time to fetch these.
    verdicts = crawl(
        *(tmp_path, *seeds, site.url("/site/60/", OTHERS[0])),
        rate=0,
        when=lambda: len(by_host(site.requests()).get(OTHERS[0], [])) == 61,
        then=lambda run: run.stop_now(),
    )
    assert len(verdicts) == 80
    # robots.txt, then the five failures that open the breaker
    assert len(by_host(site.requests())[HERE]) == 6
