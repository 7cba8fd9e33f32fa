"""Which ends of a crawl are worth another start, and how long it waits."""

import signal

import pytest

from crawl4r.resilience.restarts import Restarts, reason_of


@pytest.mark.parametrize("code", [5, 6, -signal.SIGKILL, -signal.SIGSEGV, -64])
def test_what_a_restart_may_cure_is_started_again(code: int) -> None:
    assert Restarts(backoff=3.0).wait_after(code, 1.0) == 3.0
    assert reason_of(code)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 130])
def test_what_it_cannot_cure_is_left(code: int) -> None:
    assert Restarts().wait_after(code, 1.0) is None
    assert reason_of(code) is None


def test_it_waits_twice_as_long_each_time_and_never_more_than_ten_minutes() -> None:
    restarts = Restarts(backoff=5.0)
    waits = [restarts.wait_after(5, 1.0) for _ in range(12)]
    assert waits[:4] == [5, 10, 20, 40]
    assert waits[-1] == 600
    assert restarts.total == 12


def test_a_good_while_forgives_what_was_before() -> None:
    restarts = Restarts(backoff=5.0, most=2)
    assert [restarts.wait_after(6, 1.0), restarts.wait_after(6, 1.0)] == [5, 10]
    assert restarts.wait_after(6, 601.0) == 5
    assert restarts.wait_after(-9, 1.0) == 10
    assert restarts.wait_after(-9, 1.0) is None


def test_no_restart_at_all_can_be_asked_for() -> None:
    assert Restarts(most=0).wait_after(5, 1.0) is None
