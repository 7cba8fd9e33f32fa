"""Bombs under the default limits, and pages that a reader cannot digest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fetch.memory import MEGABYTE, watch_memory
from tests.hostile.crawling import crawl, quick_settings
from tests.site.process import SiteProcess

KINDS = ("gzip", "br", "zstd", "double-gzip")
PATIENT = {"timeout": 20}  # the site takes a while to make a bomb


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=[f"127.0.0.{number}" for number in range(1, 9)]) as running:
        yield running


def test_bombs_under_the_default_limits_do_not_make_memory_grow(
    site: SiteProcess, tmp_path: Path
) -> None:
    seeds = [
        site.url(f"/bomb/{kind}?mb=100&n={number}", f"127.0.0.{number}")
        for number in range(1, 3)
        for kind in KINDS
    ]
    with watch_memory() as growth:
        crawled = crawl(tmp_path, seeds, quick_settings(fetch=PATIENT))
    assert {row.verdict for row in crawled.rows.values()} == {"too-large"}
    assert growth.remaining < 60 * MEGABYTE
    assert growth.peak < 150 * MEGABYTE


def test_endless_bodies_at_once_cost_no_more_than_their_limits(
    site: SiteProcess, tmp_path: Path
) -> None:
    seeds = [site.url("/endless", f"127.0.0.{number}") for number in range(1, 9)]
    with watch_memory() as growth:
        crawled = crawl(tmp_path, seeds, quick_settings(fetch={"max_bytes": 8 * MEGABYTE}))
    assert {row.verdict for row in crawled.rows.values()} == {"too-large"}
    assert growth.peak < 150 * MEGABYTE


def test_a_reader_that_was_killed_takes_no_other_page_with_it(
    site: SiteProcess, tmp_path: Path
) -> None:
    hostile = [site.url(f"/stray?x={number}") for number in range(2)]
    settings = quick_settings(reading={"seconds": 1})
    crawled = crawl(tmp_path, [*hostile, site.url("/site/20/")], settings)
    assert all(crawled.rows[url].verdict in {"unreadable", "ok"} for url in hostile)
    pages = {url for url in crawled.urls("ok") if "/site/20/" in url}
    assert len(pages) == 20


def test_a_reader_without_memory_is_a_named_outcome_and_not_the_end(
    site: SiteProcess, tmp_path: Path
) -> None:
    settings = quick_settings(reading={"memory_mb": 64, "seconds": 10}, fetch=PATIENT)
    crawled = crawl(tmp_path, [site.url("/big?mb=30"), site.url("/site/3/")], settings)
    row = crawled.rows[site.url("/big?mb=30")]
    assert (row.verdict, row.state) == ("unreadable", "done")
    assert row.reason
    assert len(crawled.urls("ok")) == 3


def test_a_page_with_more_links_than_are_kept_says_so(site: SiteProcess, tmp_path: Path) -> None:
    settings = quick_settings(scope={"deny": ["/links/many/"]})
    crawled = crawl(tmp_path, [site.url("/many-links?n=20000")], settings)
    page = crawled.rows.pop(site.url("/many-links?n=20000"))
    assert page.verdict == "ok"
    assert len(crawled.rows) == 20_000 or "links" in (page.reason or "")


def test_fifty_thousand_attributes_do_not_hide_the_link_behind_them_or_are_hostile(
    site: SiteProcess, tmp_path: Path
) -> None:
    settings = quick_settings(reading={"seconds": 10})
    crawled = crawl(tmp_path, [site.url("/attributes?n=20000")], settings)
    page = crawled.rows[site.url("/attributes?n=20000")]
    assert page.verdict == "unreadable" or site.url("/links/deep.html") in crawled.urls("ok")
