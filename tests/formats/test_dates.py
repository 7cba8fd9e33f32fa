"""Addresses and dates as documents write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.formats.dates import iso_of, moment_of
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


# What 993 pages of the labelled sets wrote where a date is meant, one text of each shape.
READ = {
    "2022-05-26T15:20:28+00:00": "2022-05-26T15:20:28+00:00",
    "2025-02-11T05:00:00Z": "2025-02-11T05:00:00+00:00",
    "2025-02-11T00:00:00-05:00": "2025-02-11T00:00:00-05:00",
    "2024-09-21T07:25:09+0100": "2024-09-21T07:25:09+01:00",
    "2025-12-01": "2025-12-01",
    "2024-02-12T05:00:00.000Z": "2024-02-12T05:00:00+00:00",
    "2021-07-04 15:54:20 +00:00": "2021-07-04T15:54:20+00:00",
    "2024-02-12 05:00:00": "2024-02-12T05:00:00",
    "2014-02-04 13:02:51Z": "2014-02-04T13:02:51+00:00",
    "2024-05-27T07:11:40": "2024-05-27T07:11:40",
    "2019-10-18 16:06": "2019-10-18T16:06:00",
    "2019-11-5": "2019-11-05",
    "2006-12-16T08:00+01:00": "2006-12-16T08:00:00+01:00",
    "2025-09-09T13:00:54.304727-04:00": "2025-09-09T13:00:54.304727-04:00",
    "2025-12-15T00:00": "2025-12-15T00:00:00",
    "2020-01-29T11:51:58Z ": "2020-01-29T11:51:58+00:00",
    "2022-01-27T12:45:36.270+01": "2022-01-27T12:45:36.270000+01:00",
    "2025-12-19T11:15:56.012359519Z": "2025-12-19T11:15:56.012359+00:00",
    "2026-02-21 16:44:29 +0100 +0100": "2026-02-21",
    "Tue Jan 28 15:28:56 CET 2020": "2020-01-28T15:28:56",
    "2019-12-09 09:08:21+01:00": "2019-12-09T09:08:21+01:00",
    "2020-08-06T09:09:24.0000000Z": "2020-08-06T09:09:24+00:00",
    "20210504T132005+0200": "2021-05-04T13:20:05+02:00",
    "2021-04-28 06:29:18+0200": "2021-04-28T06:29:18+02:00",
    "Wed, 02 Feb 2022 09:12:22 +0100": "2022-02-02T09:12:22+01:00",
    "2022-05-03 13:32:45.000000": "2022-05-03T13:32:45",
    "Wed, 04 May 2022 00:25:56 GMT": "2022-05-04T00:25:56+00:00",
    "2022-5-3T23:57:00": "2022-05-03",
    "2022-05-04-0305:49:00-10800": "2022-05-04",
    "2022-5-5 22:17:36": "2022-05-05",
    "Fri Feb 18 10:27:24 2022": "2022-02-18T10:27:24",
    "2012-04-17T14:54+0000": "2012-04-17T14:54:00+00:00",
    "17 May 2024 08:30 EST": "2024-05-17T08:30:00-05:00",
    "2016-12-31T23:59:60Z": "2016-12-31",
    "Fri, 17 May 24 08:30:15 -0000": "2024-05-17T08:30:15",
}
# A wrong date is worse than none: day or month may come first, and names of months are in a language.
LEFT_ALONE = [
    "on Friday January 12, 2024 @11:40AM",
    " 11/21/2025 9:16:32 PM",
    "\n\t\tNovember 21, 2025\t\t\n",
    "19.04.2016",
    "March 27, 2025",
    "13/11/2025 09:21:40",
    "17. Mai 2019",
    "2023 Jan 7",
    "1 February, 2026",
    "02/28/2023 05:17:31 AM",
    "\non 10th Jun 2015\n",
    "19.03.2019 11:45",
    "14/01/2020",
    "\nMay 19, 2020\n",
    "3 de mayo de 2022",
    "2022/05/10 17:36:11",
    "06. November 2023",
]
NEVER_A_DATE = [
    "10:07 AM",
    "2:33 PM",
    "Mo-Su 08:00-20:00",
    "P3D",
    "yesterday",
    "2024-02-30",
    "2022-13-45",
    "1.2.3",
    "Chapter 12",
    "May",
]


@pytest.mark.parametrize(("text", "iso"), READ.items())
def test_what_machines_write_is_read_as_exactly_as_it_is_written(text: str, iso: str) -> None:
    assert iso_of(text) == iso


@pytest.mark.parametrize("text", LEFT_ALONE + NEVER_A_DATE)
def test_what_could_be_read_in_two_ways_is_left_alone(text: str) -> None:
    assert iso_of(text) == ""
