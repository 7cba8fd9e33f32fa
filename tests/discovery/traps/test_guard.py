"""Traps are left; large real sites are not."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable, Iterable
from datetime import date

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from crawl4r.discovery.traps.guard import TrapGuard, TrapRules
from crawl4r.discovery.traps.url_shapes import looks_random, shape_of
from crawl4r.urls.patterns import compile_pattern
from tests.properties import steady

H = "https://e.org"
TODAY = date(2025, 11, 16)


def guard(**rules: int) -> TrapGuard:
    return TrapGuard(TrapRules(**rules), TODAY)


def refusals(judge: TrapGuard, urls: Iterable[str], *, is_new: bool = True) -> list[str]:
    """Admit and visit what is not refused; the reasons for the rest."""
    reasons = []
    for url in urls:
        reason = judge.judge(url)
        if reason is None:
            judge.admit(url)
            judge.observe(url, is_new, [])
        else:
            reasons.append(reason)
    return reasons


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/a1/bcd/a1/bcd/a1/bcd", "comes 3 times in a row"),
        ("/deeper/deeper/deeper/", "/deeper/ comes 3 times in a row"),
        ("/x/y/index.html/next/index.html/next/index.html/next", "comes 3 times in a row"),
        ("/" + "/".join(f"step{n}" for n in range(25)), "25 segments"),
        ("/list?tag=new&tag=new&tag=new", "tag=new comes 3 times"),
    ],
)
def test_a_winding_url_is_refused_at_once(path: str, said: str) -> None:
    reason = guard().judge(H + path)
    assert reason
    assert said in reason


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/2024/05/05/05",
        "/1/1/1/1",
        "/en/en/en",
        "/django/django/blob/main/django/apps/registry.py",
        "/pkg/node_modules/a/node_modules/b/node_modules/c/index.js",
        "/a/b/c/d/e/f/g/h/i/j/k/l/m/n",
        "/find?filter=a&filter=b&filter=c",
        "/wiki/Bora_Bora",
        "/2031/05/plans-for-the-bridge",
        "/topic/4312/2",
        "/item/21101105",
    ],
)
def test_an_odd_url_of_a_real_site_is_admitted(path: str) -> None:
    judge = guard()
    assert judge.judge(H + path) is None
    judge.admit(H + path)
    assert judge.recheck(H + path) is None


def test_a_word_that_comes_again_in_many_paths_needs_new_content() -> None:
    def paths() -> list[str]:
        return [f"{H}/lib/x{n}/lib/y{n}/lib/z{n}" for n in range(400)]

    assert refusals(guard(), paths()) == []
    reasons = refusals(guard(), paths(), is_new=False)
    assert len(reasons) == 400 - 30
    assert "brought nothing new" in reasons[0]


def test_combinations_of_filters_have_a_budget() -> None:
    """Pages of filters differ from each other, and so look new; nothing else is found on them."""
    judge = guard()
    values = range(12)
    urls = [
        f"{H}/shop?brand={a}&color={b}&size={c}" for a in values for b in values for c in values
    ]
    admitted = 0
    reasons = []
    for url in urls:
        if reason := judge.judge(url):
            reasons.append(reason)
        else:
            judge.admit(url)
            admitted += 1
    assert admitted == 500
    assert set(reasons) == {
        "budget of 500 URLs for /shop?brand=*&color=*&size=* is used up; raise limits.traps.path"
    }


def test_filters_that_lead_to_new_pages_are_given_more() -> None:
    judge = guard(path=50)
    urls = [f"{H}/shop?a={a}&b={b}&c={c}" for a in range(9) for b in range(9) for c in range(9)]
    for number, url in enumerate(urls):
        assert judge.judge(url) is None
        judge.admit(url)
        judge.observe(url, True, [f"{H}/item/{number}"])


@pytest.mark.parametrize(
    "url_of",
    [
        lambda n: f"{H}/viewtopic.php?f={n % 40}&t={n}",
        lambda n: f"{H}/viewtopic.php?start={n % 8 * 15}&t={n // 8}",
        lambda n: f"{H}/article?id={n // 6}&lang={'abcdef'[n % 6]}",
        lambda n: f"{H}/list?page={n % 100}&q={n // 100}",
        lambda n: f"{H}/node/{n}",
        lambda n: f"{H}/news/{n}-about-something-{n * 7}.html",
        lambda n: f"{H}/watch?v={random.Random(n).getrandbits(64):016x}",
        lambda n: f"{H}/{n // 300}/{n % 300}",
    ],
    ids=[
        "topics",
        "pages of topics",
        "languages",
        "searches",
        "nodes",
        "slugs",
        "videos",
        "folders",
    ],
)
def test_many_pages_with_content_are_all_admitted(url_of: Callable[[int], str]) -> None:
    """Fifteen thousand of them, and the visits are far behind."""
    judge = guard()
    waiting: deque[str] = deque()
    for number in range(15_000):
        url = url_of(number)
        assert judge.judge(url) is None
        judge.admit(url)
        waiting.append(url)
        if number % 8 == 0:
            visited = waiting.popleft()
            assert judge.recheck(visited) is None
            judge.observe(visited, True, [])


def test_a_shape_that_brings_nothing_is_closed_and_opened_by_what_is_new() -> None:
    judge = guard()
    urls = [f"{H}/print?doc={n}" for n in range(100)]
    reasons = refusals(judge, urls, is_new=False)
    assert len(reasons) == 70
    assert reasons[0] == (
        "the last 30 pages of /print?doc=* brought nothing new; raise limits.traps.streak"
    )
    assert judge.recheck(urls[0])
    judge.observe(urls[0], True)
    assert judge.judge(f"{H}/print?doc=200") is None


def test_what_has_brought_much_is_closed_later() -> None:
    judge = guard()
    assert refusals(judge, [f"{H}/doc?n={n}" for n in range(400)]) == []
    reasons = refusals(judge, [f"{H}/doc?n={n}" for n in range(400, 800)], is_new=False)
    assert len(reasons) == 400 - 30 - 100


def test_a_filter_does_not_close_the_pages_of_its_list() -> None:
    judge = guard()
    assert refusals(judge, [f"{H}/list?page={n}" for n in range(2, 20)]) == []
    filtered = [f"{H}/list?color={c}&page={n}" for c in "abcdefgh" for n in range(2, 20)]
    assert "color=*" in refusals(judge, filtered, is_new=False)[0]
    assert refusals(judge, [f"{H}/list?page={n}" for n in range(20, 60)]) == []


def test_pages_with_parameters_do_not_close_their_folder() -> None:
    judge = guard()
    refusals(judge, [f"{H}/a/b?x={n}" for n in range(300)], is_new=False)
    assert judge.judge(f"{H}/a/c") is None


def months(start: int, stop: int) -> list[str]:
    step = 1 if stop > start else -1
    return [f"{H}/calendar/{m // 12:04}/{m % 12 + 1:02}/" for m in range(start, stop, step)]


NOW = 2025 * 12 + 10


@pytest.mark.parametrize("stop", [NOW + 4_000, NOW - 4_000], ids=["ahead", "back"])
def test_a_calendar_that_leads_only_to_dates_is_left(stop: int) -> None:
    judge = guard()
    visited = []
    for url in months(NOW, stop):
        if reason := judge.judge(url):
            assert "dates" in reason
            continue
        judge.admit(url)
        visited.append(url)
        judge.observe(url, True, [])  # each month says another name
    assert len(visited) < 40


@pytest.mark.parametrize(
    "spelling",
    [
        "/events?month={m}&year={y}",
        "/cal/{y}-{m:02}",
        "/calendar?date={y}-{m:02}-01",
        "/calendar/month/{y}{m:02}01",
        "/booking?cal_month={m}&cal_year={y}&room=3",
    ],
)
def test_calendars_are_known_by_their_dates_however_these_are_spelled(spelling: str) -> None:
    judge = guard()
    reasons = []
    for month in range(NOW, NOW + 1_000):
        url = H + spelling.format(y=month // 12, m=month % 12 + 1)
        if reason := judge.judge(url):
            reasons.append(reason)
        else:
            judge.admit(url)
            judge.observe(url, True, [])
    assert len(reasons) > 950


def test_an_archive_by_month_is_followed_to_its_beginning() -> None:
    judge = guard()
    for number, month in enumerate(range(NOW, 1890 * 12, -1)):
        url = f"{H}/archive/{month // 12}/{month % 12 + 1:02}/"
        assert judge.judge(url) is None
        judge.admit(url)
        judge.observe(url, True, [f"{H}/story/{number}"])


def test_a_list_of_all_months_is_admitted_at_once() -> None:
    judge = guard()
    for month in range(2003 * 12, NOW):
        url = f"{H}/{month // 12}/{month % 12 + 1:02}/"
        assert judge.judge(url) is None
        judge.admit(url)


def test_a_diary_whose_days_lead_only_to_days_is_read() -> None:
    judge = guard()
    for day in range(TODAY.toordinal(), TODAY.toordinal() - 9_000, -1):
        when = date.fromordinal(day)
        url = f"{H}/diary/{when:%Y/%m/%d}"
        assert judge.judge(url) is None
        judge.admit(url)
        judge.observe(url, True, [])


def test_a_session_id_is_found_by_what_it_does_not_change() -> None:
    judge, chance = guard(), random.Random(1)

    def spelled(page: int) -> str:
        return f"{H}/page-{page}?q={chance.getrandbits(80):020x}"

    seen: set[int] = set()
    visits = 0
    for _ in range(20):
        for page in range(10):
            url = spelled(page)
            if judge.judge(url) is None:
                judge.admit(url)
                judge.observe(url, page not in seen, [])
                seen.add(page)
                visits += 1
    assert seen == set(range(10))
    assert visits <= 14
    reason = judge.judge(spelled(3))
    assert reason == "the same page but for the session id q=; scope.drop_params can drop it"
    assert judge.judge(spelled(77)) is None  # a page that was not seen yet
    patterns = [suggestion.pattern for suggestion in judge.suggest_excludes()]
    assert any(compile_pattern(pattern, "test").search(spelled(3)) for pattern in patterns)


def test_a_session_id_in_the_path_is_found_too() -> None:
    judge, chance = guard(), random.Random(1)
    visits = 0
    for turn in range(12):
        for page in ("news", "about", "help"):
            url = f"{H}/(S({chance.getrandbits(96):024x}))/{page}"
            if judge.judge(url) is None:
                judge.admit(url)
                judge.observe(url, turn == 0, [])
                visits += 1
    assert visits <= 8


def test_hosts_do_not_share_their_traps() -> None:
    judge = guard()
    refusals(judge, [f"{H}/print?doc={n}" for n in range(60)], is_new=False)
    assert judge.judge(f"{H}/print?doc=90")
    assert judge.judge("https://f.org/print?doc=90") is None
    state = json.loads(json.dumps(judge.state_of("e.org")))
    other = guard()
    assert other.state_of("e.org") is None
    other.restore("e.org", state)
    assert other.judge(f"{H}/print?doc=90") == judge.judge(f"{H}/print?doc=90")


@pytest.mark.parametrize(
    ("text", "is_random"),
    [
        ("3f2a9c81d07be4451f", True),
        ("dQw4w9WgXcQ", True),
        ("550e8400-e29b-41d4-a716-446655440000", True),
        ("8a7f3k2m9x1q", True),
        ("summer-sale-2024", False),
        ("covid19-2020-q3-update", False),
        ("international", False),
        ("getElementsByTagName", False),
        ("20240517", False),
        ("1234567890", False),
        ("index.html", False),
        ("", False),
    ],
)
def test_random_values_are_told_from_words(text: str, is_random: bool) -> None:
    assert looks_random(text) is is_random


def test_what_is_remembered_of_a_host_is_bounded() -> None:
    judge, chance = guard(), random.Random(7)
    for number in range(8_000):
        token = f"{chance.getrandbits(80):020x}"
        url = f"{H}/{token[:5]}/f{number}/x?{token[5:9]}={token}&b={number}&d={1900 + number}-05"
        if judge.judge(url) is None:
            judge.admit(url)
            judge.observe(url, number % 3 == 0, [f"{H}/{number}/2{number % 900:03}/05/"])
    assert len(json.dumps(judge.as_json())) < 600_000


PIECES = [
    "/",
    "?",
    "&",
    "=",
    "a",
    "bb",
    "12",
    "2031",
    "05",
    "-",
    "*",
    "**",
    "é",
    "²²²²",
    "%41",
    "://",
]
PIECES += [
    "https://e.org",
    "color=red",
    "date=2031-05",
    "3f2a9c81d07be4451f",
    "\ud800",
    "#",
    "[",
    "]",
]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=30)


@steady
@given(st.lists(st.tuples(texts, st.booleans(), st.lists(texts, max_size=3)), max_size=8))
def test_no_text_breaks_the_guard_and_every_suggestion_is_a_pattern(
    visits: list[tuple[str, bool, list[str]]],
) -> None:
    judge = guard(folder=3, path=2, streak=2)
    for url, is_new, found in visits:
        judge.judge(url)
        judge.admit(url)
        judge.observe(url, is_new, found)
        judge.recheck(url)
        shape_of(url)
    for pattern, reason in judge.suggest_excludes():
        assert reason
        compile_pattern(pattern, "test")
    plain = json.loads(json.dumps(judge.as_json()))
    copy = TrapGuard.from_json(plain, judge.rules, TODAY)
    assert [copy.judge(url) for url, _, _ in visits] == [judge.judge(url) for url, _, _ in visits]


class ShapeHistory(RuleBasedStateMachine):
    """One shape with a small budget, against a plain count of what was admitted and what came."""

    def __init__(self) -> None:
        super().__init__()
        self.rules = TrapRules(folder=6, streak=4)
        self.guard = TrapGuard(self.rules, TODAY)
        self.admitted = self.fresh = self.barren = 0

    @rule()
    def find(self) -> None:
        if self.guard.judge(self.next_url()) is None:
            self.guard.admit(self.next_url())
            self.admitted += 1

    @rule(is_new=st.booleans())
    def visit(self, is_new: bool) -> None:
        if self.admitted:
            self.guard.observe(f"{H}/q?id=0", is_new, [])
            self.fresh += is_new
            self.barren = 0 if is_new else self.barren + 1

    @rule()
    def restart(self) -> None:
        plain = json.loads(json.dumps(self.guard.as_json()))
        self.guard = TrapGuard.from_json(plain, self.rules, TODAY)

    @invariant()
    def it_is_open_as_long_as_it_should_be(self) -> None:
        is_closed = self.barren >= 4 + self.fresh // 4
        is_used_up = self.admitted >= 6 + 100 * self.fresh
        assert (self.guard.judge(self.next_url()) is not None) == (is_closed or is_used_up)
        assert (self.guard.recheck(f"{H}/q?id=0") is not None) == is_closed

    def next_url(self) -> str:
        return f"{H}/q?id={self.admitted}"


TestShapeHistory = ShapeHistory.TestCase
TestShapeHistory.settings = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    stateful_step_count=60,
    phases=[Phase.explicit, Phase.generate],
)
