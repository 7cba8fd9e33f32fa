"""Two crawls want one host: each gets its turn."""

import asyncio
import time
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

CRAWL = 1

REQUESTS = 30


def schedule_of(database: Database, budgets: HostBudgets) -> Schedule:
    frontier = SqliteFrontier(database, CRAWL, breadth_first)
    urls = [f"http://e.org/{number}" for number in range(REQUESTS)]
    found = [Found(url, "e.org", 0, FoundBy.SEED, True, "host in scope") for url in urls]
    frontier.add(found, None, 0.0)
    return Schedule(frontier, budgets.of_crawl(), REAL_CLOCK, lambda _: False)


async def crawl(name: str, schedule: Schedule, sent: list[str]) -> None:
    while len(sent) < REQUESTS and (turn := await schedule.next()):
        assert isinstance(turn, PageTurn)
        sent.append(name)
        sent_at = time.monotonic()
        await asyncio.sleep(0)
        turn.host.end(time.monotonic(), Health.WELL, sent_at)
        schedule.settled(turn.lease.host)
    schedule.stop()


@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_two_crawls_that_wait_for_one_host_alternate(tmp_path: Path, delay: float) -> None:
    budgets = HostBudgets(HostRules(delay=delay, per_host=1))
    sent: list[str] = []

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            for name, database in databases.items():
                group.create_task(crawl(name, schedule_of(database, budgets), sent))

    databases = {name: Database(tmp_path / f"{name}.db") for name in ("first", "second")}
    asyncio.run(asyncio.wait_for(both(), 30))
    for database in databases.values():
        database.close()
    assert min(sent.count("first"), sent.count("second")) >= REQUESTS // 3
