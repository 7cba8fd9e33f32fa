"""Separated mode on the command line: either side alone, both together, held and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from crawl4r.settings.load import load_settings
from crawl4r.wiring.parts import discoverer_folder
from crawl4r.wiring.spool import shared_budgets
from crawl4r.workspace.separated_run import DiscoverRun
from crawl4r.workspace.workspace import Workspace
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import LOOPBACK, Answer, Background, run, wait_until
from tests.polite.access import SLACK
from tests.site.process import SiteProcess

SIZE = 40


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def discover(site: SiteProcess, ws: Path, *options: str, path: str = f"/site/{SIZE}/") -> Answer:
    return run("spool", "discover", site.url(path), "-w", ws, *LOOPBACK, "--json", *options)


def scrape(ws: Path, *options: str) -> Answer:
    return run("spool", "scrape", "-w", ws, *LOOPBACK, "--json", *options)


def lines(ws: Path) -> list[dict[str, Any]]:
    found = []
    for folder in ("archived", "discoveries"):
        for segment in sorted((ws / "spool" / folder).glob("*.jsonl")):
            found += [json.loads(line) for line in segment.read_text().splitlines()]
    return found


def test_one_process_finds_and_another_fetches(site: SiteProcess, ws: Path) -> None:
    found = discover(site, ws)
    assert (found.code, found.json["done"]) == (0, SIZE)
    assert len(lines(ws)) == SIZE
    assert not (ws / "store").exists(), "a discoverer keeps no pages"
    fetched = scrape(ws)
    assert (fetched.code, fetched.json["pages"]) == (0, SIZE)
    assert run("status", "-w", ws, "--json").json["spool"]["backlog"] == 0
    assert_every_page_is_stored_once(ws, expected_bodies(site, SIZE))
    first, *others = lines(ws)
    assert first["referrer"] is None
    assert {line["referrer"] for line in others} <= {line["url"] for line in lines(ws)}
    row = next(row for row in crawl4r.open(ws, read_only=True).pages() if row.referrer)
    assert row.depth > 0


def test_a_discovery_carries_the_discoverers_own_answer_for_its_url(
    site: SiteProcess, ws: Path
) -> None:
    paths = ("/site/3/", "/redirect/1", "/status/404", "/status/503", "/close", "/endless")
    env = {
        "CRAWL4R_FETCH__RETRIES": "1",
        "CRAWL4R_FETCH__BACKOFF_BASE": "0.01",
        "CRAWL4R_FETCH__MAX_BYTES": "100000",
        "CRAWL4R_POLITENESS__DELAY_CAP": "0.01",
    }
    seeds = [site.url(path) for path in paths]
    assert run("spool", "discover", *seeds, "-w", ws, *LOOPBACK, "--json", env=env).code == 0
    told = {
        line["url"].removeprefix(site.url("").rstrip("/")): line["metadata"] for line in lines(ws)
    }
    assert len(told) == len(lines(ws)) == len(paths) + 3  # and what two of them lead to
    named = ("status_code", "content_length", "latency_ms")
    answers = {path: tuple(about[name] for name in named) for path, about in told.items()}
    assert {path: answer[0] for path, answer in answers.items()} == {
        "/site/3/": 200, "/site/3/p/1.html": 200, "/site/3/p/2.html": 200,
        "/redirect/1": 302, "/redirect/0": 200, "/status/404": 404, "/status/503": 503,
        "/close": None, "/endless": 200,
    }  # fmt: skip
    bodies = expected_bodies(site, 3)
    assert answers["/site/3/"][1] == len(bodies[site.url("/site/3/")])
    assert answers["/endless"][1] is None, "its body was too large to be taken"
    assert answers["/close"] == (None, None, None)
    assert all(latency >= 0 for _, _, latency in answers.values() if latency is not None)


def test_a_discovery_that_was_not_visited_yet_is_announced_by_the_run_that_visits_it(
    site: SiteProcess, ws: Path
) -> None:
    assert discover(site, ws, "--max-pages", "5").json["pages"] == 5
    assert len(lines(ws)) == 5
    assert discover(site, ws, "--max-pages", "1000").json["pages"] == SIZE
    assert Counter(line["url"] for line in lines(ws)) == dict.fromkeys(
        (line["url"] for line in lines(ws)), 1
    )
    assert len(lines(ws)) == SIZE
    assert {line["metadata"]["status_code"] for line in lines(ws)} == {200}


def test_a_discovery_again_carries_the_newest_answer(site: SiteProcess, ws: Path) -> None:
    discover(site, ws, path="/site/3/")
    discover(site, ws, "--refresh", path="/site/3/")
    again = [line["metadata"] for line in lines(ws) if line["metadata"].get("again")]
    assert len(again) == 3
    assert {(told["status_code"], told["content_length"]) for told in again} == {(304, 0)}


@pytest.mark.parametrize("told", [None, "false", "true"])
def test_either_side_writes_csv_unless_it_was_told_not_to(
    site: SiteProcess, ws: Path, told: str | None
) -> None:
    ws.mkdir()
    if told:
        (ws / "crawl4r.yaml").write_text(f"logs: {{enabled: {told}}}\n", "utf-8")
    for answer in (discover(site, ws, path="/site/3/"), scrape(ws)):
        assert answer.code == 0
    written = {file.name for file in (ws / "logs").glob("*.csv")}
    expected = {"pages.csv", "edges.csv", "discover_metrics.csv", "scrape_metrics.csv"}
    assert written == (set() if told == "false" else expected)


def test_both_sides_together_fetch_everything_once(site: SiteProcess, ws: Path) -> None:
    answer = run("spool", "run", site.url(f"/site/{SIZE}/"), "-w", ws, *LOOPBACK, "--json")
    assert (answer.code, answer.json["pages"]) == (0, SIZE)
    assert_every_page_is_stored_once(ws, expected_bodies(site, SIZE))
    asked = Counter(r.path for r in site.requests() if r.path.startswith("/site/"))
    assert set(asked.values()) == {2}, "once by each side"


def test_two_processes_are_as_polite_as_one(site: SiteProcess, ws: Path) -> None:
    """The server's own log: never two at once, and the gap between any two requests."""
    options = ("--allow-private", "127.0.0.1", "--rate", "20")
    answer = run("spool", "run", site.url("/site/12/"), "-w", ws, *options, "--json")
    assert answer.json["pages"] == 12
    requests = sorted(site.requests(), key=lambda record: record.arrived_monotonic)
    assert len(requests) >= 26  # each page and robots.txt, twice
    assert {record.in_flight for record in requests} == {1}
    for one, next_one in pairwise(requests):
        assert next_one.arrived_monotonic - one.arrived_monotonic >= 0.05 - SLACK


def test_a_second_scrape_of_an_unchanged_site_gets_304s_and_stores_nothing(
    site: SiteProcess, ws: Path
) -> None:
    discover(site, ws)
    first = scrape(ws).json
    again = scrape(ws, "--refresh").json
    assert again["verdicts"] == {"not-modified": SIZE}
    assert again["stored_bytes"] == first["stored_bytes"]
    with crawl4r.open(ws, read_only=True) as opened:
        captures = list(opened.captures.after(0))
    earlier = {capture.url: capture.sha256 for capture in captures[:SIZE]}
    assert {capture.url: capture.sha256 for capture in captures[SIZE:]} == earlier


def test_a_discoverer_waits_for_a_scraper_that_is_behind(site: SiteProcess, ws: Path) -> None:
    small = {"CRAWL4R_SPOOL__MAX_BACKLOG": "10"}
    arguments = ("spool", "discover", site.url(f"/site/{SIZE}/"), "-w", ws, *LOOPBACK, "--json")
    site.hold(after=13)  # robots.txt, probes and ten pages: until it has looked how far ahead it is
    with Background(*arguments, env=small) as discoverer:
        discoverer.wait_until_it_says("backlog_full")
        site.release()
        wait_until(lambda: site.in_flight() == 0)
        asked = len(site.requests())
        for _ in range(3):
            discoverer.come_round()
        assert len(site.requests()) <= asked + 1, "it asks for nothing more while it is held"
        assert len(lines(ws)) < SIZE
        status = run("status", "-w", ws, "--json").json
        assert status["spool"]["backlog"] >= 10
        assert status["spool"]["is_held"] is True
        fetched = run("spool", "scrape", "-w", ws, *LOOPBACK, "--json", env=small)
        ended = discoverer.end()
    assert "backlog_drained" in ended.err
    assert (ended.code, fetched.code, fetched.json["pages"]) == (0, 0, SIZE)
    assert_every_page_is_stored_once(ws, expected_bodies(site, SIZE))


@pytest.mark.parametrize("name", ["pause", "pause.scrape"])
def test_a_pause_file_holds_a_crawl_until_it_is_gone(
    site: SiteProcess, ws: Path, name: str
) -> None:
    discover(site, ws)
    before = len(site.requests())
    (ws / name).touch()
    with Background("spool", "scrape", "-w", ws, *LOOPBACK, "--json") as scraper:
        scraper.wait_until_it_says("crawl_paused")
        for _ in range(3):
            scraper.come_round()
        assert len(site.requests()) <= before + 1
        assert run("status", "-w", ws, "--json").json["control"] == [name]
        health = json.loads((ws / "health.json").read_text())
        assert (health["state"], health["why"]) == ("paused", f"paused by {ws / name}")
        told = run("status", "-w", ws, "--json").json["resilience"]
        assert (told["state"], told["why"]) == (health["state"], health["why"])
        assert "health: paused" in run("status", "-w", ws).text
        (ws / name).unlink()
        ended = scraper.end()
    assert "crawl_unpaused" in ended.err
    assert (ended.code, ended.json["pages"]) == (0, SIZE)


def test_a_stop_file_ends_either_side_and_the_same_command_goes_on(
    site: SiteProcess, ws: Path
) -> None:
    options = ("-w", ws, *LOOPBACK, "--json", "--verbose")
    site.hold(after=5)
    with Background("spool", "discover", site.url(f"/site/{SIZE}/"), *options) as discoverer:
        wait_until(lambda: site.held() == 1)
        assert run("stop", "-w", ws, "--only", "discover").code == 0
        discoverer.wait_until_it_says("crawl_stopping")
        site.release()
        assert discoverer.end().code == 3
    assert 5 <= len(lines(ws)) <= SIZE
    assert discover(site, ws).code == 0
    site.hold(after=5)
    with Background("spool", "scrape", *options) as scraper:
        wait_until(lambda: site.held() == 1)
        (ws / "stop").touch()
        scraper.wait_until_it_says("crawl_stopping")
        site.release()
        assert scraper.end().code == 3
    assert scrape(ws).code == 0
    assert not (ws / "stop").exists(), "it was for the run before"
    assert_every_page_is_stored_once(ws, expected_bodies(site, SIZE))


def test_a_unified_crawl_obeys_the_same_files(site: SiteProcess, ws: Path) -> None:
    ws.mkdir()
    run("pause", "-w", ws)
    arguments = ("crawl", site.url("/site/30/"), "-w", ws, *LOOPBACK, "--json")
    with Background(*arguments) as crawl:
        crawl.wait_until_it_says("crawl_paused")
        assert run("pause", "-w", ws, "--off", "--json").json["paused"] is False
        assert crawl.end().json["pages"] == 30
    site.hold(after=5)
    arguments = ("crawl", site.url(f"/site/{SIZE}/"), "-w", ws, *LOOPBACK, "--json", "--verbose")
    with Background(*arguments) as crawl:
        wait_until(lambda: site.held() == 1)
        run("stop", "-w", ws)
        crawl.wait_until_it_says("crawl_stopping")
        site.release()
        assert crawl.end().code == 3


def test_a_spool_of_another_program_is_fetched(site: SiteProcess, ws: Path) -> None:
    folder = ws / "spool" / "discoveries"
    folder.mkdir(parents=True)
    urls = [site.url(f"/site/9/p/{n}.html") for n in range(1, 6)]
    text = "".join(json.dumps({"url": url}) + "\n" for url in urls)
    segment = folder / "discoveries-20200101T000000-000001.jsonl"
    segment.write_text(text + "nonsense\n" + '{"url": "http://e.org/half')
    answer = scrape(ws)
    assert (answer.code, answer.json["pages"]) == (0, 5)
    assert "spool_lines_skipped" in answer.err
    assert {row.url for row in crawl4r.open(ws, read_only=True).pages()} == set(urls)


@pytest.mark.parametrize("is_ours", [True, False])
def test_redirects_are_followed_by_whoever_knows_of_them(
    site: SiteProcess, ws: Path, is_ours: bool
) -> None:
    """The discoverer announces targets; for the lines of another program the scraper follows them."""
    start, *hops = (site.url(f"/redirect/{left}") for left in (3, 2, 1, 0))
    if is_ours:
        discover(site, ws, path="/redirect/3")
        assert [line["url"] for line in lines(ws)] == [start, *hops]
    else:
        (ws / "spool" / "discoveries").mkdir(parents=True)
        segment = ws / "spool" / "discoveries" / "discoveries-20200101T000000-000001.jsonl"
        segment.write_text(json.dumps({"url": start}) + "\n")
    before = len(site.requests())
    answer = scrape(ws, "--no-probe")
    assert (answer.code, answer.json["verdicts"]) == (0, {"redirect": 3, "ok": 1})
    asked = [r.path for r in site.requests()[before:] if r.path.startswith("/redirect")]
    assert sorted(asked) == [f"/redirect/{left}" for left in range(4)]


def test_a_corrupt_bookmark_costs_nothing(site: SiteProcess, ws: Path) -> None:
    discover(site, ws)
    scrape(ws)
    with crawl4r.open(ws) as opened:
        opened.notes.put("spool_bookmark", "\x00nonsense")
        opened.database.commit()
    before = len(site.requests())
    answer = scrape(ws)
    assert (answer.code, answer.json["pages"], answer.json["visits"]) == (0, SIZE, 0)
    assert len(site.requests()) == before


def test_missing_segments_lose_only_what_they_held(site: SiteProcess, ws: Path) -> None:
    discover(site, ws)
    (segment,) = (ws / "spool" / "discoveries").iterdir()
    rows = segment.read_text().splitlines(keepends=True)
    later = segment.with_name("discoveries-99990101T000000-000002.jsonl")
    later.write_text("".join(rows[20:]))
    segment.unlink()
    answer = scrape(ws)
    assert (answer.code, answer.json["pages"]) == (0, SIZE - 20)


@pytest.mark.parametrize(("policy", "places"), [("archive", 1), ("delete", 0), ("keep", 1)])
def test_drained_segments_are_put_away_as_told(
    site: SiteProcess, ws: Path, policy: str, places: int
) -> None:
    discover(site, ws)
    folder = ws / "spool" / "discoveries"
    (segment,) = folder.iterdir()
    line = segment.read_text().splitlines()[0]
    (folder / "discoveries-99990101T000000-000002.jsonl").write_text(line + "\n")
    env = {"CRAWL4R_SPOOL__DRAINED": policy}
    assert run("spool", "scrape", "-w", ws, *LOOPBACK, "--json", env=env).code == 0
    archived = list((ws / "spool" / "archived").glob("*"))
    assert [path.name for path in archived] == ([segment.name] if policy == "archive" else [])
    assert segment.exists() == (policy == "keep")
    assert len(archived) + segment.exists() == places


def test_pages_that_are_announced_again_are_visited_again(site: SiteProcess, ws: Path) -> None:
    discover(site, ws)
    scrape(ws)
    before = len(site.requests())
    assert discover(site, ws, "--refresh").code == 0
    again = [line for line in lines(ws) if line["metadata"].get("again")]
    assert len(again) == SIZE
    answer = scrape(ws)
    assert (answer.json["visits"], answer.json["pages"]) == (SIZE, SIZE)
    asked = Counter(r.path for r in site.requests()[before:] if r.path.startswith("/site/"))
    assert set(asked.values()) == {2}
    assert scrape(ws).json["visits"] == 0


def test_nothing_to_scrape_says_what_to_do(ws: Path) -> None:
    answer = scrape(ws)
    assert answer.code == 2
    assert "crawl4r spool discover" in answer.err


def test_a_scraper_that_follows_waits_for_its_discoverer(site: SiteProcess, ws: Path) -> None:
    with Background("spool", "scrape", "-w", ws, *LOOPBACK, "--json", "--follow") as scraper:
        wait_until((ws / "spool" / "progress.json").exists)
        assert discover(site, ws).code == 0
        wait_until(lambda: _pages(ws) == SIZE)
        scraper.send(signal.SIGTERM)
        assert scraper.end().json["pages"] == SIZE


def _pages(ws: Path) -> int:
    return int(run("status", "-w", ws, "--json").json["pages"])


def test_types_that_are_not_wanted_are_seen_and_not_kept(site: SiteProcess, ws: Path) -> None:
    env = {"CRAWL4R_FETCH__TYPES": "[text/html]"}
    plain = site.url("/")  # a listing, as text
    answer = run("crawl", plain, "-w", ws, *LOOPBACK, "--json", env=env)
    assert answer.json["verdicts"] == {"unwanted-type": 1}
    (row,) = crawl4r.open(ws, read_only=True).pages()
    assert (row.state, row.sha256, row.verdict) == ("done", None, "unwanted-type")
    bad = run("crawl", plain, "-w", ws, *LOOPBACK, env={"CRAWL4R_FETCH__TYPES": "[html]"})
    assert bad.code == 2
    assert "fetch.types" in bad.err


def test_a_killed_scraper_takes_its_discoverer_with_it(site: SiteProcess, ws: Path) -> None:
    arguments = ("spool", "run", site.url(f"/site/{SIZE}/"), "-w", ws, *LOOPBACK, "--json")
    site.hold(after=6)
    with Background(*arguments) as both:
        wait_until(lambda: site.held() > 0)
        child = int((ws / "spool" / "discover" / "crawl.lock").read_text())
        os.kill(both.process.pid, signal.SIGKILL)
        both.process.wait()
        wait_until(lambda: "finishing the pages in flight" in both.err)
        site.release()
        wait_until(lambda: not Path(f"/proc/{child}").exists())
    answer = run(*arguments)
    assert (answer.code, answer.json["pages"]) == (0, SIZE)
    assert_every_page_is_stored_once(ws, expected_bodies(site, SIZE))


def test_a_discoverer_reads_no_documents_also_after_its_settings_were_loaded_again(
    site: SiteProcess, ws: Path
) -> None:
    private = {"network": {"allow_private": ["127.0.0.1"]}, "politeness": {"rate": 0}}
    settings = load_settings(overrides=private)

    async def discovered() -> DiscoverRun:
        urls = (site.url("/site/3/"),)
        workspace = Workspace(discoverer_folder(ws), settings, home=ws)
        budgets = shared_budgets(ws, settings)
        run = DiscoverRun(workspace.parts, settings, urls, budgets, workspace=ws)
        async with workspace:
            await run.finish()
            run.reload(settings)
        return run

    run = asyncio.run(discovered())
    assert run.visits() == 3
    assert not run.settings.content.extract
