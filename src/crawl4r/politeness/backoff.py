"""When to retry: exponential backoff with jitter, and Retry-After."""

from __future__ import annotations

import random
import re
from datetime import UTC

from msgspec import Struct

_SECONDS = re.compile(r"\s*(\d{1,40})(?:\.\d*)?\s*")
_FAR_AHEAD = 400 * 24 * 3600.0  # seconds; a later date is an error or an attack


class Backoff(Struct, frozen=True):
    """Exponential backoff: base * 2**attempt up to the cap; each wait is 50 to 100 % of that."""

    retries: int = 3
    base: float = 1.0  # seconds
    cap: float = 60.0  # seconds

    def delay(self, attempt: int, chance: random.Random) -> float:
        """Seconds to wait after the given attempt (0 for the first) has failed."""
        full = min(self.cap, self.base * 2.0 ** min(attempt, 30))
        return full * (0.5 + chance.random() / 2)


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Seconds from `now` (epoch) that a Retry-After header asks for; None when it is unreadable.

    Reads both forms of RFC 9110 10.2.3. A date in the past means no wait.
    """
    if not value:
        return None
    if match := _SECONDS.fullmatch(value):
        return min(float(match.group(1)), _FAR_AHEAD)
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - 5 ms of a start, for a rare form

    try:
        date = parsedate_to_datetime(value)
        when = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(0.0, when - now), _FAR_AHEAD)
