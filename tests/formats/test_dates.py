"""Addresses and dates as documents write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.formats.dates import moment_of
from crawl4r.urls.canonical import try_canonicalize
from tests.properties import steady


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


DATES = {
    "2024": at(2024, 1, 1),
    "2024-05": at(2024, 5, 1),
    "2024-05-17": at(2024, 5, 17),
    " 2024-05-17\n": at(2024, 5, 17),
    "2024-5-7": at(2024, 5, 7),
    "2024-05-17T08:30Z": at(2024, 5, 17, 8, 30),
    "2024-05-17T08:30:15Z": at(2024, 5, 17, 8, 30, 15),
    "2024-05-17T08:30:15.25Z": at(2024, 5, 17, 8, 30, 15) + 0.25,
    "2024-05-17T08:30:15.123456789012Z": at(2024, 5, 17, 8, 30, 15) + 0.123456789,
    "2024-05-17T08:30:15+02:00": at(2024, 5, 17, 6, 30, 15),
    "2024-05-17T08:30:15-0530": at(2024, 5, 17, 14, 0, 15),
    "2024-05-17T08:30:15+02": at(2024, 5, 17, 6, 30, 15),
    "2024-05-17t08:30:15z": at(2024, 5, 17, 8, 30, 15),
    "2024-05-17 08:30:15": at(2024, 5, 17, 8, 30, 15),
    "2024-05-17 08:30:15 +00:00": at(2024, 5, 17, 8, 30, 15),
    "2024-05-17 08:30:15 UTC": at(2024, 5, 17, 8, 30, 15),
    "2016-12-31T23:59:60Z": at(2016, 12, 31, 23, 59, 59),
    "1969-12-31": -86400.0,
    "Fri, 17 May 2024 08:30:15 GMT": at(2024, 5, 17, 8, 30, 15),
    "Fri, 17 May 2024 08:30:15 +0200": at(2024, 5, 17, 6, 30, 15),
    "17 May 2024 08:30 EST": at(2024, 5, 17, 13, 30),
    "Fri, 17 May 24 08:30:15 -0000": at(2024, 5, 17, 8, 30, 15),
}
NO_DATES = [
    "", " ", "0000", "2024-13", "2024-00", "2024-02-30", "2024-05-00", "2024-05-17T25:00Z",
    "2024-05-17T08:61Z", "2024-05-17T08:30+99:00", "20240", "yesterday", "17.05.2024", "2024-05-17T",
    "\u0662\u0660\u0662\u0664-\u0660\u0665-\u0661\u0667",
    "Fri, 99 May 2024 08:30:15 GMT", "2024-05-17" * 10, "-2024", "May",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), DATES.items(), ids=DATES)
def test_dates_are_read_in_all_forms(text: str, expected: float) -> None:
    assert moment_of(text) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("text", NO_DATES)
def test_nonsense_is_no_date(text: str) -> None:
    assert moment_of(text) is None


@steady
@given(st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC)))  # noqa: DTZ001
def test_any_moment_comes_back(moment: datetime) -> None:
    assert moment_of(moment.isoformat()) == pytest.approx(moment.timestamp(), abs=1e-3)


@steady
@given(st.one_of(st.text(max_size=70), st.text("0123456789-+:.TZ ,MayFriGMT", max_size=40)))
def test_no_text_is_an_error(text: str) -> None:
    assert isinstance(moment_of(text), float | None)
    assert try_canonicalize(text).startswith("http") or try_canonicalize(text) == ""


def test_an_empty_address_is_not_the_base() -> None:
    assert [try_canonicalize(text, "https://e.org/a/") for text in ("", " \n", "b")] == [
        "",
        "",
        "https://e.org/a/b",
    ]
