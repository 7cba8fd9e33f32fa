"""Answers that asked for fewer requests, and the time until the next request after each."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crawl4r.politeness.backoff import parse_retry_after
from crawl4r.reports.host.figures import GRAIN, Floats
from crawl4r.reports.host.requests import RequestBatch

RETRY_AFTER = re.compile(r", retry after ([\d.e+]+) s$")  # the form in the reasons of attempts
_OVERLOADED = frozenset([429, 503])
_SHOWN = 20


class Refusal(NamedTuple):
    """An answer that asked for fewer requests, and the seconds until the next request."""

    at: float
    status: int
    asked: float | None  # by Retry-After, seconds
    stayed_away: float | None  # None without a later request


class RefusedAnswers:
    """Answers 429 and 503, and those with a Retry-After."""

    def __init__(self) -> None:
        self.count = 0
        self.with_retry_after = 0
        self.came_back_early = 0
        self.longest_asked: float | None = None
        self.shortest_stay: float | None = None
        self._waiting: list[tuple[float, Refusal]] = []  # with the time of the answer
        self._newest: deque[Refusal] = deque(maxlen=_SHOWN)

    def take(self, at: Floats, refusals: Sequence[tuple[float, Refusal]]) -> None:
        """Add a batch of requests with its refusals."""
        self._waiting += refusals
        waiting, self._waiting = self._waiting, []
        for ended, refusal in waiting:
            place = int(np.searchsorted(at, ended, side="right"))
            if place == len(at):
                self._waiting.append((ended, refusal))
            else:
                self._count(refusal._replace(stayed_away=float(at[place]) - ended))

    def newest(self) -> list[Refusal]:
        """The last refusals, including those without a later request."""
        for _, refusal in self._waiting:
            self._count(refusal)
        self._waiting = []
        return list(self._newest)

    def _count(self, refusal: Refusal) -> None:
        self.count += 1
        self._newest.append(refusal)
        asked, stayed = refusal.asked, refusal.stayed_away
        if asked is not None:
            self.with_retry_after += 1
            self.longest_asked = max(asked, self.longest_asked or 0.0)
        if stayed is not None:
            shortest = self.shortest_stay
            self.shortest_stay = stayed if shortest is None else min(stayed, shortest)
            self.came_back_early += asked is not None and stayed < asked - GRAIN


def refusals_in(batch: RequestBatch, ends: Floats) -> list[tuple[float, Refusal]]:
    """The refusals of a batch, each with the time of its answer."""
    found = []
    wrong = [place for place, verdict in enumerate(batch.verdict) if verdict is not None]
    for place in wrong:
        status, reason = batch.status[place], batch.reason[place]
        if status is None or (status not in _OVERLOADED and not _asks_for_time(reason)):
            continue
        ended = float(ends[place])
        asked = _asked_by(reason, batch.headers[place], ended)
        found.append((ended, Refusal(batch.at[place], status, asked, None)))
    return found


def _asks_for_time(reason: str | None) -> bool:
    return reason is not None and "retry after" in reason


def _asked_by(reason: str | None, headers: str | None, ended: float) -> float | None:
    if match := RETRY_AFTER.search(reason or ""):
        return float(match.group(1))
    if headers is None:
        return None
    values = [value for name, value in json.loads(headers) if name == "retry-after"]
    return parse_retry_after(values[0], ended) if values else None
