"""`crawl4r selftest`: crawls that it kills itself, and what it counts afterwards."""

from __future__ import annotations

from tests.interfaces.cli.running import run


def test_nothing_is_lost_by_crawls_that_are_killed() -> None:
    answer = run("selftest", "--kill", "2", "--seed", "7", "--json")
    told = answer.json
    assert (answer.code, told["good"], told["kills"], told["seed"]) == (0, True, 2, 7)
    assert told["pages"] > 0
    assert [told[word] for word in ("lost", "doubled", "wrong", "torn_lines")] == [0, 0, 0, 0]
    assert told["fetched_again"] <= told["fetched_again_allowed"] == 2 * 4
