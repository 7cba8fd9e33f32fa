"""Sizes and durations as people write them: 10MB, 1.5GiB, 10m, 1h30m."""

from __future__ import annotations

import re

_PREFIXES = "KMGT"
_SIZE = re.compile(
    r"(\d{1,15}(?:\.\d{1,6})?)\s*(?:([KMGT])(iB|B)?|B|bytes?)?", re.IGNORECASE | re.ASCII
)
_PART = re.compile(
    r"(\d{1,12}(?:\.\d{1,6})?)\s*(min|ms|m|sec|s|h|d|w)\s*", re.IGNORECASE | re.ASCII
)
_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


def bytes_of(text: str) -> int | None:
    """KB is 1,000 bytes, KiB and K are 1,024; None when it is no size."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    number, prefix, rest = match.groups()
    if not prefix:
        return int(number) if number.isdigit() else None
    base = 1000.0 if (rest or "").lower() == "b" else 1024.0
    return round(float(number) * float(base ** (_PREFIXES.index(prefix.upper()) + 1)))


def seconds_of(text: str) -> float | None:
    """A number alone is of seconds; None when it is no duration."""
    text = text.strip()
    if re.fullmatch(r"\d{1,12}(\.\d+)?", text, re.ASCII):
        return float(text)
    total, at = 0.0, 0
    while match := _PART.match(text, at):
        total, at = total + float(match[1]) * _SECONDS[match[2].lower()], match.end()
    return total if at and at == len(text) else None
