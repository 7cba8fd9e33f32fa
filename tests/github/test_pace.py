"""As slowly as the profile says, slower when the site asks for it, and no page twice for nothing."""

from __future__ import annotations

from pathlib import Path

from tests.github.crawling import crawl, pages_asked, prepare, rows_of, was_asked_for
from tests.github.repositories import BASKET, KITE, SLATE
from tests.github.server import GithubSite
from tests.polite.access import assert_polite

HOME = "https://github.com"


def test_the_profile_asks_for_one_page_a_second(github: GithubSite, tmp_path: Path) -> None:
    workspace, before = prepare(github, tmp_path, quick=False), len(github.requests())
    answer = crawl(workspace, "--max-pages", "3", seeds=[HOME + SLATE.path])
    assert (answer.code, answer.json["pages"]) == (0, 3)
    records = github.requests(before)
    assert len(records) == 4
    assert_polite(records, delay=1.0)


def test_a_429_is_waited_out_and_the_page_is_kept(github: GithubSite, tmp_path: Path) -> None:
    # The slow-down that follows one is capped, so that only Retry-After can be what is waited for.
    workspace = prepare(github, tmp_path, politeness={"rate": 0, "delay_cap": 0.1})
    path, seconds, before = f"{BASKET.path}/pulls", 2, len(github.requests())
    github.refuse_once(path, seconds)
    answer = crawl(workspace, "--depth", "1", seeds=[HOME + BASKET.path])
    assert (answer.code, answer.json["retries"]) == (0, 1)
    assert rows_of(workspace)[HOME + path]["verdict"] == "ok"
    records = sorted(github.requests(before), key=lambda record: record.arrived_monotonic)
    assert [record.status for record in records if record.path == path] == [429, 200]
    refused = next(record for record in records if record.status == 429)
    later = [r for r in records if r.arrived_monotonic > refused.ended_monotonic]
    assert later
    assert later[0].arrived_monotonic - refused.arrived_monotonic >= seconds


def test_a_second_run_asks_only_whether_pages_have_changed(
    github: GithubSite, tmp_path: Path
) -> None:
    workspace = prepare(github, tmp_path)
    depth, seeds = ("--depth", "1"), [HOME + KITE.path]
    first = crawl(workspace, *depth, seeds=seeds).json
    before = len(github.requests())
    second = crawl(workspace, *depth, "--refresh", seeds=seeds).json
    records = github.requests(before)
    kept = {url for url, row in rows_of(workspace).items() if was_asked_for(row)}
    assert {HOME + path for path in pages_asked(records)} == kept
    assert len(records) == len(kept) == first["pages"]  # and robots.txt is remembered
    assert {record.status for record in records} == {304}
    assert None not in {record.header("If-None-Match") for record in records}
    assert second["verdicts"] == {"not-modified": len(kept)}
    assert (second["pages"], second["documents"]) == (first["pages"], first["documents"])
