"""One request at a time, as far apart as configured, robots.txt first and obeyed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.workspace.run import CrawlRun
from tests.polite.access import SLACK, assert_polite, by_host, crawl, gaps
from tests.site.access_log import AccessRecord
from tests.site.process import SiteProcess

HOSTS = [f"127.0.3.{number}" for number in range(1, 21)]
DENIED = "/site/6/p/3.html"
RULES = f"User-agent: *\nDisallow: {DENIED}\n"
CRAWL_DELAY = 0.3


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SiteProcess]:
    """Fresh for each test, so that its log is the test's own."""
    rules = tmp_path / "robots.txt"
    rules.write_text(RULES)
    with SiteProcess(hosts=HOSTS, robots_files=dict.fromkeys(HOSTS, rules)) as running:
        yield running


@pytest.fixture
def slow_site(tmp_path: Path) -> Iterator[SiteProcess]:
    """Asks for a delay that its visitors would not keep by themselves."""
    rules = tmp_path / "robots.txt"
    rules.write_text(f"{RULES}Crawl-delay: {CRAWL_DELAY}\n")
    with SiteProcess(hosts=HOSTS[:3], robots_files=dict.fromkeys(HOSTS, rules)) as running:
        yield running


def pages(records: list[AccessRecord]) -> list[AccessRecord]:
    return [record for record in records if record.path != "/robots.txt"]


def test_by_default_one_request_a_second_one_at_a_time(site: SiteProcess, tmp_path: Path) -> None:
    verdicts = crawl(tmp_path / "ws", site.url("/site/5/", HOSTS[0]))
    assert list(verdicts.values()) == ["ok"] * 5
    assert len(site.requests()) == 6
    assert_polite(site.requests(), delay=1.0)


def test_twenty_hosts_at_once_each_get_the_configured_pace(
    site: SiteProcess, tmp_path: Path
) -> None:
    seeds = [site.url("/site/6/", host) for host in HOSTS]
    for host in HOSTS:
        site.hold(host)

    def all_are_asked() -> bool:
        return all(site.held(host) == 1 for host in HOSTS)

    def let_them_answer(run: CrawlRun) -> None:
        for host in HOSTS:
            site.release(host)

    pace = {"rate": 10, "per_host": 1, "concurrency": 40}
    verdicts = crawl(tmp_path / "ws", *seeds, **pace, when=all_are_asked, then=let_them_answer)
    assert sorted(set(verdicts.values()), key=str) == ["ok", "robots-denied"]
    requests = by_host(site.requests())
    assert {host: len(asked) for host, asked in requests.items()} == dict.fromkeys(HOSTS, 6)
    assert_polite(site.requests(), delay=0.1)


def test_a_forbidden_path_is_never_asked_for(site: SiteProcess, tmp_path: Path) -> None:
    host = HOSTS[0]
    seeds = [site.url("/site/6/", host), site.url(DENIED, host)]
    verdicts = crawl(tmp_path / "ws", *seeds, rate=0, per_host=4)
    assert verdicts[site.url(DENIED, host)] == "robots-denied"
    asked = [record.path for record in site.requests()]
    assert asked[0] == "/robots.txt"
    assert asked.count("/robots.txt") == 1
    assert DENIED not in asked
    assert len(asked) == 6


@pytest.mark.parametrize("per_host", [1, 4])
def test_a_page_that_is_never_asked_for_costs_no_waiting(
    site: SiteProcess, tmp_path: Path, per_host: int
) -> None:
    host = HOSTS[0]
    seeds = [site.url(f"{DENIED}?n={number}", host) for number in range(4)]
    seeds.append(site.url("/links/leaf.html", host))
    verdicts = crawl(tmp_path / "ws", *seeds, rate=0.5, per_host=per_host)
    assert list(verdicts.values()).count("robots-denied") == 4
    (gap,) = gaps(site.requests())
    assert gap < 2 * 2.0, "from robots.txt to the page, as if there was nothing between them"


def test_no_more_than_the_configured_number_at_once(site: SiteProcess, tmp_path: Path) -> None:
    host = HOSTS[0]
    seeds = [site.url(f"/links/leaf-{number}.html", host) for number in range(12)]
    site.hold(host)
    crawl(
        *(tmp_path / "ws", *seeds),
        **{"rate": 0, "per_host": 3},
        when=lambda: site.held(host) == 3,
        then=lambda run: site.release(host),
    )
    assert max(record.in_flight for record in site.requests()) == 3


def test_a_crawl_delay_is_kept_between_pages(slow_site: SiteProcess, tmp_path: Path) -> None:
    seeds = [slow_site.url("/site/6/", host) for host in HOSTS[:3]]
    crawl(tmp_path / "ws", *seeds, rate=0, per_host=4)
    for asked in by_host(slow_site.requests()).values():
        assert len(asked) == 6
        assert min(gaps(pages(asked))) >= CRAWL_DELAY - SLACK


def test_a_crawl_delay_counts_from_the_robots_txt_that_asks_for_it(
    slow_site: SiteProcess, tmp_path: Path
) -> None:
    crawl(tmp_path / "ws", slow_site.url("/site/3/", HOSTS[0]), rate=0)
    assert_polite(slow_site.requests(), delay=CRAWL_DELAY)


def test_a_crawl_delay_is_remembered_by_the_next_run(
    slow_site: SiteProcess, tmp_path: Path
) -> None:
    crawl(tmp_path / "ws", slow_site.url("/site/6/", HOSTS[0]), rate=0, max_pages=2)
    before = len(slow_site.requests())
    crawl(tmp_path / "ws", rate=0)
    asked = slow_site.requests()[before:]
    assert "/robots.txt" not in {record.path for record in asked}
    assert len(asked) == 3
    assert min(gaps(asked)) >= CRAWL_DELAY - SLACK


def test_a_crawl_delay_shorter_than_the_pace_changes_nothing(
    slow_site: SiteProcess, tmp_path: Path
) -> None:
    crawl(tmp_path / "ws", slow_site.url("/site/2/", HOSTS[0]), rate=2)
    assert_polite(slow_site.requests(), delay=0.5)
