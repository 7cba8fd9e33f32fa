"""The order of URLs as one number: lower comes sooner, ties by order of discovery."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Strategy(StrEnum):
    BFS = "bfs"
    DFS = "dfs"
    BEST_FIRST = "best-first"


def breadth_first(depth: int, score: float) -> float:
    """By depth; within a depth the better score first."""
    return depth + (1.0 - score) / 2


def depth_first(depth: int, score: float) -> float:
    return -depth + (1.0 - score) / 2


def best_first(depth: int, score: float) -> float:
    """By score; depth breaks ties, so that a crawl without hints is still breadth first."""
    return -score + depth / 1000


PRIORITIES: dict[Strategy, Callable[[int, float], float]] = {
    Strategy.BFS: breadth_first,
    Strategy.DFS: depth_first,
    Strategy.BEST_FIRST: best_first,
}
