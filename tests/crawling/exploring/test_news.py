"""Exploring: sitemaps, lists and archives of a news site that links only a few of its pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from tests.interfaces.cli.running import LOOPBACK, Answer, run
from tests.worlds.news import News
from tests.worlds.process import WorldProcess

ON = {"CRAWL4R_EXPLORE__ENABLED": "true"}
ARTICLES = 600
FEW_LINKS: dict[str, Any] = {
    "sitemaps": False,
    "archives": False,
    "feed": False,
    "month_links": False,
    "pagination_links": "first-two",
}


def crawl(site: WorldProcess, ws: Path, *options: str) -> Answer:
    more = ("--per-host", "8", "--no-extract", "--json", *options)
    return run("crawl", site.url("/"), "-w", ws, *LOOPBACK, *more, env=ON)


@pytest.mark.parametrize(
    ("switches", "least"),
    [
        ({}, 0.99),
        ({"pagination_links": "first-two", "month_links": False}, 0.99),
        ({"sitemaps": False}, 0.95),
        ({"sitemaps": False, "pagination_links": "first-two"}, 0.90),
        (FEW_LINKS, 0.90),
    ],
    ids=["everything", "few links", "no sitemaps", "no links past page 2", "lists alone"],
)
def test_articles_that_the_front_page_hides_are_found(
    tmp_path: Path, switches: dict[str, Any], least: float
) -> None:
    news = News(articles=ARTICLES, **switches)
    with WorldProcess(news) as site:
        assert crawl(site, tmp_path / "ws").code == 0
        tally = news.truth().tally(site.requests())
    assert tally.articles >= least * ARTICLES
    assert tally.wasted + tally.repeated < 0.05 * tally.requests


def test_without_exploring_only_links_are_followed(tmp_path: Path) -> None:
    news = News(articles=ARTICLES, **FEW_LINKS)
    with WorldProcess(news) as site:
        crawl(site, tmp_path / "ws", "--no-explore")
        tally = news.truth().tally(site.requests())
    assert tally.articles == len(news.truth().linked_articles) < 0.9 * ARTICLES


def test_what_was_tried_in_vain_is_not_tried_by_the_next_run(tmp_path: Path) -> None:
    news = News(articles=100, **FEW_LINKS)
    with WorldProcess(news) as site:
        crawl(site, tmp_path / "ws")
        first = site.requests()
        crawl(site, tmp_path / "ws")
        later = [record.path for record in site.requests()[len(first) :]]
    asked = Counter(record.path for record in first)
    assert not [path for path in later if path in asked and path != "/robots.txt"]
    assert len(later) <= 3


def test_why_names_the_way_a_page_was_found(tmp_path: Path) -> None:
    news = News(articles=200)
    with WorldProcess(news) as site:
        crawl(site, tmp_path / "ws")
        with crawl4r.open(tmp_path / "ws", read_only=True) as opened:
            ways = Counter(opened.why(row.url)["found_by"] for row in opened.pages())
            (guess,) = (row for row in opened.pages() if row.url.endswith("/sitemaps/index.xml"))
            story = opened.why(guess.url)
            documents = [stored.document.url for stored in opened.documents()]
    assert ways["sitemap"] > 1
    assert (story["rule"], story["page_type"]) == ("named by robots.txt", "listing")
    assert not [url for url in documents if "sitemap" in url]


def test_a_depth_of_none_asks_for_nothing_else(tmp_path: Path) -> None:
    with WorldProcess(News(articles=50)) as site:
        crawl(site, tmp_path / "ws", "--depth", "0", "--no-probe")
        assert {record.path for record in site.requests()} == {"/", "/robots.txt"}


def test_sitemaps_are_read_once_a_run_however_soon_they_may_be_read_again(tmp_path: Path) -> None:
    env = ON | {"CRAWL4R_EXPLORE__AGAIN_AFTER": "0"}
    words = ("--per-host", "4", "--no-extract", "--json", "-w", tmp_path, *LOOPBACK)
    with WorldProcess(News(articles=20)) as site:
        for _ in range(2):  # the second run reads them again
            before = len(site.requests())
            assert run("crawl", site.url("/"), *words, env=env).code == 0
            asked = Counter(record.path for record in site.requests()[before:])
            sitemaps = {path: times for path, times in asked.items() if "sitemap" in path}
            assert sitemaps and set(sitemaps.values()) == {1}
