"""Tell whether the host or the network is at fault when no answer comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from crawl4r.model import Failure, Response, Verdict
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.resilience.stall import WatchRules

ANSWER = Response("http://a.example/", 200, [], b"", 0.0, 0.1, 0)
NO_ANSWER = Failure(Verdict.NETWORK_ERROR, "connect: refused", transient=True)
PLACE = "http://a.example/"


@dataclass
class World:
    """A network that the test plays the probes of, and a clock that it sets."""

    rules: WatchRules = field(default_factory=lambda: WatchRules(network_failures=3))
    now: float = 1000.0
    asked: int = 0

    def __post_init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.pause_gate = PauseGate()
        self.heart = Heartbeat(lambda: self.now)
        self.network = NetworkWatch(self.pause_gate, self.heart, lambda: self.rules)
        self.network.on_doubt = self._ask

    def _ask(self) -> None:
        self.asked += 1
        self.is_asked.set()

    def fail(self) -> bool:
        return self.network.doubts(PLACE, NO_ANSWER)


def play(scene: Callable[[World], Awaitable[None]], world: World | None = None) -> None:
    asyncio.run(asyncio.wait_for(scene(world or World()), 20))


async def held(world: World) -> asyncio.Task[bool]:
    """A request that failed, and waits for the word on it."""
    assert world.fail()
    task = asyncio.create_task(world.network.is_lost())
    await asyncio.sleep(0)
    return task


def test_where_nobody_answered_ever_it_does_not_wait() -> None:
    async def scene(world: World) -> None:
        assert not any(world.fail() for _ in range(20))
        assert world.asked == 0

    play(scene)


def test_configured_probes_can_be_asked_from_the_beginning() -> None:
    async def scene(world: World) -> None:
        await held(world)
        assert world.asked == 1
        assert list(world.network.places) == ["probe.example:443"]

    play(scene, World(WatchRules(probe_hosts=["probe.example:443"])))


@pytest.mark.parametrize(
    "failure",
    [
        Failure(Verdict.NETWORK_ERROR, "certificate: expired", transient=False),
        Failure(Verdict.EGRESS_REFUSED, "private", transient=False, hurts_host=False),
        Failure(Verdict.TOO_LARGE, "large", transient=False, status=200, hurts_host=False),
        Failure(Verdict.NETWORK_ERROR, "the crawl ended", transient=True, hurts_host=False),
    ],
    ids=lambda failure: failure.reason,
)
def test_what_the_network_cannot_be_blamed_for_is_judged_at_once(failure: Failure) -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        assert not world.network.doubts(PLACE, failure)
        assert world.network.failures == 0

    play(scene)


def test_a_failure_is_held_while_others_may_be_answered_and_theirs_when_one_is() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        world.heart.under_way = 5
        task = await held(world)
        assert (world.asked, task.done()) == (0, False)
        world.network.doubts(PLACE, ANSWER)
        assert await task is False
        assert (world.asked, world.network.failures) == (0, 0)

    play(scene)


def test_as_many_failures_in_a_row_as_configured_ask_the_probes_once() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        world.heart.under_way = 5
        tasks = [await held(world), await held(world)]
        assert world.asked == 0
        tasks += [await held(world), await held(world)]
        assert world.asked == 1
        world.network.tell(False, "a.example:80: refused")
        assert [await task for task in tasks] == [True] * 4

    play(scene)


def test_when_nothing_else_is_under_way_the_probes_are_asked_at_once() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        task = await held(world)
        assert world.asked == 1
        world.network.tell(True)
        assert await task is False
        assert not world.pause_gate.is_held

    play(scene)


def test_silence_of_the_others_asks_them_a_moment_later() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        world.heart.under_way = 1
        await held(world)
        await world.is_asked.wait()

    play(scene)


def test_probes_that_answered_are_believed_for_a_while_or_until_somebody_answers() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        await held(world)
        world.network.tell(True)
        world.now += 29
        assert not world.fail()
        world.now += 2
        assert world.fail()
        world.network.tell(True)
        world.network.doubts(PLACE, ANSWER)
        assert world.fail()

    play(scene)


def test_while_it_is_gone_the_brake_is_held_and_nothing_counts() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        task = await held(world)
        world.network.tell(False, "a.example:80: refused")
        assert await task is True
        assert world.pause_gate.is_held and "a.example:80" in world.pause_gate.reasons[0]
        assert world.fail() and await world.network.is_lost()
        errand = asyncio.create_task(world.network.comes_back())
        await asyncio.sleep(0)
        assert not errand.done()
        world.network.tell(False, "still")
        assert world.pause_gate.is_held
        world.network.tell(True)
        assert await errand is True
        assert not world.pause_gate.is_held and not world.network.is_gone

    play(scene)


def test_an_answer_to_what_was_under_way_brings_it_back_too() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        task = await held(world)
        world.network.tell(False, "refused")
        assert await task
        world.network.doubts(PLACE, ANSWER)
        assert not world.network.is_gone and not world.pause_gate.is_held

    play(scene)


def test_who_waits_for_it_is_let_go_when_the_crawl_ends() -> None:
    async def scene(world: World) -> None:
        world.network.doubts(PLACE, ANSWER)
        await held(world)
        world.network.tell(False, "refused")
        errand = asyncio.create_task(world.network.comes_back())
        await asyncio.sleep(0)
        world.network.end()
        assert await errand is False

    play(scene)
