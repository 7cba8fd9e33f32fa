"""`crawl4r crawl --refresh --budget`: few requests, nearly all changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.clock import epoch_of
from tests.faults.killing import start_dying, was_killed
from tests.interfaces.cli.running import LOOPBACK, Answer, run
from tests.worlds.changing import Changing, ChangingSite

WORLD = Changing(pages=300, sitemap=False)
LEARNING = 3  # full refreshes
ROUNDS = 5
OPTIONS = (*LOOPBACK, "--per-host", "4", "--concurrency", "4", "--no-extract", "--json")


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(WORLD) as running:
        yield running


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def crawl(ws: Path, *options: str) -> Answer:
    answer = run("crawl", "-w", ws, *OPTIONS, *options)
    assert answer.code == 0, answer.err
    return answer


def pages_asked(site: ChangingSite, since: int) -> Counter[str]:
    paths = (record.path for record in site.requests()[since:])
    return Counter(path for path in paths if path != "/robots.txt")


def test_a_fifth_of_the_requests_finds_nearly_all_changes(site: ChangingSite, ws: Path) -> None:
    crawl(ws, site.url("/"))
    for _ in range(LEARNING):
        site.advance()
        assert crawl(ws, "--refresh").json["visits"] == 300
    found = total = 0
    seen: set[str] = set()
    for _ in range(ROUNDS):
        changed = WORLD.truth(site.advance()).changed
        before = len(site.requests())
        answer = crawl(ws, "--refresh", "--budget", "20%")
        asked = pages_asked(site, before)
        assert answer.json["visits"] == asked.total() == len(asked) == 60
        found, total = found + len(changed & asked.keys()), total + len(changed)
        seen |= asked.keys() - WORLD.lively()
    assert found >= 0.95 * total
    assert len(seen) > 100, "quiet pages get their share, in turn"


def test_a_budget_may_be_a_number_and_come_from_the_configuration(
    site: ChangingSite, ws: Path
) -> None:
    crawl(ws, site.url("/"))
    before = len(site.requests())
    crawl(ws, "--refresh", "--budget", "7")
    assert len(pages_asked(site, before)) == 7
    (ws / "crawl4r.yaml").write_text("limits: {revisits: 11}\n")
    before = len(site.requests())
    crawl(ws, "--refresh")
    assert len(pages_asked(site, before)) == 11
    before = len(site.requests())
    crawl(ws, "--budget", "0%", "--refresh")
    assert len(pages_asked(site, before)) == 0


@pytest.mark.parametrize("budget", ["many", "-3", "101%", "2.5", "20 %", "%"])
def test_a_budget_that_is_none_is_refused(ws: Path, budget: str) -> None:
    answer = run("crawl", "http://example.org/", "-w", ws, "--refresh", f"--budget={budget}")
    assert answer.code == 2
    assert "limits.revisits: must be a number of pages like 500, or a share of them" in answer.err


def test_a_budget_without_a_refresh_says_what_is_missing(ws: Path) -> None:
    answer = run("crawl", "http://example.org/", "-w", ws, "--budget", "5")
    assert (answer.code, "add --refresh" in answer.err) == (2, True)


def test_the_python_interface_takes_a_budget_too(site: ChangingSite, ws: Path) -> None:
    import asyncio

    crawl(ws, site.url("/"))

    async def refresh() -> int:
        pace = {"rate": 0, "allow_private": ["127.0.0.1"], "extract": False}
        async with crawl4r.open(ws, **pace) as opened:
            return len([page async for page in opened.crawl(refresh=True, budget=9)])

    assert asyncio.run(refresh()) == 9


@pytest.mark.parametrize("goes_on", ["the same command", "resume"])
def test_a_round_that_is_killed_goes_on_and_visits_no_page_twice(
    site: ChangingSite, ws: Path, goes_on: str
) -> None:
    crawl(ws, site.url("/"))
    begun = len(site.requests())
    command = ["crawl", "-w", ws, *OPTIONS, "--refresh", "--budget", "120"]
    assert was_killed(start_dying(*command, at="before commit state.db#12"))
    again = run(*(command if goes_on == "the same command" else ["resume", "-w", ws, "--json"]))
    assert again.code == 0
    asked = pages_asked(site, begun)
    assert len(asked) == 120
    assert asked.total() - 120 <= 4, "only what was in flight is asked for again"
    assert captured_since(ws, 300) == dict.fromkeys(asked, 1)
    # The next round is another one: what was visited just now can wait.
    before = len(site.requests())
    crawl(ws, "--refresh", "--budget", "120")
    next_round = pages_asked(site, before)
    assert len(next_round) == 120
    assert not next_round.keys() & asked.keys()


def captured_since(ws: Path, capture: int) -> dict[str, int]:
    with crawl4r.open(ws, read_only=True) as opened:
        urls = [found.url for found in opened.captures.after(capture)]
    return dict(Counter("/" + url.split("/", 3)[3] for url in urls))


def test_a_host_that_is_away_does_not_keep_the_others_from_their_next_round(ws: Path) -> None:
    impatient = {
        "CRAWL4R_POLITENESS__BREAKER_THRESHOLD": "1",
        "CRAWL4R_POLITENESS__BREAKER_COOLDOWN": "0",
        "CRAWL4R_POLITENESS__BREAKER_GIVE_UP": "1",
        "CRAWL4R_FETCH__RETRIES": "0",
    }
    refresh = ["crawl", "-w", ws, *OPTIONS, "--allow-private", "127.0.0.2", "--refresh"]
    with ChangingSite(Changing(pages=20)) as here:
        with ChangingSite(Changing(pages=20), hosts=["127.0.0.2"]) as away:
            seeds = (here.url("/"), away.url("/", "127.0.0.2"))
            assert run(*refresh, *seeds).json["visits"] == 40
        first = run(*refresh, "--budget", "30", env=impatient)
        assert first.json["ended"] == "hosts given up"
        assert first.json["pending"] > 0
        before = len(here.requests())
        run(*refresh, "--budget", "30", env=impatient)
        assert pages_asked(here, before)


def test_why_says_when_a_change_is_to_be_expected(site: ChangingSite, ws: Path) -> None:
    crawl(ws, site.url("/"))
    lively = min(WORLD.lively() & WORLD.truth(1).changed & WORLD.truth(2).changed)
    quiet = min(WORLD.truth(2).paths - WORLD.lively() - WORLD.truth(1).changed)
    told = run("why", site.url(lively), "-w", ws)
    assert "revisit: not visited again yet, a change expected every " in told.text
    for _ in range(2):
        site.advance()
        crawl(ws, "--refresh")
    often = run("why", site.url(lively), "-w", ws, "--json").json["revisit"]
    seldom = run("why", site.url(quiet), "-w", ws, "--json").json["revisit"]
    assert (often["visits"], often["changes"]) == (2, 2)
    assert (seldom["visits"], seldom["changes"]) == (2, 0)
    assert 0 < often["seconds_between_changes"] < seldom["seconds_between_changes"]
    assert 0 < seldom["probability"] < often["probability"] <= 1
    gap = (epoch_of(often["due_at"]) or 0.0) - (epoch_of(often["visited_at"]) or 0.0)
    assert gap == pytest.approx(often["seconds_between_changes"], abs=0.01)
    told = run("why", site.url(lively), "-w", ws)
    assert "revisit: 2 changes in 2 visits, a change expected every " in told.text
    assert "; changed by now: " in told.text


def test_a_url_that_never_answered_has_no_next_visit(ws: Path) -> None:
    with ChangingSite(WORLD) as gone:
        url = gone.url("/")
    run("crawl", url, "-w", ws, *OPTIONS, env={"CRAWL4R_FETCH__RETRIES": "0"})
    assert run("why", url, "-w", ws, "--json").json["revisit"] is None


def test_a_scraper_spends_a_budget_too(site: ChangingSite, ws: Path) -> None:
    assert run("spool", "run", site.url("/"), "-w", ws, *OPTIONS).code == 0
    before = len(site.requests())
    assert run("spool", "scrape", "-w", ws, *OPTIONS, "--refresh", "--budget", "10%").code == 0
    asked = pages_asked(site, before)
    assert (len(asked), asked.total()) == (30, 30)


def test_both_sides_of_separated_mode_visit_the_same_few_pages(
    site: ChangingSite, ws: Path
) -> None:
    assert run("spool", "run", site.url("/"), "-w", ws, *OPTIONS).code == 0
    before = len(site.requests())
    answer = run("spool", "run", "-w", ws, *OPTIONS, "--refresh", "--budget", "10%")
    assert answer.code == 0
    asked = pages_asked(site, before)
    assert len(asked) == 30
    assert set(asked.values()) == {2}, "once by each side"


def test_a_page_that_went_is_asked_for_once_more_whatever_the_budget(
    site: ChangingSite, ws: Path
) -> None:
    crawl(ws, site.url("/"))
    (went,) = WORLD.truth(2).vanished
    site.advance(2)
    crawl(ws, "--refresh")
    assert run("why", site.url(went), "-w", ws, "--json").json["revisit"]["gone"] == 1
    before = len(site.requests())
    crawl(ws, "--refresh", "--budget", "2")
    assert went in pages_asked(site, before)
    told = run("why", site.url(went), "-w", ws, "--json").json["revisit"]
    assert (told["gone"], told["changes"]) == (2, 0)
