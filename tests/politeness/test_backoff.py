"""When to ask again (G9)."""

import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawl4r.politeness.backoff import Backoff, parse_retry_after
from tests.properties import steady

NOW = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples
FAR_AHEAD = 400 * 24 * 3600.0


@pytest.fixture(params=["UTC0", "JST-9", "EST5"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0.0), ("120", 120.0), (" 7 ", 7.0), ("1.9", 1.0), ("999999999", FAR_AHEAD)],
)
def test_seconds_are_read(value: str, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    "date",
    [
        "Sun, 06 Nov 1994 08:50:37 GMT",
        "Sunday, 06-Nov-94 08:50:37 GMT",
        "Sun Nov  6 08:50:37 1994",
        "Sun, 06 Nov 1994 08:50:37 -0000",
        "Sun, 06 Nov 1994 09:50:37 +0100",
    ],
)
def test_every_form_of_a_date_is_read_in_any_time_zone(date: str, zone: None) -> None:
    """RFC 9110 5.6.7: a recipient must accept all three forms, and they are all UTC."""
    assert parse_retry_after(date, NOW) == 60.0


def test_a_date_in_the_past_asks_for_no_wait() -> None:
    assert parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", NOW + 1000) == 0.0


def test_a_date_in_the_far_future_is_cut() -> None:
    assert parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", NOW) == FAR_AHEAD


def test_a_number_beyond_counting_is_cut_and_not_ignored() -> None:
    """Asking for more must never get a server less."""
    assert parse_retry_after("99999999999", NOW) == FAR_AHEAD


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        " ",
        "soon",
        "-5",
        "1e9",
        "0x10",
        "120, 30",
        "Sun, 99 Nov 1994 08:49:37 GMT",
        "\x00",
    ],
)
def test_nonsense_says_nothing(value: str | None) -> None:
    assert parse_retry_after(value, NOW) is None


@steady
@given(st.text(max_size=40))
@example("Mon, 01 Jan 0001 00:00:00 GMT")
@example("Mon, 01 Jan 99999 00:00:00 GMT")
@example("Mon, 01 Jan 2024 00:00:00 +9999999999")
@example("1 Jan 0000 0:0:0")
def test_any_header_gives_a_wait_that_can_be_kept(value: str) -> None:
    wait = parse_retry_after(value, NOW)
    assert wait is None or 0.0 <= wait <= FAR_AHEAD


def test_backoff_doubles_up_to_its_cap() -> None:
    backoff = Backoff(retries=9, base=1.0, cap=20.0)
    fulls = [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0]
    for attempt, full in enumerate(fulls):
        waits = [backoff.delay(attempt, random.Random(seed)) for seed in range(50)]
        assert full / 2 <= min(waits) < max(waits) <= full


def test_backoff_of_a_huge_attempt_is_the_cap() -> None:
    assert Backoff(cap=60.0).delay(10_000, random.Random(1)) <= 60.0


def test_backoff_is_a_function_of_its_chance() -> None:
    assert Backoff().delay(3, random.Random(7)) == Backoff().delay(3, random.Random(7))
