"""The classes that visits are counted in: one by verdict, and one by the answer.

Both kinds of classes add up to the number of visits. Retries are counted separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crawl4r.model import UrlState, Verdict, Visit

VISITS = "visits"
RETRIES = "retries"  # visits that a retry follows
_KEPT = ("html", "other")
_ERRORS = ("429", "4xx", "5xx", "other")
# First words of a failure's reason, with the class of such failures.
_NETWORK_ERRORS = {
    "dns": "dns",
    "connect": "connect",
    "tls": "tls",
    "certificate": "tls",
    "timeout": "timeout",
    "reset": "reset",
    "send": "reset",
    "empty-reply": "reset",
    "truncated": "truncated",
    "not-http": "not_http",
    "http2": "not_http",
    "proxy": "proxy",
    "proxy-dns": "proxy",
}
_DIVIDED: dict[Verdict, Sequence[str]] = {
    Verdict.OK: _KEPT,
    Verdict.HTTP_ERROR: _ERRORS,
    Verdict.NETWORK_ERROR: (*dict.fromkeys(_NETWORK_ERRORS.values()), "other"),
}


def _name(verdict: Verdict, part: str = "") -> str:
    name = f"ended_{verdict.value.replace('-', '_')}"
    return f"{name}_{part}" if part else name


ENDED = tuple(_name(verdict, part) for verdict in Verdict for part in _DIVIDED.get(verdict, [""]))
# `no_answer`: a request without a status. `not_asked`: no request.
ANSWERED = (
    "status_2xx", "status_3xx", "status_4xx", "status_5xx", "status_other", "not_modified",
    "no_answer", "not_asked",
)  # fmt: skip


def tally(visits: Iterable[Visit]) -> Counter[str]:
    """The numbers of visits, of each class, and of retries."""
    tallies: Counter[str] = Counter()
    for visit in visits:
        tallies[VISITS] += 1
        tallies[RETRIES] += visit.ending.state is UrlState.WAITING
        tallies[_ended(visit)] += 1
        tallies[_answered(visit)] += 1
    return tallies


def _ended(visit: Visit) -> str:
    verdict = visit.ending.verdict
    if verdict is Verdict.OK:  # only HTML has an encoding
        is_html = visit.capture is not None and bool(visit.capture.encoding)
        return _name(verdict, _KEPT[0] if is_html else _KEPT[1])
    if verdict is Verdict.HTTP_ERROR:
        return _name(verdict, _error(_status(visit)))
    if verdict is Verdict.NETWORK_ERROR:
        reason = visit.failure.reason if visit.failure else ""
        return _name(verdict, _NETWORK_ERRORS.get(reason.partition(":")[0], "other"))
    return _name(verdict)


def _error(status: int | None) -> str:
    if status == 429:
        return "429"
    by_hundreds = f"{(status or 0) // 100}xx"
    return by_hundreds if by_hundreds in _ERRORS else "other"


def _answered(visit: Visit) -> str:
    status = _status(visit)
    if status is not None:
        by_hundreds = f"status_{status // 100}xx"
        if status == 304:
            return "not_modified"
        return by_hundreds if by_hundreds in ANSWERED else "status_other"
    is_asked = visit.failure and visit.ending.verdict is not Verdict.EGRESS_REFUSED
    return "no_answer" if is_asked else "not_asked"


def _status(visit: Visit) -> int | None:
    if visit.capture:
        return visit.capture.status
    return visit.failure.status if visit.failure else None
