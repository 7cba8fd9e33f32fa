"""A polite wait is no stall: a sleeping task publishes its wake-up time. With clocks of the test."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from crawl4r.clock import Clock
from crawl4r.crawling.side_requests import SideRequests
from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import Request
from crawl4r.fetch.proxies import ProxyPool, Rotation
from crawl4r.fetch.sender import Sender
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.schedule import PageTurn, RobotsTurn, Schedule
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Ending, Failure, Found, FoundBy, Response, UrlState, Verdict
from crawl4r.politeness.host_budget import Health, HostRules
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.politeness.shared_host_lock import HostLock
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.storage.database import Database

CRAWL = 1

HOST = "e.org"


class World:
    """A frontier with some URLs of one host, and clocks that only the test moves."""

    def __init__(self, folder: Path, *, urls: int = 5, has_neighbours: bool = False) -> None:
        self.now = 1000.0
        self.database = Database(folder / "state.db")
        self.frontier = SqliteFrontier(self.database, CRAWL, breadth_first)
        found = [
            Found(f"http://{HOST}/{number}", HOST, 0, FoundBy.SEED, True, "")
            for number in range(urls)
        ]
        self.frontier.add(found, None, 0.0)
        host_lock = HostLock(folder / "hosts", self.wall) if has_neighbours else None
        self.rules = HostRules(delay=240.0, delay_cap=900.0)
        self.budgets = HostBudgets(None, host_lock, usual=self.rules)
        self.heart = Heartbeat(self.clock)
        self.pause_gate = PauseGate()
        self.needs_robots = False

    def clock(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now + 1e9

    def schedule(self) -> Schedule:
        return Schedule(
            self.frontier,
            self.budgets.of_crawl(self.rules),
            Clock(self.clock, self.wall),
            lambda _: self.needs_robots,
            pause_gate=self.pause_gate,
            heart=self.heart,
        )


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.database.close()


def play(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scene(), 20))


async def asleep(schedule: Schedule) -> asyncio.Task[PageTurn | RobotsTurn | None]:
    """A task that asks for the next turn, and has to wait."""
    task = asyncio.create_task(schedule.next())
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def visited(schedule: Schedule, world: World, health: Health = Health.WELL) -> None:
    turn = await schedule.next()
    assert isinstance(turn, PageTurn)
    turn.host.end(world.now, health)
    world.frontier.settle([Ending(turn.lease.url_id, UrlState.DONE, Verdict.OK, "")])
    schedule.settled(HOST)


def test_a_delay_of_minutes_is_slept_until_its_end(world: World) -> None:
    async def scene() -> None:
        schedule = world.schedule()
        await visited(schedule, world)
        task = await asleep(schedule)
        assert schedule.expects_at() == pytest.approx(world.now + 240, abs=0.1)
        task.cancel()

    play(scene)


def test_a_crawl_delay_and_a_retry_after_are_slept_until_their_end(world: World) -> None:
    async def scene() -> None:
        schedule = world.schedule()
        world.budgets[HOST].ask_delay(600.0)
        turn = await schedule.next()
        assert isinstance(turn, PageTurn)
        turn.host.end(world.now, Health.OVERLOADED, retry_after=1800.0)
        schedule.settled(HOST)
        task = await asleep(schedule)
        assert schedule.expects_at() == pytest.approx(world.now + 1800, abs=0.1)
        task.cancel()

    play(scene)


def test_a_breaker_is_waited_for_until_its_cooldown_ends(world: World) -> None:
    async def scene() -> None:
        world.rules = HostRules(delay=0.0)
        schedule = world.schedule()
        for _ in range(5):
            await visited(schedule, world, Health.SICK)
        world.frontier.add(
            [Found(f"http://{HOST}/more", HOST, 0, FoundBy.SEED, True, "")], None, 0.0
        )
        schedule.notice([HOST])
        task = await asleep(schedule)
        assert schedule.expects_at() == pytest.approx(world.now + 30)
        task.cancel()

    play(scene)


def test_a_retry_is_waited_for_until_it_is_due(tmp_path: Path) -> None:
    async def scene() -> None:
        schedule = world.schedule()
        turn = await schedule.next()
        assert isinstance(turn, PageTurn)
        due = world.wall() + 3000
        ending = Ending(turn.lease.url_id, UrlState.WAITING, Verdict.NETWORK_ERROR, "", due)
        world.frontier.settle([ending])
        turn.host.end(world.now, Health.WELL)
        schedule.settled(HOST, due)
        world.now += 300  # past the delay: the host would be ready, had it anything to offer
        task = await asleep(schedule)
        await asyncio.sleep(0)
        assert schedule.expects_at() == pytest.approx(world.now + 2700, abs=0.1)
        task.cancel()

    world = World(tmp_path, urls=1)
    play(scene)
    world.database.close()


def test_while_somebody_else_must_end_first_nothing_is_promised(world: World) -> None:
    async def scene() -> None:
        schedule = world.schedule()
        assert schedule.expects_at() is None  # no task calls `next`
        await schedule.next()
        task = await asleep(schedule)
        assert schedule.expects_at() is None  # the one request to the host is under way
        task.cancel()

    play(scene)


def test_a_feed_without_news_is_waited_for_forever(tmp_path: Path) -> None:
    async def scene() -> None:
        schedule = world.schedule()
        schedule.is_fed = True
        task = await asleep(schedule)
        assert schedule.expects_at() == math.inf
        schedule.end_feed()
        assert await task is None

    world = World(tmp_path, urls=0)
    play(scene)
    world.database.close()


def test_robots_that_are_asked_again_later_are_waited_for(world: World) -> None:
    async def scene() -> None:
        world.needs_robots = True
        schedule = world.schedule()
        assert isinstance(await schedule.next(), RobotsTurn)
        schedule.resume_later(HOST, 55.0)
        assert world.heart.due == {HOST: world.now + 55}
        schedule.resume(HOST)
        assert world.heart.due == {}

    play(scene)


def test_another_process_that_rests_is_waited_for_and_one_that_hangs_is_not(
    tmp_path: Path,
) -> None:
    """At the host_lock we look again every moment either way: only one of both is politeness."""

    async def scene() -> None:
        theirs, schedule = HostLock(tmp_path / "hosts", wall=world.wall), world.schedule()
        turn = theirs.acquire(HOST, 1, 0.0)
        assert not isinstance(turn, float)
        task = await asleep(schedule)
        assert (schedule.expects_at() or 0.0) <= world.now
        world.now += 400
        assert (schedule.expects_at() or 0.0) <= world.now - 300, "it hangs for minutes"
        theirs.release(turn, 1800.0)
        assert schedule.expects_at() == pytest.approx(world.now + 1800, abs=0.1)
        task.cancel()

    world = World(tmp_path, has_neighbours=True)
    play(scene)
    world.database.close()


class Silent:
    """A transport that is never asked."""

    renders = False

    async def fetch(self, request: Request) -> Response | Failure:
        raise AssertionError(request)

    async def close(self) -> None:
        pass


def test_a_side_request_that_waits_for_its_host_says_until_when(world: World) -> None:
    async def scene() -> None:
        headers = RequestHeaders("crawl4r", "en", {}, {})
        proxies = ProxyPool([], Rotation.ROUND_ROBIN, world.clock, random.Random())
        requests = SideRequests(
            Sender(Silent(), headers, proxies),
            world.budgets,
            Clock(world.clock, world.wall),
            world.heart,
            None,
            lambda url, answer: None,
        )
        turn = world.budgets[HOST].begin(world.now)
        assert turn is not None
        turn.end(world.now, Health.WELL)
        task = asyncio.create_task(requests.fetch(f"http://{HOST}/robots.txt", cut_at=10))
        await asyncio.sleep(0)
        assert list(world.heart.due.values()) == [pytest.approx(world.now + 240, abs=0.1)]
        task.cancel()
        await asyncio.wait([task])
        assert world.heart.due == {}

    play(scene)


def test_a_lease_that_is_given_back_is_the_next_one_again(world: World) -> None:
    async def scene() -> None:
        world.rules = HostRules(delay=0.0)
        schedule = world.schedule()
        first = await schedule.next()
        assert isinstance(first, PageTurn)
        first.host.end(world.now, Health.UNTOUCHED)
        schedule.give_back(first.lease)
        assert schedule.outstanding == 0
        again = await schedule.next()
        assert isinstance(again, PageTurn)
        assert again.lease == first.lease
        again.host.end(world.now, Health.UNTOUCHED)
        schedule.stop()
        schedule.give_back(first.lease)
        states = world.database.read("SELECT DISTINCT state FROM urls")
        assert states == [("pending",)]

    play(scene)
