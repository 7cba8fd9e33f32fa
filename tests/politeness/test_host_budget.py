"""One budget a host, on a clock that the test holds (contract 2)."""

import pytest

from crawl4r.politeness.breaker import BreakerRules
from crawl4r.politeness.host_budget import Health, HostBudget, HostRules, HostTurn
from crawl4r.politeness.host_budgets import HostBudgets

NEVER = float("inf")
MARGIN = 0.01  # more than the budget's own


def budget_of(delay: float = 1.0, **rules: object) -> HostBudget:
    return HostBudgets(HostRules(delay=delay, **rules))["e.org"]


def begun(budget: HostBudget, at: float, who: object = None) -> HostTurn:
    turn = budget.begin(at, who)
    assert turn is not None
    return turn


def visit(
    budget: HostBudget, at: float, health: Health = Health.WELL, **answer: float | None
) -> None:
    """One request that takes no time."""
    begun(budget, at).end(at, health, sent_at=at, **answer)


def gap(budget: HostBudget, since: float) -> float:
    return budget.ready_at(since) - since


def about(seconds: float) -> object:
    return pytest.approx(seconds, abs=MARGIN)


def test_a_new_host_is_ready_at_once() -> None:
    assert budget_of().ready_at(7.0) <= 7.0


def test_requests_stand_a_full_delay_apart() -> None:
    budget = budget_of(delay=1.0)
    visit(budget, 100.0)
    assert gap(budget, 100.0) >= 1.0
    assert gap(budget, 100.0) == about(1.0)


def test_the_gap_counts_from_when_the_request_left() -> None:
    """It may have waited for a connection; the server must still see a full delay."""
    budget = budget_of(delay=1.0)
    begun(budget, 100.0).end(103.0, Health.WELL, sent_at=102.5, latency=0.5)
    assert budget.ready_at(103.0) >= 103.5


def test_a_full_host_is_never_ready() -> None:
    budget = budget_of(delay=0.0, per_host=2)
    turn = begun(budget, 1.0)
    assert budget.ready_at(1.0) <= 1.0
    begun(budget, 1.0)
    assert budget.ready_at(1.0) == NEVER
    turn.end(2.0, Health.WELL)
    assert budget.ready_at(2.0) <= 2.0


def test_without_a_rate_only_the_number_at_once_limits() -> None:
    budget = budget_of(delay=0.0, per_host=1)
    for _ in range(100):
        assert budget.ready_at(5.0) <= 5.0
        visit(budget, 5.0, latency=0.2)


def test_a_crawl_delay_slows_down_and_is_capped() -> None:
    budget = budget_of(delay=1.0, delay_cap=60.0)
    budget.ask_delay(10.0)
    visit(budget, 0.0)
    assert gap(budget, 0.0) == about(10.0)
    budget.ask_delay(86400.0)
    assert budget.delay == 60.0


def test_a_crawl_delay_never_speeds_up() -> None:
    budget = budget_of(delay=5.0)
    budget.ask_delay(0.1)
    assert budget.delay == 5.0


def test_of_two_origins_of_a_host_the_longer_crawl_delay_counts() -> None:
    budget = budget_of(delay=1.0)
    budget.ask_delay(10.0, "https://e.org")
    budget.ask_delay(3.0, "https://e.org:8443")
    assert budget.delay == 10.0
    budget.ask_delay(2.0, "https://e.org")
    assert budget.delay == 3.0


def test_too_many_requests_slow_down_and_answers_recover() -> None:
    budget = budget_of(delay=1.0)
    visit(budget, 0.0, Health.OVERLOADED)
    visit(budget, 2.0, Health.OVERLOADED)
    assert budget.delay == 4.0
    delays = []
    for second in range(60):
        visit(budget, 10.0 + second * 10, latency=0.1)
        delays.append(budget.delay)
    assert delays == sorted(delays, reverse=True)
    assert delays[-1] == 1.0


def test_a_slow_down_ends_at_the_cap() -> None:
    rules = HostRules(delay=1.0, delay_cap=8.0, breaker=BreakerRules(threshold=99))
    budget = HostBudgets(rules)["e.org"]
    for second in range(20):
        visit(budget, second * 10.0, Health.OVERLOADED)
    assert budget.delay == 8.0


def test_a_host_without_a_rate_slows_down_too_and_recovers_to_none() -> None:
    budget = budget_of(delay=0.0)
    visit(budget, 0.0, Health.OVERLOADED)
    assert budget.delay >= 1.0
    for second in range(100):
        visit(budget, second * 10.0, latency=0.1)
    assert budget.delay == 0.0


def test_a_host_that_answers_ever_more_slowly_gets_room() -> None:
    budget = budget_of(delay=0.1)
    visit(budget, 0.0, latency=0.1)
    for second in range(50):
        visit(budget, second * 10.0, latency=3.0)
    assert budget.delay > 1.0


@pytest.mark.parametrize(("asked", "kept"), [(30.0, 30.0), (0.0, 1.0), (99999.0, 3600.0)])
def test_retry_after_is_kept_up_to_its_cap(asked: float, kept: float) -> None:
    budget = budget_of(delay=1.0, delay_cap=1.0)
    visit(budget, 100.0, Health.OVERLOADED, retry_after=asked)
    assert gap(budget, 100.0) == about(kept)


def test_failures_in_a_row_open_the_breaker_and_one_probe_closes_it() -> None:
    rules = HostRules(delay=0.0, per_host=4, breaker=BreakerRules(threshold=2, cooldown=30.0))
    budget = HostBudgets(rules)["e.org"]
    visit(budget, 0.0, Health.SICK)
    visit(budget, 0.0, Health.SICK)
    assert budget.ready_at(1.0) == 30.0
    probe = begun(budget, 31.0)
    assert budget.ready_at(31.0) == NEVER
    probe.end(32.0, Health.WELL)
    assert budget.ready_at(32.0) <= 32.0


def test_a_request_that_never_left_says_nothing_of_the_host() -> None:
    budget = budget_of(breaker=BreakerRules(threshold=1))
    visit(budget, 0.0, Health.UNTOUCHED)
    assert (budget.breaker.failures, budget.requests) == (0, 0)


def test_a_withdrawn_request_leaves_no_gap() -> None:
    budget = budget_of(delay=10.0)
    begun(budget, 5.0).withdraw(5.0)
    assert budget.ready_at(5.0) <= 5.0


def test_withdrawing_one_request_keeps_what_another_was_told() -> None:
    budget = budget_of(delay=0.0, per_host=2)
    asked, withdrawn = begun(budget, 0.0), begun(budget, 0.0)
    asked.end(1.0, Health.OVERLOADED, sent_at=0.0, retry_after=100.0)
    withdrawn.withdraw(1.0)
    assert budget.ready_at(1.0) >= 101.0


def test_withdrawing_one_request_keeps_the_gap_after_another() -> None:
    budget = budget_of(delay=1.0, per_host=3)
    first = begun(budget, 0.0)
    begun(budget, 1.1)
    first.withdraw(1.2)
    assert budget.ready_at(1.2) >= 2.1


def test_a_turn_that_is_over_cannot_be_ended_again() -> None:
    budget = budget_of(delay=0.0, per_host=2)
    turn = begun(budget, 0.0)
    turn.end(1.0, Health.SICK)
    turn.end(1.0, Health.SICK)
    turn.withdraw(1.0)
    assert (budget.requests, budget.in_flight, turn.is_withdrawn) == (1, 0, False)


def test_whoever_waits_is_called_in_order_and_nobody_pushes_in() -> None:
    budget = budget_of(delay=0.0)
    turn = begun(budget, 0.0)
    called: list[str] = []
    for who in ("first", "second"):
        budget.wait_in_line(who, lambda who=who: called.append(who))
    assert called == []
    turn.end(0.0, Health.WELL)
    assert called == ["first"]
    assert budget.ready_at(1.0, "second") == budget.ready_at(1.0) == float("inf")
    assert budget.ready_at(1.0, "first") == 1.0
    begun(budget, 1.0, "first").end(1.0, Health.WELL)
    assert called == ["first", "second"]


def test_whoever_leaves_the_line_lets_the_next_one_in() -> None:
    budget = budget_of(delay=0.0)
    turn = begun(budget, 0.0)
    called: list[str] = []
    for who in ("first", "second"):
        budget.wait_in_line(who, lambda who=who: called.append(who))
    turn.end(0.0, Health.WELL)
    budget.leave_line("first")
    assert called == ["first", "second"]
    assert budget.ready_at(1.0, "second") == 1.0


def test_the_strictest_rules_of_the_crawls_that_want_a_host_now_hold_there() -> None:
    budgets = HostBudgets()
    hasty = budgets.of_crawl(HostRules(delay=0.5, per_host=4))
    calm = budgets.of_crawl(HostRules(delay=2.0, per_host=8))
    for host in ("e.org", "f.org"):
        hasty.enter(host)
    calm.enter("e.org")
    assert (hasty["e.org"].delay, calm["e.org"].rules.per_host) == (2.0, 4)
    assert hasty["f.org"].delay == 0.5
    calm.leave("e.org")
    assert hasty["e.org"].delay == 0.5
    calm.enter("f.org")
    hasty.leave_all()
    assert hasty["f.org"].delay == 2.0


def test_rules_stay_when_the_last_crawl_leaves_a_host() -> None:
    budgets = HostBudgets(usual=HostRules(delay=9.0))
    crawl = budgets.of_crawl(HostRules(delay=0.25))
    crawl.enter("e.org")
    crawl.leave("e.org")
    assert (budgets["e.org"].delay, budgets["f.org"].delay) == (0.25, 9.0)


def test_no_crawl_is_less_polite_than_the_floor_of_its_process() -> None:
    budgets = HostBudgets(HostRules(delay=1.0, per_host=2))
    crawl = budgets.of_crawl(HostRules(delay=0.0, per_host=8))
    crawl.enter("e.org")
    assert (budgets["e.org"].delay, budgets["e.org"].rules.per_host) == (1.0, 2)
    crawl.adopt(HostRules(delay=3.0))
    assert budgets["e.org"].delay == 3.0


def test_a_slow_down_outlives_new_rules() -> None:
    budgets = HostBudgets(HostRules(delay=1.0))
    visit(budgets["e.org"], 0.0, Health.OVERLOADED)
    budgets["e.org"].adopt(HostRules(delay=0.5))
    assert budgets["e.org"].delay == 2.0


def test_a_challenge_makes_us_rest_at_once_and_longer_each_time() -> None:
    budget = budget_of(delay=1.0, challenge_rest=5.0)
    now = 100.0
    for rest in (5.0, 10.0, 20.0):
        visit(budget, now, Health.CHALLENGING)
        assert gap(budget, now) == about(rest)
        now += rest
    assert budget.breaker.openings == 0
    visit(budget, now)
    assert gap(budget, now) == about(1.0)
    visit(budget, now + 1, Health.CHALLENGING)
    assert gap(budget, now + 1) == about(5.0)


def test_a_rest_from_a_challenge_outlives_the_process() -> None:
    budgets = HostBudgets(HostRules(challenge_rest=60.0))
    visit(budgets["e.org"], 100.0, Health.CHALLENGING)
    memories = budgets.remember(100.0, 5_000.0)
    later = HostBudgets(HostRules())
    later.restore(memories, 10.0, 5_001.0)
    assert gap(later["e.org"], 10.0) == about(59.0)
