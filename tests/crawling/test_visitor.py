"""What happens to one URL in its host's turn, and that the turn is over whatever happens."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from crawl4r import events
from crawl4r.frontier.schedule import PageTurn
from crawl4r.model import Failure, Lease, Response, UrlState, Verdict, Visit
from crawl4r.politeness.breaker import BreakerRules, BreakerState
from crawl4r.politeness.host_budget import HostRules, HostTurn
from tests.crawling.small_crawl import HOST, PAGE, SITE, SmallCrawl, answer, failure, small_crawl

ROBOTS = SITE + "/robots.txt"
PAGE_URL = SITE + "/a"
RULES = HostRules(delay=10.0, challenge_rest=40.0, breaker=BreakerRules(threshold=2, cooldown=60.0))
NO_NETWORK = failure(Verdict.NETWORK_ERROR, transient=True, by_network=True)
NO_ANSWER = failure(Verdict.NETWORK_ERROR, transient=True)
CHALLENGE = b"<title>Just a moment...</title><h1>Checking your browser before accessing e.org</h1>"


def take_turn(crawl: SmallCrawl) -> HostTurn:
    turn = crawl.budgets[HOST].begin(crawl.now)
    assert turn is not None
    return turn


async def visit(crawl: SmallCrawl, given: Response | Failure) -> tuple[Visit | None, HostTurn]:
    """Visit a URL whose host allows it, in a turn that begins now."""
    if crawl.robots.needs(PAGE_URL):
        await crawl.robots.load(PAGE_URL)
        crawl.now += RULES.delay + 1
    crawl.transport.answers[PAGE_URL] = given
    turn = take_turn(crawl)
    lease = Lease(1, PAGE_URL, HOST, 0)
    return await crawl.visitor().visit(PageTurn(lease, turn)), turn


@pytest.mark.parametrize(
    ("given", "state", "waits"),
    [
        (answer(200, PAGE), UrlState.DONE, 10.0),
        (answer(404), UrlState.DONE, 10.0),
        (answer(503), UrlState.WAITING, 20.0),  # slowed down
        (answer(429, retry_after="300"), UrlState.WAITING, 300.0),
        (answer(200, CHALLENGE), UrlState.WAITING, 40.0),
        (NO_ANSWER, UrlState.WAITING, 10.0),
    ],
)
def test_an_answer_ends_the_turn_and_says_how_long_the_host_rests(
    tmp_path: Path, given: Response | Failure, state: UrlState, waits: float
) -> None:
    with small_crawl(tmp_path, host_rules=RULES) as crawl:
        seen, _ = asyncio.run(visit(crawl, given))
        budget = crawl.budgets[HOST]
        assert budget.in_flight == 0
        assert budget.next_at - crawl.now == pytest.approx(waits, abs=0.01)
    assert seen is not None
    assert seen.ending.state is state


def test_a_refused_url_costs_its_host_no_turn(tmp_path: Path) -> None:
    async def refused(crawl: SmallCrawl) -> Visit | None:
        await crawl.robots.load(PAGE_URL)
        turn = take_turn(crawl)
        before = crawl.budgets[HOST].requests
        seen = await crawl.visitor().visit(PageTurn(Lease(1, PAGE_URL, HOST, 0), turn))
        assert turn.is_withdrawn
        assert crawl.budgets[HOST].requests == before
        return seen

    forbidden = {ROBOTS: answer(200, b"User-agent: *\nDisallow: /")}
    with small_crawl(tmp_path, forbidden) as crawl:
        seen = asyncio.run(refused(crawl))
        assert crawl.transport.asked == [ROBOTS]
        assert crawl.budgets[HOST].in_flight == 0
    assert seen is not None
    assert seen.ending.verdict is Verdict.ROBOTS_DENIED


def test_without_a_network_nothing_is_kept_and_no_host_is_blamed(tmp_path: Path) -> None:
    with small_crawl(tmp_path, host_rules=RULES) as crawl:
        seen, _ = asyncio.run(visit(crawl, NO_NETWORK))
        assert seen is None
        assert crawl.budgets[HOST].in_flight == 0
        assert crawl.budgets[HOST].breaker.failures == 0


def test_a_bug_ends_the_turn_too(tmp_path: Path) -> None:
    async def visit_it(crawl: SmallCrawl) -> None:
        await crawl.robots.load(PAGE_URL)
        await crawl.visitor().visit(PageTurn(Lease(1, PAGE_URL, HOST, 0), take_turn(crawl)))

    with small_crawl(tmp_path, {PAGE_URL: LookupError("a bug")}) as crawl:
        with pytest.raises(LookupError):
            asyncio.run(visit_it(crawl))
        assert crawl.budgets[HOST].in_flight == 0


def test_a_breaker_opens_probes_and_closes_and_each_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    steps: list[tuple[Any, BreakerState, list[str]]] = [
        (NO_ANSWER, BreakerState.CLOSED, []),
        (NO_ANSWER, BreakerState.OPEN, [events.HOST_OPENED]),
        (NO_ANSWER, BreakerState.OPEN, [events.HOST_OPENED]),  # the probe failed
        (answer(200, PAGE), BreakerState.CLOSED, [events.HOST_CLOSED]),
        (answer(200, PAGE), BreakerState.CLOSED, []),
    ]
    told = {events.HOST_OPENED, events.HOST_CLOSED}
    caplog.set_level(logging.INFO, events.LOGGER)
    with small_crawl(tmp_path, host_rules=RULES) as crawl:
        for given, state, names in steps:
            caplog.clear()
            asyncio.run(visit(crawl, given))
            assert crawl.budgets[HOST].breaker.state(crawl.now) is state
            assert [each.message for each in caplog.records if each.message in told] == names
            crawl.now += 200.0


def test_a_host_that_fails_at_everything_uses_up_no_retries(tmp_path: Path) -> None:
    with small_crawl(tmp_path, host_rules=RULES) as crawl:
        blamed = []
        for _ in range(3):
            seen, _ = asyncio.run(visit(crawl, NO_ANSWER))
            assert seen is not None
            blamed.append(seen.ending.is_blamed)
            crawl.now += 200.0
    assert blamed == [True, True, False]
