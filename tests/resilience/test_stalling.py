"""What is a stall, and what is done about it: by facts alone, with a clock that stands still."""

from __future__ import annotations

import math
from typing import Any

import pytest

from crawl4r.resilience.memory import Growth, own_mb
from crawl4r.resilience.stall import (
    CrawlView,
    Decision,
    Facts,
    WatchRules,
    decide,
    is_too_large,
    seconds_quiet,
)

RULES = WatchRules(stall_seconds=300.0)
NOW = 10_000.0
HOUR = 3600.0
NOBODY_ANSWERS = {"a.example:443": "connect: Connection refused", "b.example:80": "dns: unknown"}


@pytest.mark.parametrize(
    ("view", "seconds"),
    [
        (CrawlView(NOW - 400, NOW - 400), 400),
        (CrawlView(NOW - 400, NOW - 500), 400),
        (CrawlView(NOW - 400, NOW - 30), 30),
        (CrawlView(NOW - 400, NOW + 3600), 0),
        (CrawlView(NOW - 9000, math.inf, "paused by a file"), 0),
    ],
    ids=["nothing is due", "it was due before", "it is due lately", "it rests", "it is held"],
)
def test_silence_counts_from_when_something_was_due(view: CrawlView, seconds: float) -> None:
    assert seconds_quiet(view, NOW) == seconds


@pytest.mark.parametrize(
    ("found", "decision"),
    [
        ({}, Decision.GO_ON),
        ({"probes": {"a.example:443": ""}}, Decision.GO_ON),
        ({"probes": NOBODY_ANSWERS}, Decision.WAIT),
        ({"probes": NOBODY_ANSWERS | {"c.example:80": ""}}, Decision.GO_ON),
        ({"probes": {"10.0.0.1:80": "refused by the egress gate: private"}}, Decision.GO_ON),
        ({"store": "ws: No space left on device"}, Decision.REOPEN),
        ({"store": "ws: Read-only", "probes": NOBODY_ANSWERS}, Decision.REOPEN),
        ({"files": 1000, "files_limit": 1024}, Decision.LEAVE),
        ({"files": 100, "files_limit": 1024}, Decision.GO_ON),
        ({"blocked": 300.0}, Decision.LOOK_AGAIN),
        ({"blocked": 599.0, "store": "ws: took longer"}, Decision.LOOK_AGAIN),
        ({"blocked": 600.0}, Decision.LEAVE),
        ({"quiet": 2999.0}, Decision.GO_ON),
        ({"quiet": 3000.0}, Decision.LEAVE),
        ({"quiet": 3000.0, "probes": NOBODY_ANSWERS}, Decision.WAIT),
    ],
)
def test_facts_decide(found: dict[str, Any], decision: Decision) -> None:
    assert decide(Facts(**({"quiet": 301.0} | found)), RULES) is decision


def test_what_was_found_is_said_in_sentences() -> None:
    facts = Facts(
        301.0, 302.0, ["page.py:7 hook: time.sleep(9)"], NOBODY_ANSWERS, "ws: Read-only", 3.0
    )
    found = " | ".join(facts.findings())
    for words in ("page.py:7 hook", "ws: Read-only", "no probe was answered", "3 MB are free"):
        assert words in found
    assert facts.as_json()["findings"] == facts.findings()
    assert Facts(301.0, probes={"a.example:443": ""}, disk_mb=9000.0).findings() == []


@pytest.mark.parametrize(
    ("ceiling", "held", "is_high"), [(0, 9999, False), (500, 499, False), (500, 501, True)]
)
def test_a_ceiling_counts_when_there_is_one(ceiling: int, held: float, is_high: bool) -> None:
    facts = Facts(0.0, memory_mb=held)
    assert is_too_large(facts, WatchRules(memory_mb=ceiling)) is is_high
    assert (decide(facts, WatchRules(memory_mb=ceiling)) is Decision.SAVE_MEMORY) is is_high


def growth_over(hours: int, steady: float, swing: float = 0.0) -> float:
    """By a look a minute at memory that grows by `steady` an hour and comes and goes by `swing`."""
    growth = Growth()
    for minute in range(hours * 60):
        growth.note(1800 + minute * 60.0, 200 + steady * minute / 60 + swing * (minute % 7))
    return growth.mb_an_hour()


def test_memory_that_every_hour_adds_to_is_a_leak() -> None:
    found = growth_over(8, steady=30.0, swing=20.0)
    assert 25 < found < 35
    facts = Facts(0.0, memory_mb=400.0, growth_mb_hour=found)
    assert is_too_large(facts, WatchRules(leak_mb_hour=20.0))
    assert not is_too_large(facts, WatchRules(leak_mb_hour=40.0))
    assert not is_too_large(facts, WatchRules())


def test_memory_that_comes_and_goes_or_was_watched_briefly_is_no_leak() -> None:
    assert growth_over(8, steady=0.0, swing=50.0) == 0.0
    assert growth_over(4, steady=500.0) == 0.0


def test_one_hour_without_growth_acquits() -> None:
    growth = Growth()
    for hour, held in enumerate([100, 150, 200, 250, 250, 300, 350]):
        growth.note(hour * HOUR + 1, held)
    assert growth.mb_an_hour() == 0.0


def test_our_own_memory_is_known_and_plausible() -> None:
    held = own_mb()
    assert held is not None and 5 < held < 5_000
