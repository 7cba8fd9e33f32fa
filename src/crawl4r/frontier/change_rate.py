"""How often does a page change? A pure estimate from visits that saw only whether it had.

Changes come as a Poisson process. A visit tells whether there were any since the one before, never how
many: the rate r is believed by exp(-r * still) and, for each visit that found a change after a gap,
by 1 - exp(-r * gap). How common each of a few rates is among the pages of a workspace is learnt from
them, so that little is known of a page without its neighbours and soon all of it by itself.

Rates are multiples of one in the usual gap between visits: days and seconds are treated alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, log
from operator import mul
from typing import NamedTuple

_RATES = 12
_STEP = 3.0  # between a rate and the next slower one
_FASTEST = 4.0  # changes in a usual gap; what is faster looks the same
_ROUNDS = 40  # of learning
_DAY = 24 * 3600.0  # a usual gap, while nothing is known of gaps
_SHORTEST = 1e-3  # seconds of a gap that says anything of gaps
_TINY = 1e-12  # of a change, in a gap: none is so short that it could not happen


class WatchedPage(NamedTuple):
    """What visits to a page saw. The first one could not tell, and does not count."""

    visits: int = 0
    changes: int = 0  # visits that found it changed
    still: float = 0.0  # seconds of the gaps that ended without a change
    moving: float = 0.0  # seconds of those that ended with one


class ChangeRates(NamedTuple):
    """The rates that pages may have, in changes a second, and the logarithm of each one's share."""

    rates: tuple[float, ...]
    logs: tuple[float, ...]

    def chance(self, changes: int, still: float, moving: float, elapsed: float) -> float:
        """The probability that a page watched like this has changed `elapsed` seconds after a visit.

        Grows with the changes seen and with the time; 0 only when no time has passed.
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
        """How much speaks for each rate, relative to the one that most speaks for."""
        return _relative(_log_likelihoods(self.rates, self.logs, changes, still, moving))


def learn(pages: Sequence[WatchedPage]) -> ChangeRates:
    """Which rates are how common, from pages that were visited again: expectation maximisation.

    One page's worth of doubt is spread over all rates, so that none is ever ruled out.
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
    """That of the pages that are visited often: the others' rates are slower, and rates can be."""
    gaps = sorted((page.still + page.moving) / page.visits for page in pages if page.visits)
    gaps = [gap for gap in gaps if gap >= _SHORTEST]
    return gaps[len(gaps) // 10] if gaps else _DAY


def _log_likelihoods(
    rates: Sequence[float], logs: Sequence[float], changes: int, still: float, moving: float
) -> list[float]:
    """`logs` are what else speaks for each rate. Gaps that ended with a change count as equally long:
    only their sum is known."""
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
