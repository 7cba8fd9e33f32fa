"""What the families of traps share: a page, and which real page it is, if any."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import Protocol

from tests.worlds import prose
from tests.worlds.page import Page


@dataclass(frozen=True, slots=True)
class Shown:
    """A page at some URL. `real` is the path of the real page whose text it has; empty: of none."""

    page: Page
    real: str = ""


class Family(Protocol):
    """One kind of trap, with the real pages that stand in it."""

    entry: str  # what the home page links to
    real: frozenset[str]
    ways: frozenset[str]  # not real pages, but some real ones are found through these alone

    def at(self, target: str) -> Shown | None:
        """None: this family has no such page, a 404."""


def written(seed: int, path: str, count: int = 3) -> tuple[str, ...]:
    """The text of a real page: always the same, and no other page's."""
    return prose.paragraphs(random.Random(f"{seed}{path}"), (name_of(seed, path),), count)


def name_of(seed: int, path: str) -> str:
    """A coined word for a path. (A checksum, not `hash`, which differs between processes.)"""
    digest = hashlib.sha256(f"{seed}{path}".encode()).digest()
    return prose.coin(seed, int.from_bytes(digest[:8], "big"))


def token(seed: int, target: str, length: int) -> str:
    """A session id that is new on every page, and the same each time the same URL is asked for."""
    return hashlib.sha256(f"{seed} session {target}".encode()).hexdigest()[:length]
