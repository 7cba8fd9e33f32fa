"""Guessed URLs are told apart from those that a site names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.running import LOOPBACK, Answer, run
from tests.worlds.news import News
from tests.worlds.process import WorldProcess

EXPLORE = {"CRAWL4R_EXPLORE__ENABLED": "true"}


@pytest.fixture
def site() -> Iterator[WorldProcess]:
    with WorldProcess(News(articles=60, sitemaps=False)) as running:
        yield running


def _crawl(workspace: Path, *words: str) -> Answer:
    return run("crawl", *words, "-w", workspace, *LOOPBACK, "--no-extract", env=EXPLORE)


def _rows(workspace: Path, *words: str) -> list[dict[str, object]]:
    return run("pages", "-w", workspace, *words, "--json").lines


def test_guesses_that_failed_are_no_failures_of_the_site(
    site: WorldProcess, tmp_path: Path
) -> None:
    told = _crawl(tmp_path, site.url("/"), "--json").json
    guesses = _rows(tmp_path, "--found-by", "guesses")
    failed = [row for row in guesses if row["status"] == 404]
    assert len(failed) > 4
    assert told["guesses"]["failed"] == len(failed)
    assert told["guesses"]["asked"] == len(guesses)
    assert told["endings"] == []
    assert "http-error" not in told["verdicts"]
    assert told["known"] == told["done"] == told["pages"]
    status = run("status", "-w", tmp_path, "--json").json
    assert status["guesses"] == told["guesses"]
    assert status["urls"] == {"done": told["pages"]}


def test_a_person_sees_at_once_whose_urls_were_not_there(
    site: WorldProcess, tmp_path: Path
) -> None:
    summary = _crawl(tmp_path, site.url("/")).text
    count = len(_rows(tmp_path, "--found-by", "guesses"))
    words = f"guesses of ours, {count} not there"
    assert words in summary
    assert "http-404" not in summary
    assert words in run("status", "-w", tmp_path).text
    report = run("report", "127.0.0.1", "-w", tmp_path, "--json").json
    assert report["requests"]["kinds"]["guesses"] == count
    assert [each["reason"] for each in report["errors"]] == ["http-404 (a guess of ours)"]


def test_every_url_says_how_it_was_found(site: WorldProcess, tmp_path: Path) -> None:
    _crawl(tmp_path, site.url("/"))
    everything = _rows(tmp_path)
    links, guesses = (_rows(tmp_path, "--found-by", who) for who in ("links", "guesses"))
    assert len(links) + len(guesses) == len(everything)
    assert {row["found_by"] for row in guesses} <= {
        "usual-sitemap",
        "usual-place",
        "date-pattern",
        "pagination",
    }
    assert {"seed", "link"} <= {row["found_by"] for row in links}
    assert "usual-sitemap" in run("pages", "-w", tmp_path, "--found-by", "guesses").text


@pytest.mark.parametrize("again", [["--refresh"], ["--refresh", "--budget", "1000"]])
def test_a_refresh_repeats_no_guess_that_failed_and_no_probe(
    site: WorldProcess, tmp_path: Path, again: list[str]
) -> None:
    _crawl(tmp_path, site.url("/"))
    before = len(site.requests())
    _crawl(tmp_path, *again)
    asked = site.requests()[before:]
    assert len(asked) > 60
    assert Counter(record.status for record in asked).keys() <= {200, 304}
    assert not [record for record in asked if "missing-page" in record.path]


def test_retrying_what_failed_repeats_no_guess(tmp_path: Path) -> None:
    news = News(articles=40, sitemaps=False)
    with WorldProcess(news) as site:
        _crawl(tmp_path, site.url("/"))
        before = len(site.requests())
        answer = _crawl(tmp_path, "--retry-failed")
        assert answer.code == 0
        assert site.requests()[before:] == []
