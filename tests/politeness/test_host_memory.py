"""What a host taught us outlives the process, and nothing else does."""

import pytest

from crawl4r.model import HostMemory
from crawl4r.politeness.breaker import BreakerRules, BreakerState
from crawl4r.politeness.host_budget import Health, HostRules
from crawl4r.politeness.host_budgets import HostBudgets

BOOT = 1_000_000.0  # epoch seconds at which the clock of the first process showed 0
RULES = HostRules(delay=1.0, breaker=BreakerRules(threshold=3, cooldown=30.0, give_up_after=4))


def visit(
    budgets: HostBudgets, at: float, health: Health, retry_after: float | None = None
) -> None:
    turn = budgets["e.org"].begin(at)
    assert turn is not None
    turn.end(at, health, sent_at=at, retry_after=retry_after)


def restarted(budgets: HostBudgets, at: float, rules: HostRules = RULES) -> HostBudgets:
    """Budgets of a later process whose own clock starts at 0 again."""
    later = HostBudgets(rules)
    later.restore(budgets.remember(at, BOOT + at), now=0.0, wall=BOOT + at)
    return later


def test_a_wait_that_was_asked_for_outlives_the_process() -> None:
    budgets = HostBudgets(RULES)
    visit(budgets, 50.0, Health.OVERLOADED, retry_after=600.0)
    later = restarted(budgets, 150.0)
    assert later["e.org"].ready_at(0.0) == pytest.approx(500.0, abs=0.1)
    assert later["e.org"].delay == 2.0


def test_the_ordinary_gap_outlives_the_process() -> None:
    budgets = HostBudgets(RULES)
    visit(budgets, 50.0, Health.WELL)
    assert restarted(budgets, 50.25)["e.org"].ready_at(0.0) == pytest.approx(0.75, abs=0.1)


def test_an_open_breaker_outlives_the_process() -> None:
    budgets = HostBudgets(RULES)
    for _ in range(3):
        visit(budgets, 50.0, Health.SICK)
    later = restarted(budgets, 60.0)["e.org"]
    assert later.breaker.state(0.0) is BreakerState.OPEN
    assert later.ready_at(0.0) == pytest.approx(20.0, abs=0.1)
    assert later.breaker.state(21.0) is BreakerState.HALF_OPEN


def test_a_host_given_up_on_gets_one_more_probe() -> None:
    budgets = HostBudgets(RULES)
    now = 0.0
    while not budgets["e.org"].breaker.is_hopeless:
        now = max(now, budgets["e.org"].ready_at(now))
        visit(budgets, now, Health.SICK)
    later = restarted(budgets, now)
    assert not later["e.org"].breaker.is_hopeless
    visit(later, later["e.org"].ready_at(0.0), Health.SICK)
    assert later["e.org"].breaker.is_hopeless


def test_only_what_changed_is_remembered() -> None:
    budgets = HostBudgets(RULES)
    budgets["quiet.org"].ready_at(0.0)
    visit(budgets, 0.0, Health.SICK)
    assert [memory.host for memory in budgets.remember(1.0, BOOT)] == ["e.org"]
    assert budgets.remember(2.0, BOOT) == []


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_a_success_clears_what_was_remembered(delay: float) -> None:
    """Else the next run starts one failure short of an open breaker."""
    budgets = HostBudgets(HostRules(delay=delay))
    stored: dict[str, HostMemory] = {}
    for health in (Health.SICK, Health.SICK, Health.WELL):
        visit(budgets, 0.0, health)
        stored.update((memory.host, memory) for memory in budgets.remember(0.0, BOOT))
    assert stored["e.org"].failures == 0


def test_slower_rules_win_over_a_remembered_pace() -> None:
    memory = HostMemory("e.org", 0.0, delay=2.0, failures=0, openings=0, open_until=0.0)
    budgets = HostBudgets(HostRules(delay=5.0))
    budgets.restore([memory], now=0.0, wall=BOOT)
    assert budgets["e.org"].delay == 5.0


def test_after_a_crash_every_host_rests_for_one_delay() -> None:
    budgets = HostBudgets(RULES)
    known = budgets["known.org"]
    budgets.assume_just_asked(100.0)
    assert known.ready_at(100.0) >= 101.0
    assert budgets["new.org"].ready_at(100.0) >= 101.0


def test_idle_hosts_are_forgotten_and_others_are_kept() -> None:
    budgets = HostBudgets(RULES)
    for number in range(10):
        budgets[f"idle{number}.org"].ready_at(0.0)
    visit(budgets, 0.0, Health.SICK)
    budgets["busy.org"].begin(0.0)
    turn = budgets["waiting.org"].begin(0.0)
    assert turn is not None
    turn.end(0.0, Health.WELL, retry_after=1_000.0)
    budgets.forget_idle(100.0, keep=2)
    assert {budget.host for budget in budgets} == {"e.org", "busy.org", "waiting.org"}


def test_a_host_that_asked_for_more_room_is_not_forgotten() -> None:
    """Its robots.txt is not read again, so its crawl-delay must be stored."""
    budgets = HostBudgets(RULES)
    budgets["asking.org"].ask_delay(20.0)
    visit(budgets, 0.0, Health.OVERLOADED)
    visit(budgets, 50.0, Health.WELL)
    budgets.forget_idle(500.0, keep=0)
    assert budgets["asking.org"].delay == 20.0
    assert budgets["e.org"].delay > RULES.delay
