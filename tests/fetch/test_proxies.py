"""The pool of proxies: the choice for a request, and resting proxies."""

import random
from collections import Counter
from dataclasses import dataclass

import pytest

from crawl4r.fetch.proxies import ProxyPool, Rotation

A, B, C = "http://a.example:1", "http://b.example:2", "http://c.example:3"


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pool_of(
    clock: Clock, *urls: str, rotation: Rotation = Rotation.ROUND_ROBIN, seed: int = 7
) -> ProxyPool:
    return ProxyPool(urls, rotation, clock, random.Random(seed))


def fail(pool: ProxyPool, url: str, times: int) -> None:
    for _ in range(times):
        pool.report_outcome(url, worked=False)


def rest_of(pool: ProxyPool, url: str, clock: Clock) -> int:
    """Whole seconds until the proxy is picked again, beside one that is always awake."""
    start = clock.now
    while all(pool.pick() != url for _ in range(8)):
        clock.now += 1
    waited, clock.now = clock.now - start, start
    return round(waited)


def test_no_proxies_mean_no_proxy(clock: Clock) -> None:
    pool = pool_of(clock)
    assert pool.pick() is None
    pool.report_outcome(A, worked=False)  # of a pool that was reconfigured meanwhile


def test_round_robin_takes_them_in_turn(clock: Clock) -> None:
    pool = pool_of(clock, A, B, C)
    assert [pool.pick() for _ in range(7)] == [A, B, C, A, B, C, A]


def test_round_robin_goes_past_one_that_rests_and_shares_its_turns_evenly(clock: Clock) -> None:
    pool = pool_of(clock, A, B, C)
    fail(pool, A, 3)
    picked = Counter(pool.pick() for _ in range(40))
    assert picked == {B: 20, C: 20}


def test_least_used_evens_out_what_a_rest_left_uneven(clock: Clock) -> None:
    pool = pool_of(clock, A, B, rotation=Rotation.LEAST_USED)
    fail(pool, A, 3)
    assert {pool.pick() for _ in range(6)} == {B}
    pool.report_outcome(A, worked=True)
    assert [pool.pick() for _ in range(6)] == [A] * 6
    assert {pool.pick(), pool.pick()} == {A, B}


def test_random_uses_all_of_them_and_the_same_seed_the_same_way(clock: Clock) -> None:
    first = pool_of(clock, A, B, C, rotation=Rotation.RANDOM)
    again = pool_of(clock, A, B, C, rotation=Rotation.RANDOM)
    picked = [first.pick() for _ in range(300)]
    assert picked == [again.pick() for _ in range(300)]
    assert all(70 < count < 130 for count in Counter(picked).values())
    fail(first, B, 3)
    assert {first.pick() for _ in range(100)} == {A, C}


@pytest.mark.parametrize("rotation", list(Rotation))
def test_two_failures_in_a_row_do_not_make_a_proxy_rest(rotation: Rotation, clock: Clock) -> None:
    pool = pool_of(clock, A, B, rotation=rotation)
    fail(pool, A, 2)
    assert A in {pool.pick() for _ in range(50)}


def test_a_proxy_rests_twice_as_long_with_each_further_failure(clock: Clock) -> None:
    pool = pool_of(clock, A, B)
    rests = []
    fail(pool, A, 2)
    for _ in range(7):
        fail(pool, A, 1)
        rests.append(rest_of(pool, A, clock))
    assert rests == [60, 120, 240, 480, 960, 1800, 1800]


def test_one_success_clears_the_record(clock: Clock) -> None:
    pool = pool_of(clock, A, B)
    fail(pool, A, 5)
    pool.report_outcome(A, worked=True)
    assert rest_of(pool, A, clock) == 0
    fail(pool, A, 2)
    assert rest_of(pool, A, clock) == 0
    fail(pool, A, 1)
    assert rest_of(pool, A, clock) == 60


@pytest.mark.parametrize("rotation", list(Rotation))
def test_when_all_rest_the_first_to_be_back_is_taken(rotation: Rotation, clock: Clock) -> None:
    pool = pool_of(clock, A, B, C, rotation=rotation)
    fail(pool, A, 5)
    fail(pool, B, 3)
    fail(pool, C, 4)
    assert {pool.pick() for _ in range(5)} == {B}
