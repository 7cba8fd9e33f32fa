"""Which known pages a refresh with a budget chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawl4r.archive.captures import Captures
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.revisit_round import RevisitRound
from crawl4r.frontier.revisits import Revisit, Revisits
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Capture, Ending, Found, FoundBy, UrlState, Verdict
from crawl4r.storage.database import Database

CRAWL = 1

HOST = "example.org"
GAP = 100.0  # seconds between two visits to everything
CHANGES = frozenset(range(10))  # the pages that change


class Known:
    """A frontier of pages that were all visited; time goes by as told."""

    def __init__(self, folder: Path, pages: int) -> None:
        self.database = Database(folder / "state.db")
        self.frontier = SqliteFrontier(self.database, CRAWL, breadth_first)
        self.revisits = Revisits(self.database)
        self.round = RevisitRound(self.database, CRAWL)
        self.now = 1_000_000.0
        self.ids: list[int] = []
        captures = Captures(self.database)
        for page in range(pages):
            url = f"http://{HOST}/{page}"
            self.frontier.add([Found(url, HOST, 0, FoundBy.LINK, True, "a rule")], None, self.now)
            number = self.frontier.id_of(url)
            assert number is not None
            capture = captures.add(_capture(url, self.now))
            self.frontier.settle(
                [Ending(number, UrlState.DONE, Verdict.OK, "", capture=capture, content=capture)]
            )
            self.ids.append(number)

    def visit(self, page: int, is_changed: bool = False, gone: int = 0) -> None:
        (row,) = self.database.read(
            "SELECT max(visited_at) FROM revisits WHERE page_id = ?", (page + 1,)
        )
        gap = self.now - (row[0] or 1_000_000.0)
        self.revisits.note(Revisit(f"http://{HOST}/{page}", self.now, gap, is_changed, gone))
        self.frontier.settle([Ending(self.ids[page], UrlState.DONE, Verdict.OK, "")])

    def visit_all(self, times: int = 1) -> None:
        for _ in range(times):
            self.now += GAP
            for page in range(len(self.ids)):
                self.visit(page, page in CHANGES)

    def says(self, page: int, lastmod: float) -> None:
        url = f"http://{HOST}/{page}"
        found = Found(url, HOST, 0, FoundBy.SITEMAP, True, "a rule", lastmod=lastmod)
        self.frontier.add([found], None, self.now)

    def choose(self, most: int) -> set[int]:
        self.round.begin(most, self.now)
        rows = self.database.read("SELECT id FROM urls WHERE state = 'pending'")
        return {self.ids.index(row[0]) for row in rows}


def _capture(url: str, at: float) -> Capture:
    return Capture(
        url, at, 200, Verdict.OK, "", None, 0, "text/html", "", [], None, None, "", 0, None, 1, 0
    )


@pytest.fixture
def know(tmp_path: Path) -> Iterator[Callable[[int], Known]]:
    made: list[Known] = []

    def make(pages: int) -> Known:
        made.append(Known(tmp_path, pages))
        return made[-1]

    yield make
    for known in made:
        known.database.close()


@pytest.mark.parametrize("most", [0, 1, 2, 7, 50, 99, 100, 5_000])
def test_a_budget_is_spent_to_the_last_page_and_no_further(
    know: Callable[[int], Known], most: int
) -> None:
    known = know(100)
    known.visit_all(2)
    known.now += GAP
    assert known.round.known() == 100
    assert len(known.choose(most)) == min(most, 100)


def test_pages_that_change_are_chosen_before_those_that_never_did(
    know: Callable[[int], Known],
) -> None:
    known = know(100)
    known.visit_all(3)
    known.now += GAP / 10
    assert known.choose(20) > CHANGES


def test_without_any_experience_the_oldest_go_first(know: Callable[[int], Known]) -> None:
    known = know(30)
    known.now += GAP
    for page in range(20):
        known.database.write(
            "UPDATE captures SET fetched_at = ? WHERE page_id = ?", (known.now, page + 1)
        )
    known.now += GAP
    assert known.choose(10) == set(range(20, 30))


def test_a_page_that_its_site_says_has_changed_goes_first(know: Callable[[int], Known]) -> None:
    known = know(100)
    known.visit_all(3)
    known.says(77, known.now + 1)  # after the last visit
    known.now += GAP
    assert 77 in known.choose(2)


def test_a_page_that_its_site_says_has_not_changed_can_wait(know: Callable[[int], Known]) -> None:
    known = know(100)
    known.visit_all(3)
    for page in range(5):
        known.says(page, known.now - 1)  # before the last visit
    known.now += GAP
    assert known.choose(6) >= set(range(5, 10))  # and one that goes by its age


def test_a_page_that_was_missing_once_is_asked_for_again_and_then_hardly_ever(
    know: Callable[[int], Known],
) -> None:
    known = know(100)
    known.visit_all(3)
    known.now += GAP
    known.visit(3, gone=1)
    known.visit(88, gone=1)
    known.now += 1
    assert {3, 88} <= known.choose(4)
    known.visit(3, gone=2)
    known.visit(88, gone=2)
    known.round.end()
    known.now += GAP
    likeliest = known.choose(40)
    assert CHANGES - {3} <= likeliest
    assert 88 not in likeliest


def test_nobody_is_forgotten_however_lively_the_others_are(know: Callable[[int], Known]) -> None:
    known = know(60)
    known.visit_all(3)
    seen: set[int] = set()
    for _ in range(60):
        known.now += GAP
        chosen = known.choose(8)  # fewer than change
        assert len(chosen) == 8
        for page in chosen:
            known.visit(page, page in CHANGES)
        seen |= chosen
    assert seen == set(range(60))


def test_a_round_that_was_cut_short_goes_on_and_one_that_is_over_does_not(
    know: Callable[[int], Known],
) -> None:
    known = know(100)
    known.visit_all(2)
    known.now += GAP
    chosen = known.choose(20)
    done = set(sorted(chosen)[:12])
    for page in done:
        known.visit(page)
    assert known.choose(20) == chosen - done
    known.round.end()  # the rest cannot be had; it counts all the same
    assert known.round.known() == 100
    again = known.choose(20)
    assert len(again) == 20
    assert again >= chosen - done


def test_what_was_refused_or_failed_is_not_chosen(know: Callable[[int], Known]) -> None:
    known = know(12)
    for page, state in enumerate([UrlState.FAILED, UrlState.REFUSED]):
        known.frontier.settle([Ending(known.ids[page], state, Verdict.NETWORK_ERROR, "")])
    known.frontier.settle([Ending(known.ids[2], UrlState.DONE, Verdict.CAPPED, "")])
    known.now += GAP
    assert known.choose(12) == set(range(3, 12))


def test_a_change_that_was_none_is_taken_back_once(know: Callable[[int], Known]) -> None:
    known = know(3)
    known.visit_all(2)
    url = f"http://{HOST}/1"
    before = known.revisits.outlook(url, known.now)
    assert before is not None and before["changes"] == 2
    for _ in range(2):  # as when all documents are made again
        known.revisits.correct(url, 17, GAP)
    after = known.revisits.outlook(url, known.now)
    assert after is not None and (after["visits"], after["changes"]) == (2, 1)
    assert after["seconds_between_changes"] > before["seconds_between_changes"]
