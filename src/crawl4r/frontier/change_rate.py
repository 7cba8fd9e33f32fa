"""Estimate how often a page changes, from visits that saw only whether it had changed.

Changes follow a Poisson process. A visit tells whether there were changes since the previous one, not
how many: a rate r has the likelihood exp(-r * still) and, for each visit that found a change after a
gap, 1 - exp(-r * gap). The shares of a few rates are learnt from the pages of a workspace. They decide
for a page with few visits; later its own visits decide.

Rates are multiples of one in the usual gap between visits: days and seconds are treated alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, log
from operator import mul
from typing import NamedTuple

_RATES = 12
_STEP = 3.0  # between a rate and the next slower one
_FASTEST = 4.0  # changes in a usual gap; faster rates look the same
_ROUNDS = 40  # of learning
_DAY = 24 * 3600.0  # the usual gap before any is known
_SHORTEST = 1e-3  # seconds; a shorter gap is ignored
_TINY = 1e-12  # the least probability of a change in a gap


class WatchedPage(NamedTuple):
    """The results of visits to a page, without the first one."""

    visits: int = 0
    changes: int = 0  # visits that found a change
    still: float = 0.0  # seconds of the gaps that ended without a change
    moving: float = 0.0  # seconds of the gaps that ended with a change


class ChangeRates(NamedTuple):
    """The possible rates in changes per second, with the logarithm of their shares."""

    rates: tuple[float, ...]
    logs: tuple[float, ...]

    def chance(self, changes: int, still: float, moving: float, elapsed: float) -> float:
        """The probability that a page with this history has changed `elapsed` seconds after a visit.

        Grows with the number of changes and with the time; 0 only when no time has passed.
        """
        elapsed = max(0.0, elapsed)
        beliefs = self._beliefs(changes, still, moving)
        pairs = zip(self.rates, beliefs, strict=True)
        return -sum([belief * expm1(-rate * elapsed) for rate, belief in pairs]) / sum(beliefs)

    def seconds_between(self, changes: int, still: float, moving: float) -> float:
        """The expected time from one change to the next."""
        beliefs = self._beliefs(changes, still, moving)
        pairs = zip(self.rates, beliefs, strict=True)
        return sum(beliefs) / sum([rate * belief for rate, belief in pairs])

    def _beliefs(self, changes: int, still: float, moving: float) -> list[float]:
        """The posterior of each rate, relative to the most probable one."""
        return _relative(_log_likelihoods(self.rates, self.logs, changes, still, moving))


def learn(pages: Sequence[WatchedPage]) -> ChangeRates:
    """Learn the shares of the rates from revisited pages, by expectation maximisation.

    One pseudo-page is spread over all rates, so that no rate gets the share 0.
    """
    slowest = _FASTEST / _STEP ** (_RATES - 1)
    gap = _usual_gap(pages)
    rates = tuple(slowest * _STEP**power / gap for power in range(_RATES))
    shares = [1 / _RATES] * _RATES
    alike = (0.0,) * _RATES
    likely = [_relative(_log_likelihoods(rates, alike, *page[1:])) for page in pages]
    for _ in range(_ROUNDS if likely else 0):
        counts = [1 / _RATES] * _RATES
        for row in likely:
            beliefs = list(map(mul, row, shares))
            total = sum(beliefs)
            for place, belief in enumerate(beliefs):
                counts[place] += belief / total
        shares = [count / (len(likely) + 1) for count in counts]
    return ChangeRates(rates, tuple(map(log, shares)))


def _usual_gap(pages: Sequence[WatchedPage]) -> float:
    """The usual gap: that of frequently visited pages, because slower rates are in the model."""
    gaps = sorted((page.still + page.moving) / page.visits for page in pages if page.visits)
    gaps = [gap for gap in gaps if gap >= _SHORTEST]
    return gaps[len(gaps) // 10] if gaps else _DAY


def _log_likelihoods(
    rates: Sequence[float], logs: Sequence[float], changes: int, still: float, moving: float
) -> list[float]:
    """The log-likelihood of each rate plus `logs`. Gaps with a change count as equally long, because
    only their sum is stored."""
    pairs = zip(rates, logs, strict=True)
    if not changes:
        return [each - rate * still for rate, each in pairs]
    gap = moving / changes
    return [
        each - rate * still + changes * log(-expm1(-max(rate * gap, _TINY))) for rate, each in pairs
    ]


def _relative(logs: Sequence[float]) -> list[float]:
    best = max(logs)
    return [exp(each - best) for each in logs]
