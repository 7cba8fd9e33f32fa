"""One table says what each answer means for its host, whatever was asked for."""

from __future__ import annotations

import pytest

from crawl4r.model import Failure, Response, Verdict
from crawl4r.politeness.answers import RETRIED, health_of, retry_after_of
from crawl4r.politeness.host_budget import Health

OVERLOADED = {429, 503}
SICK = {403, 407, *range(500, 600)} - OVERLOADED


def answer(status: int, headers: list[tuple[str, str]] | None = None) -> Response:
    return Response("https://e.org/", status, headers or [], b"", 1.0, 0.1, 0, "2", "", "")


@pytest.mark.parametrize("status", range(100, 600))
def test_each_status_says_the_same_of_its_host_everywhere(status: int) -> None:
    expected = Health.OVERLOADED if status in OVERLOADED else Health.WELL
    expected = Health.SICK if status in SICK else expected
    assert health_of(answer(status)) is expected


@pytest.mark.parametrize("verdict", Verdict)
def test_of_all_verdicts_on_a_page_only_a_refusal_speaks_against_its_host(verdict: Verdict) -> None:
    expected = Health.CHALLENGING if verdict is Verdict.BLOCKED else Health.WELL
    assert health_of(answer(200), verdict) is expected


@pytest.mark.parametrize(
    ("hurts_host", "status", "expected"),
    [
        (True, None, Health.SICK),  # no connection, no answer
        (True, 200, Health.SICK),  # broken off in the middle
        (False, 200, Health.WELL),  # answered, with more than is taken
        (False, None, Health.UNTOUCHED),  # refused by the egress gate: nothing was asked
    ],
)
def test_a_failure_counts_against_the_host_that_caused_it(
    hurts_host: bool, status: int | None, expected: Health
) -> None:
    failure = Failure(Verdict.NETWORK_ERROR, "reset", True, 1.0, 0.1, status, hurts_host=hurts_host)
    assert health_of(failure, failure.verdict) is expected


@pytest.mark.parametrize("status", range(100, 600))
def test_a_wait_is_asked_for_by_answers_that_are_worth_another_try(status: int) -> None:
    asked = retry_after_of(answer(status, [("retry-after", "7")]), now=0.0)
    assert asked == (7.0 if status in RETRIED else None)
