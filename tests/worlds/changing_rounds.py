"""What each round does to a changing site: decided by the seed and the number of the round alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

BRANCHES = 10  # of the tree that the pages are; what goes are leaves
LIVELY = 10  # one page in so many
SELDOM = 500  # of the others, one in so many a round
GOING = 1000  # one page in so many goes in a round in which pages go
ROUNDS_BETWEEN_GOING = 2
ONE_IN_GONE = 5  # of those that go, one in so many says 410


@dataclass(frozen=True, slots=True)
class Round:
    """Paths. `vanished` since the round before, of which `said_gone` answer 410 and the rest 404."""

    changed: frozenset[str]
    vanished: frozenset[str]
    said_gone: frozenset[str]
    paths: frozenset[str]  # that answer 200


def page_path(number: int) -> str:
    return f"/page/{number}" if number else "/"


@lru_cache(maxsize=8)
def lively(pages: int, seed: int) -> dict[int, int | None]:
    """The pages that change often: None in every round, otherwise in even (0) or odd (1) ones."""
    chance = random.Random(f"{seed}/lively")
    chosen = chance.sample(range(pages), pages // LIVELY)
    return {number: chance.choice((None, None, 0, 1)) for number in chosen}


@lru_cache(maxsize=256)
def going(pages: int, seed: int, number: int) -> dict[int, int]:
    """The pages that go in this round, and the status they answer from then on. Leaves of the tree
    alone, so that the others can still be found."""
    if number == 0 or number % ROUNDS_BETWEEN_GOING:
        return {}
    chance = random.Random(f"{seed}/going/{number}")
    leaves = range(-(-(pages - 1) // BRANCHES), pages)
    chosen = chance.sample(leaves, min(len(leaves), max(1, pages // GOING)))
    left = [leaf for leaf in chosen if leaf not in gone(pages, seed, number - 1)]
    first_410 = (number // ROUNDS_BETWEEN_GOING) % ONE_IN_GONE
    return {leaf: 410 if (i + first_410) % ONE_IN_GONE == 0 else 404 for i, leaf in enumerate(left)}


@lru_cache(maxsize=256)
def gone(pages: int, seed: int, number: int) -> dict[int, int]:
    """All that went up to this round."""
    if number == 0:
        return {}
    return gone(pages, seed, number - 1) | going(pages, seed, number)


@lru_cache(maxsize=256)
def changed(pages: int, seed: int, number: int) -> frozenset[int]:
    if number == 0:
        return frozenset()
    parities = lively(pages, seed)
    often = {page for page, parity in parities.items() if parity in (None, number % 2)}
    chance = random.Random(f"{seed}/changed/{number}")
    seldom = {
        page for page in range(pages) if chance.random() < 1 / SELDOM and page not in parities
    }
    return frozenset((often | seldom) - gone(pages, seed, number).keys())


@lru_cache(maxsize=64)
def what_happened(pages: int, seed: int, number: int) -> Round:
    leaving = going(pages, seed, number)
    there = set(range(pages)) - gone(pages, seed, number).keys()
    return Round(
        frozenset(map(page_path, changed(pages, seed, number))),
        frozenset(map(page_path, leaving)),
        frozenset(page_path(page) for page, status in leaving.items() if status == 410),
        frozenset(map(page_path, there)),
    )
