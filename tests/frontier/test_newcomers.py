"""A URL of higher priority that arrives is sent next, whatever was leased ahead."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.clock import REAL_CLOCK
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.schedule import PageTurn, Schedule
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Found, FoundBy
from crawl4r.politeness.host_budget import Health, HostRules
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.storage.database import Database

HOST = "e.org"
BATCH = 8


def found(name: str, depth: int) -> Found:
    return Found(f"http://{HOST}/{name}", HOST, depth, FoundBy.LINK, True, "host in scope")


class World:
    def __init__(self, database: Database) -> None:
        self.frontier = SqliteFrontier(database, 1, breadth_first)
        budgets = HostBudgets(HostRules(delay=0.0))
        self.schedule = Schedule(
            self.frontier, budgets.of_crawl(), REAL_CLOCK, lambda _: False, batch=BATCH
        )

    def add(self, *items: Found) -> None:
        self.schedule.notice(self.frontier.add(items, None, 0.0))

    async def next_name(self) -> str | None:
        """The next URL that is sent, to its end."""
        turn = await self.schedule.next()
        if turn is None:
            return None
        assert isinstance(turn, PageTurn)
        turn.host.end(0.0, Health.WELL)
        self.schedule.settled(HOST)
        return turn.lease.url.rpartition("/")[2]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    database = Database(tmp_path / "state.db")
    database.write(
        "INSERT INTO crawls (id, name, kind, state, created_at) VALUES (1, 'c', '', '', 0)"
    )
    yield World(database)
    database.close()


def test_a_more_urgent_url_is_sent_before_those_that_were_leased_ahead(world: World) -> None:
    async def scene() -> list[str | None]:
        world.add(*(found(f"deep-{number}", 5) for number in range(3 * BATCH)))
        first = await world.next_name()
        world.add(found("urgent", 1), found("later", 9))
        return [first, await world.next_name(), await world.next_name()]

    assert asyncio.run(scene()) == ["deep-0", "urgent", "deep-1"]


def test_urls_are_sent_in_their_order_however_they_arrive_and_none_is_lost(world: World) -> None:
    chance = random.Random(3)

    async def scene() -> None:
        waiting: list[tuple[int, int]] = []
        number = 0
        for _ in range(40):
            items = []
            for _ in range(chance.randrange(12)):
                depth = chance.randrange(6)
                items.append(found(f"{depth}-{number}", depth))
                waiting.append((depth, number))
                number += 1
            world.add(*items)
            for _ in range(chance.randrange(6)):
                if waiting:
                    name = await world.next_name()
                    assert name == "{}-{}".format(*min(waiting))
                    waiting.remove(min(waiting))
        world.schedule.stop()
        assert world.frontier.count_unfinished() == number  # nothing was settled, or lost

    asyncio.run(scene())
