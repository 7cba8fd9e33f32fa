"""The circuit breaker of a host (T2)."""

from crawl4r.politeness.breaker import Breaker, BreakerRules, BreakerState

NEVER = float("inf")


def opened(at: float = 0.0, threshold: int = 3, **rules: float) -> Breaker:
    """A breaker that has just opened, by failures alone."""
    breaker = Breaker(BreakerRules(threshold=threshold, cooldown=10.0, **rules))
    for _ in range(threshold):
        breaker.begin()
        breaker.fail(at)
    return breaker


def probe(breaker: Breaker, *, at: float, works: bool) -> bool:
    breaker.begin()
    return breaker.succeed() if works else breaker.fail(at)


def test_it_opens_at_its_threshold_and_not_before() -> None:
    breaker = Breaker(BreakerRules(threshold=3, cooldown=10.0))
    assert [probe(breaker, at=float(n), works=False) for n in range(3)] == [False, False, True]
    assert breaker.state(2.0) is BreakerState.OPEN
    assert breaker.ready_at(2.0) == 12.0


def test_a_success_between_failures_clears_the_count() -> None:
    breaker = Breaker(BreakerRules(threshold=3))
    for _ in range(10):
        assert not probe(breaker, at=0.0, works=False)
        assert not probe(breaker, at=0.0, works=False)
        assert not probe(breaker, at=0.0, works=True)
    assert breaker.state(0.0) is BreakerState.CLOSED
    assert breaker.ready_at(5.0) == 5.0


def test_it_is_half_open_when_the_cooldown_is_over() -> None:
    breaker = opened(at=0.0)
    assert breaker.state(9.9) is BreakerState.OPEN
    assert breaker.state(10.0) is BreakerState.HALF_OPEN
    assert breaker.ready_at(11.0) == 11.0


def test_half_open_lets_one_probe_through() -> None:
    breaker = opened(at=0.0)
    breaker.begin()
    assert breaker.ready_at(11.0) == NEVER


def test_a_probe_that_works_closes_it_and_clears_everything() -> None:
    breaker = opened(at=0.0)
    assert probe(breaker, at=11.0, works=True)
    assert breaker.state(11.0) is BreakerState.CLOSED
    assert (breaker.failures, breaker.openings) == (0, 0)
    assert not probe(breaker, at=12.0, works=False)


def test_a_probe_that_fails_opens_it_for_twice_as_long() -> None:
    breaker = opened(at=0.0)
    assert probe(breaker, at=10.0, works=False)
    assert breaker.ready_at(10.0) == 30.0
    assert probe(breaker, at=30.0, works=False)
    assert breaker.ready_at(30.0) == 70.0


def test_doubling_ends_at_the_cap() -> None:
    breaker = opened(at=0.0, cooldown_cap=25.0)
    probe(breaker, at=10.0, works=False)
    probe(breaker, at=30.0, works=False)
    assert breaker.ready_at(30.0) == 55.0


def test_after_a_success_the_cooldown_starts_small_again() -> None:
    breaker = opened(at=0.0)
    probe(breaker, at=10.0, works=False)
    probe(breaker, at=30.0, works=True)
    for _ in range(3):
        probe(breaker, at=40.0, works=False)
    assert breaker.ready_at(40.0) == 50.0


def test_requests_sent_before_it_opened_do_not_open_it_again() -> None:
    breaker = opened(at=0.0)
    assert not breaker.fail(1.0)
    assert not breaker.fail(2.0)
    assert breaker.openings == 1
    assert breaker.ready_at(2.0) == 10.0


def test_a_probe_that_says_nothing_makes_room_for_another() -> None:
    breaker = opened(at=0.0)
    breaker.begin()
    breaker.abandon()
    assert breaker.state(11.0) is BreakerState.HALF_OPEN
    assert breaker.ready_at(11.0) == 11.0


def test_it_is_hopeless_after_so_many_openings_in_a_row() -> None:
    breaker = opened(at=0.0, give_up_after=3)
    now = 0.0
    hopes = []
    for _ in range(2):
        hopes.append(breaker.is_hopeless)
        now = breaker.ready_at(now)
        probe(breaker, at=now, works=False)
    assert [*hopes, breaker.is_hopeless] == [False, False, True]


def test_one_success_gives_hope_again() -> None:
    breaker = opened(at=0.0, give_up_after=2)
    probe(breaker, at=10.0, works=False)
    assert breaker.is_hopeless
    breaker.succeed()
    assert not breaker.is_hopeless
