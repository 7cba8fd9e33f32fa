"""What does an answer say of its host: how is it, and when may it be asked again?

Pages, robots.txt and probes are judged alike, for they share the host's budget.
"""

from __future__ import annotations

from crawl4r.model import Failure, Response, Verdict
from crawl4r.politeness.backoff import parse_retry_after
from crawl4r.politeness.host_budget import Health

RETRIED = frozenset([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
_OVERLOADED = frozenset([429, 503])
_SICK = frozenset([403, 407])  # and everything from 500


def health_of(answer: Response | Failure, verdict: Verdict = Verdict.OK) -> Health:
    """What an answer, and the verdict on its page, say of the host that gave it."""
    if verdict is Verdict.BLOCKED:
        return Health.CHALLENGING
    if isinstance(answer, Failure):
        if answer.hurts_host:
            return Health.SICK
        # We refused what it sent, or never asked it.
        return Health.UNTOUCHED if answer.status is None else Health.WELL
    if answer.status in _OVERLOADED:
        return Health.OVERLOADED
    return Health.SICK if answer.status >= 500 or answer.status in _SICK else Health.WELL


def retry_after_of(answer: Response | Failure, now: float) -> float | None:
    """Seconds that the server asked us to stay away, when it asked; `now` is in epoch seconds."""
    if isinstance(answer, Failure) or answer.status not in RETRIED:
        return None
    return parse_retry_after(answer.header("retry-after"), now)
