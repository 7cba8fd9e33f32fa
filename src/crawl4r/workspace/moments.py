"""Moments as people and programs write them, in options: one reading of them for every door."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from crawl4r.errors import UsageError
from crawl4r.workspace.options import Moment


def epoch_seconds(moment: Moment | None, name: str) -> float | None:
    """A moment as the archive counts it. A date is its first second; without a zone it is UTC.

    Raises UsageError, which calls the option by its `name`.
    """
    if moment is None:
        return None
    if isinstance(moment, str):
        moment = _parsed(moment, name)
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(moment, date):
        return datetime.combine(moment, time(), UTC).timestamp()
    return float(moment)


def _parsed(text: str, name: str) -> datetime | float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        example = "2026-05-31 or 2026-05-31T10:00"
        raise UsageError(f"{name}: {text!r} is not a time like {example}") from None
