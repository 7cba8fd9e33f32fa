"""The stories of a news site: when they appeared, where they stand and what they say."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from tests.worlds import prose

FIRST_DAY = datetime(2024, 12, 1, tzinfo=UTC)
DAYS = 365  # up to the end of November 2025: twelve whole months
RELATED = 5
# Few, so that each has many stories and its page shows those of the last weeks only.
TAGS = prose.TOPICS[:24]


class Month(NamedTuple):
    year: int
    number: int

    @property
    def path(self) -> str:
        return f"/{self.year}/{self.number:02}/"


@dataclass(frozen=True, slots=True)
class Story:
    """Number 0 is the oldest. `own` are words that no other story has."""

    number: int
    published: datetime
    section: str
    title: str
    own: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"{self.month.path}{self.published.day:02}/{prose.slug(self.title)}"

    @property
    def month(self) -> Month:
        return Month(self.published.year, self.published.month)


class Newsroom:
    """All stories, newest first, and those of each section, month and tag in the same order."""

    def __init__(self, seed: int, count: int, sections: dict[str, float]) -> None:
        self._seed = seed
        oldest_first = [_write(seed, number, count, sections) for number in range(count)]
        self.stories = oldest_first[::-1]
        self.by_path = {story.path: story for story in self.stories}
        self.by_section: dict[str, list[Story]] = {name: [] for name in sections}
        self.by_month: defaultdict[Month, list[Story]] = defaultdict(list)
        self.by_tag: defaultdict[str, list[Story]] = defaultdict(list)
        for story in self.stories:
            self.by_section[story.section].append(story)
            self.by_month[story.month].append(story)
            for tag in story.tags:
                self.by_tag[tag].append(story)

    @cached_property
    def months(self) -> list[Month]:
        """Those with stories, newest first."""
        return [*self.by_month]

    def related(self, story: Story) -> list[Story]:
        others = [other for other in self.by_month[story.month] if other is not story]
        chance = random.Random(f"{self._seed}/related/{story.number}")
        return chance.sample(others, min(RELATED, len(others)))

    def text(self, story: Story) -> tuple[str, ...]:
        words = random.Random(f"{self._seed}/text/{story.number}")
        return prose.paragraphs(words, story.own, words.randint(4, 7))


def _write(seed: int, number: int, count: int, sections: dict[str, float]) -> Story:
    chance = random.Random(f"{seed}/story/{number}")
    minutes = DAYS * 24 * 60 * (number + chance.random()) / count
    own = tuple(prose.coin(seed, 3 * number + which) for which in range(3))
    [section] = chance.choices([*sections], [*sections.values()])
    return Story(
        number,
        FIRST_DAY + timedelta(minutes=int(minutes)),
        section,
        prose.headline(chance, own[0]),
        own,
        tuple(chance.sample(TAGS, 3)),
    )
