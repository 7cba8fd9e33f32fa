"""Pages past the last link are tried one at a time, as long as it pays."""

from __future__ import annotations

import json

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawl4r.discovery.page_rule import PageRule, PageStyle
from crawl4r.discovery.speculation import Outcome, PageSeen, SiteBelief, Speculation

NEWS = PageRule(PageStyle.QUERY, "https://e.org/news?page={n}")
ENDINGS = [Outcome.GONE, Outcome.EMPTY, Outcome.REDIRECT, Outcome.REPEATS]


def visited(last: int, belief: SiteBelief | None = None) -> Speculation:
    """A list whose pages up to `last` are linked and were seen."""
    one = Speculation(NEWS, belief)
    one.saw(range(1, last + 1))
    for number in range(1, last + 1):
        one.record(number, Outcome.NEW)
    return one


def again(one: Speculation, belief: SiteBelief | None = None) -> Speculation:
    return Speculation.from_json(json.loads(json.dumps(one.as_json())), belief)


def test_nothing_is_tried_before_the_last_linked_page_was_seen() -> None:
    one = Speculation(NEWS)
    assert (one.next_to_try(), one.reason) == (None, "no page of the list is known")
    one.saw([2, 3, 40])
    assert one.next_to_try() is None
    assert "page 40, the last that is linked, was not visited yet" in one.reason
    one.record(2, Outcome.NEW)
    assert one.next_to_try() is None
    one.record(40, Outcome.NEW)
    assert one.next_to_try() == 41
    assert one.reason.startswith("page 41 is tried: page 40, the last that is linked, brought")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_closes_the_list(ending: Outcome) -> None:
    one = visited(5)
    for number in (6, 7, 8):
        assert one.next_to_try() == number
        one.record(number, Outcome.NEW)
    assert "found unlinked" in one.reason
    one.record(9, ending)
    assert one.next_to_try() is None
    assert one.is_closed
    assert one.reason.startswith("the list is closed: page 9 ")
    assert again(one).reason == one.reason


def test_a_last_linked_page_that_brings_nothing_closes_the_list_too() -> None:
    one = Speculation(NEWS)
    one.saw([5])
    one.record(5, Outcome.GONE)
    assert one.next_to_try() is None
    assert "page 5 is not there" in one.reason


def test_a_page_in_the_middle_says_nothing_about_the_end() -> None:
    one = visited(9)
    one.record(4, Outcome.GONE)
    one.record(5, Outcome.EMPTY)
    assert one.next_to_try() == 10


def test_one_broken_page_is_passed_over_and_two_are_not() -> None:
    one = visited(5)
    one.record(6, Outcome.ERROR)
    assert one.next_to_try() == 7
    one.record(7, Outcome.NEW)
    one.record(8, Outcome.ERROR)
    one.record(9, Outcome.ERROR)
    assert one.next_to_try() is None
    assert "page 9 could not be read" in one.reason


def test_a_link_past_the_end_opens_the_list_again_but_not_for_ever() -> None:
    one = visited(5)
    for last in (6, 20, 30):
        one.record(last, Outcome.GONE)
        assert one.is_closed
        one.saw([last + 1])
        one.record(last + 1, Outcome.NEW)
    assert one.is_closed
    assert one.next_to_try() is None


def test_there_is_a_limit() -> None:
    one = Speculation(NEWS, most=10)
    one.saw([1])
    one.record(1, Outcome.NEW)
    tried = []
    while (number := one.next_to_try()) is not None:
        tried.append(number)
        one.record(number, Outcome.NEW)
    assert tried == list(range(2, 12))
    assert "limit" in one.reason


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        (PageSeen(404), Outcome.GONE),
        (PageSeen(410), Outcome.GONE),
        (PageSeen(503), Outcome.ERROR),
        (PageSeen(403), Outcome.ERROR),
        (PageSeen(None), Outcome.ERROR),
        (PageSeen(302, "https://e.org/news"), Outcome.REDIRECT),
        (PageSeen(301, "https://e.org/news?page=2"), Outcome.REDIRECT),
        (PageSeen(301, "https://e.org/"), Outcome.REDIRECT),
        (PageSeen(301, "https://e.org/news/?page=9"), None),
        (PageSeen(200, links=["https://e.org/z"], new_links=1), Outcome.NEW),
        (PageSeen(200, links=["https://e.org/z"], new_links=0), Outcome.EMPTY),
        (PageSeen(200, links=["https://e.org/z"]), Outcome.NEW),
        (PageSeen(200, links=["https://e.org/a"], new_links=1), Outcome.REPEATS),
        (PageSeen(200, links=["https://e.org/a", "https://e.org/news?page=8"]), Outcome.REPEATS),
        (PageSeen(200, fingerprint="the same"), Outcome.REPEATS),
        (PageSeen(200, fingerprint="another", new_links=2), Outcome.NEW),
    ],
)
def test_an_answer_is_understood(seen: PageSeen, outcome: Outcome | None) -> None:
    one = visited(5)
    links = ["https://e.org/a", "https://e.org/news?page=4"]
    one.record(5, Outcome.NEW, PageSeen(200, links=links, fingerprint="the same"))
    assert one.outcome_of(9, seen) is outcome
    assert again(one).outcome_of(9, seen) is outcome


def test_a_page_does_not_repeat_itself() -> None:
    one = visited(5)
    seen = PageSeen(200, links=["https://e.org/a"], fingerprint="text")
    one.record(5, Outcome.NEW, seen)
    assert one.outcome_of(5, seen) is Outcome.NEW
    assert one.outcome_of(6, seen) is Outcome.REPEATS


def test_the_first_page_is_never_forgotten() -> None:
    """What a server shows for any number that is too large is often the first page."""
    one = Speculation(NEWS)
    for number in range(1, 200):
        one.record(number, Outcome.NEW, PageSeen(200, fingerprint=f"text {number}"))
    assert one.outcome_of(200, PageSeen(200, fingerprint="text 1")) is Outcome.REPEATS
    assert len(json.dumps(one.as_json())) < 3_000


def test_a_site_whose_lists_end_where_their_links_end_is_believed_less() -> None:
    belief = SiteBelief()
    tried = 0
    for number in range(1_000):
        one = Speculation(PageRule(PageStyle.QUERY, f"https://e.org/{number}?page={{n}}"), belief)
        one.saw([1, 2, 3])
        one.record(3, Outcome.NEW)
        if one.next_to_try() is not None:
            tried += 1
            one.record(4, Outcome.GONE)
        else:
            assert "lists of this site had no page past their last link" in one.reason
    assert 4 <= tried < 60
    assert belief.lost == tried


def test_a_site_where_trying_pays_is_believed() -> None:
    belief = SiteBelief()
    for number in range(200):
        one = Speculation(PageRule(PageStyle.QUERY, f"https://e.org/{number}?page={{n}}"), belief)
        one.saw([1])
        one.record(1, Outcome.NEW)
        for page in range(2, 8):
            assert one.next_to_try() == page
            one.record(page, Outcome.NEW)
        one.record(8, Outcome.GONE)
    assert belief.lost == 0
    assert SiteBelief.from_json(belief.as_json()).trust == belief.trust == 1.0


class ListHistory(RuleBasedStateMachine):
    """A list with an end. Whatever happens to it: what is asked for is new, and little is wasted."""

    def __init__(self) -> None:
        super().__init__()
        self.belief = SiteBelief()
        self.one = Speculation(NEWS, self.belief)
        self.end = 12
        self.linked = 0
        self.asked: list[int] = []
        self.told: set[int] = set()
        self.closings = 0

    @rule(number=st.integers(1, 20))
    def link(self, number: int) -> None:
        self.one.saw([number])
        self.linked = max(self.linked, number)

    @rule(number=st.integers(1, 20))
    def visit(self, number: int) -> None:
        if number <= self.linked:
            self.tell(number, Outcome.NEW if number <= self.end else Outcome.GONE)

    @precondition(lambda self: self.one.next_to_try() is not None)
    @rule(is_broken=st.booleans(), ending=st.sampled_from(ENDINGS))
    def follow(self, is_broken: bool, ending: Outcome) -> None:
        number = self.one.next_to_try()
        assert number is not None
        assert number > self.linked
        assert number not in self.asked
        self.asked.append(number)
        good = Outcome.ERROR if is_broken else Outcome.NEW
        self.tell(number, good if number <= self.end else ending)

    def tell(self, number: int, outcome: Outcome) -> None:
        was_closed = self.one.is_closed
        self.one.record(number, outcome)
        self.told.add(number)
        self.closings += self.one.is_closed and not was_closed

    @rule()
    def restart(self) -> None:
        self.belief = SiteBelief.from_json(json.loads(json.dumps(self.belief.as_json())))
        self.one = again(self.one, self.belief)

    @invariant()
    def it_says_why(self) -> None:
        assert self.one.reason
        assert ("is tried" in self.one.reason) == (self.one.next_to_try() is not None)

    @invariant()
    def it_waits_for_the_last_link(self) -> None:
        if self.one.next_to_try() is not None:
            assert self.linked in self.told or max(self.told, default=0) > self.linked

    @invariant()
    def little_is_wasted(self) -> None:
        assert sum(number > self.end for number in self.asked) <= self.closings <= 3 + 1


TestListHistory = ListHistory.TestCase
TestListHistory.settings = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=150,
    stateful_step_count=40,
    phases=[Phase.explicit, Phase.generate],
)
