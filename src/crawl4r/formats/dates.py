"""Dates as documents write them: ISO 8601, W3C datetimes, and dates of mail headers.

A text that is no date gives None or nothing, never an error.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_LONGEST = 64  # characters: a date is short, and the parser of mail dates need not see more
_LONGEST_CLAIM = 100  # characters that are looked at for a date among words
# W3C datetime, https://www.w3.org/TR/NOTE-datetime, and what people make of it: a blank for the T,
# a zone without its colon, no zone at all, single digits.
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)"
    r"(?:[T ] ?(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)? ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.IGNORECASE | re.ASCII,
)
_DATE_WITHIN = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def moment_of(text: str) -> float | None:
    """Epoch seconds of a W3C datetime or a date as in a mail's head; without a zone it is UTC."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    if match := _W3C.fullmatch(text):
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        offset = _offset(zone or "")
        start = moment(year, month, day, hour, minute, second)
        if offset is None or start is None:
            return None
        return start + float(f"0.{fraction or 0}") - offset
    date = _mail_date(text)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() if date else None


def iso_of(text: str) -> str:
    """ISO 8601, as exact as the text is: a date, or a time, with its zone if it names one. A date that
    stands within other words counts."""
    text = text.strip()[:_LONGEST_CLAIM]
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        if match := _DATE_WITHIN.search(text):
            year, month, day = map(int, match.groups())
            return "" if moment(year, month, day) is None else f"{year:04}-{month:02}-{day:02}"
        date = _mail_date(text)
        return date.isoformat() if date else ""
    return found.date().isoformat() if len(text) <= 10 else found.isoformat()


def moment(
    year: str | int,
    month: str | int | None = None,
    day: str | int | None = None,
    hour: str | int | None = None,
    minute: str | int | None = None,
    second: str | int | None = None,
) -> float | None:
    """The start of a year, month, day or second in UTC; None when the calendar has no such thing."""
    try:
        date = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            min(int(second or 0), 59),  # a leap second is the end of its minute
            tzinfo=UTC,
        )
    except ValueError:
        return None
    # A month or day of zero was written, which is not the same as none at all.
    if month in (0, "0", "00") or day in (0, "0", "00"):
        return None
    return date.timestamp()


def _offset(zone: str) -> int | None:
    """Seconds that a zone is ahead of UTC; None for more than a day."""
    if zone[:1] not in {"+", "-"}:
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:].removeprefix(":") or 0)
    if hours > 23 or minutes > 59:
        return None
    seconds = hours * 3600 + minutes * 60
    return -seconds if zone[0] == "-" else seconds


def load_mail_dates() -> None:
    """Load what reads dates of mail headers, for a process that cannot open a file later."""
    _mail_date("")


def _mail_date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - 5 ms of a start

    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
