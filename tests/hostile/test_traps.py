"""Sites without an end: a cap ends them, and the page caps are exact."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.crawling.loop import EndedBy
from tests.hostile.crawling import crawl, quick_settings
from tests.site.process import SiteProcess

TRAPS = ["/calendar/2024/01/", "/facets", "/deeper/"]


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.mark.parametrize("trap", TRAPS)
def test_a_cap_of_pages_ends_a_trap_exactly(site: SiteProcess, tmp_path: Path, trap: str) -> None:
    before = len(site.requests())
    crawled = crawl(tmp_path, [site.url(trap)], quick_settings(limits={"pages": 40}))
    assert crawled.ended_by is EndedBy.MAX_PAGES
    assert len(crawled.urls("ok")) == 40
    assert len(site.requests()) - before == 41  # and robots.txt


def test_pages_that_say_they_are_missing_are_not_followed(
    site: SiteProcess, tmp_path: Path
) -> None:
    crawled = crawl(tmp_path, [site.url("/soft-404/start")])
    assert crawled.ended_by is EndedBy.NOTHING_LEFT
    assert [row.verdict for row in crawled.rows.values()] == ["soft-404"]


@pytest.mark.parametrize("trap", TRAPS)
def test_a_cap_of_depth_ends_a_trap_and_says_so(
    site: SiteProcess, tmp_path: Path, trap: str
) -> None:
    crawled = crawl(tmp_path, [site.url(trap)], quick_settings(limits={"depth": 2}))
    assert crawled.ended_by is EndedBy.NOTHING_LEFT
    kept = [row for row in crawled.rows.values() if row.verdict == "ok"]
    assert {row.depth for row in kept} == {0, 1, 2}
    beyond = [row for row in crawled.rows.values() if row.depth > 2]
    assert beyond
    assert {row.state for row in beyond} == {"refused"}
    assert {row.reason for row in beyond} == {"depth 3 is past the limit of 2"}


def test_a_cap_of_a_group_ends_a_calendar_and_says_so(site: SiteProcess, tmp_path: Path) -> None:
    limits = {"groups": {"year": {"per": r"/calendar/(\d+)/", "max": 3}}, "depth": 8}
    crawled = crawl(tmp_path, [site.url(TRAPS[0])], quick_settings(limits=limits))
    years: dict[str, int] = {}
    for url in crawled.urls("ok"):
        year = url.split("/calendar/")[1][:4]
        years[year] = years.get(year, 0) + 1
    assert max(years.values()) == 3
    assert "2024" in years
    assert crawled.urls("capped")


def test_session_ids_in_links_are_one_page_each(site: SiteProcess, tmp_path: Path) -> None:
    crawled = crawl(tmp_path, [site.url("/session/")], quick_settings(limits={"pages": 60}))
    assert crawled.ended_by is EndedBy.NOTHING_LEFT
    assert crawled.urls("ok") == {
        site.url("/session/"),
        *(site.url(f"/session/?page={page}") for page in (1, 2, 3)),
    }


def test_a_path_that_grows_for_ever_ends_where_urls_become_too_long(
    site: SiteProcess, tmp_path: Path
) -> None:
    crawled = crawl(tmp_path, [site.url("/deeper/")])
    assert crawled.ended_by is EndedBy.NOTHING_LEFT
    assert 200 < len(crawled.urls("ok")) < 300
    assert max(map(len, crawled.rows)) <= 2048


def test_a_cap_of_bytes_or_of_seconds_ends_a_trap(site: SiteProcess, tmp_path: Path) -> None:
    by_bytes = crawl(
        tmp_path / "bytes", [site.url(TRAPS[0])], quick_settings(limits={"bytes": 20_000})
    )
    assert by_bytes.ended_by is EndedBy.MAX_BYTES
    by_time = crawl(
        tmp_path / "time", [site.url(TRAPS[0])], quick_settings(limits={"seconds": 0.5})
    )
    assert by_time.ended_by is EndedBy.MAX_SECONDS
