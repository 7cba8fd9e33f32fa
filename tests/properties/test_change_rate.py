"""How often a page changes: what holds for every history of visits."""

from __future__ import annotations

from math import isclose, isfinite
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from crawl4r.frontier.change_rate import ChangeRates, WatchedPage, learn
from crawl4r.frontier.revisits import score_of
from tests.properties import steady

seconds = st.floats(0, 1e10)
counts = st.integers(0, 10_000)


@st.composite
def histories(draw: st.DrawFn) -> WatchedPage:
    visits = draw(counts)
    changes = draw(st.integers(0, visits))
    still = draw(seconds) if changes < visits else 0.0
    return WatchedPage(visits, changes, still, draw(seconds) if changes else 0.0)


sites = st.builds(learn, st.lists(histories(), max_size=4))


def chance(rates: ChangeRates, page: WatchedPage, elapsed: float) -> float:
    return rates.chance(page.changes, page.still, page.moving, elapsed)


@steady
@given(sites, histories(), st.floats(-1e10, 1e15))
def test_a_chance_is_a_probability_whatever_was_seen(
    rates: ChangeRates, page: WatchedPage, elapsed: float
) -> None:
    assert 0.0 <= chance(rates, page, elapsed) <= 1.0 + 1e-12
    between = rates.seconds_between(page.changes, page.still, page.moving)
    assert isfinite(between) and between > 0


@steady
@given(sites, histories(), seconds, seconds)
def test_a_chance_grows_with_the_time(
    rates: ChangeRates, page: WatchedPage, one: float, other: float
) -> None:
    earlier, later = sorted((one, other))
    assert chance(rates, page, earlier) <= chance(rates, page, later) + 1e-12


@steady
@given(sites, st.floats(1e-3, 1e8), st.integers(0, 200), st.integers(0, 200), seconds)
def test_a_chance_grows_with_the_visits_that_found_a_change(
    rates: ChangeRates, gap: float, visits: int, changes: int, elapsed: float
) -> None:
    """Of two pages visited alike, the one that had changed once more often is the likelier."""
    changes = min(changes, visits)
    pages = [
        WatchedPage(visits + 1, found, (visits + 1 - found) * gap, found * gap)
        for found in (changes, changes + 1)
    ]
    fewer, more = (chance(rates, page, elapsed) for page in pages)
    assert fewer <= more + 1e-9


@steady
@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.integers(0, 50), st.floats(1, 1e6)), min_size=1, max_size=8
    ),
    st.floats(0, 1e8),
    st.sampled_from([1 / 60, 1_000.0, 86_400.0]),
)
def test_only_ratios_of_time_matter(
    drawn: list[tuple[int, int, float]], elapsed: float, unit: float
) -> None:
    def in_unit(seen: WatchedPage) -> WatchedPage:
        return seen._replace(still=seen.still * unit, moving=seen.moving * unit)

    pages = [
        WatchedPage(changes + quiet, changes, quiet * gap, changes * gap)
        for quiet, changes, gap in drawn
    ]
    page = pages[-1]
    here = chance(learn(pages), page, elapsed)
    there = chance(learn([in_unit(seen) for seen in pages]), in_unit(page), elapsed * unit)
    assert isclose(here, there, rel_tol=1e-4, abs_tol=1e-9)


@steady
@given(sites, histories(), seconds, seconds, st.integers(0, 5), st.none() | seconds)
def test_what_the_site_says_goes_before_any_estimate(
    rates: ChangeRates,
    page: WatchedPage,
    visited_at: float,
    now: float,
    gone: int,
    lastmod: float | None,
) -> None:
    def score(gone: int, lastmod: float | None) -> float:
        return score_of(
            rates, now, page.changes, page.still, page.moving, visited_at, gone, lastmod
        )

    plain = score(0, None)
    if gone == 1 or (lastmod is not None and lastmod > visited_at):
        assert score(gone, lastmod) >= 1.0
    elif gone or lastmod is not None:
        assert score(gone, lastmod) <= plain
    else:
        assert score(gone, lastmod) == plain


def test_a_site_teaches_what_a_page_is_likely_to_do() -> None:
    """Little is known of a page without its neighbours, and soon all of it by itself."""
    quiet, lively, unknown = (
        WatchedPage(3, 0, 30.0, 0.0),
        WatchedPage(3, 3, 0.0, 30.0),
        WatchedPage(),
    )
    among_quiet = learn([quiet] * 990 + [lively] * 10)
    among_lively = learn([quiet] * 10 + [lively] * 990)
    assert chance(among_quiet, unknown, 10.0) < 0.05
    assert chance(among_lively, unknown, 10.0) > 0.5
    for rates in (among_quiet, among_lively):
        assert chance(rates, quiet, 10.0) < 0.05
        assert chance(rates, lively, 10.0) > 0.5


def test_pages_that_change_at_random_are_estimated_right() -> None:
    """From many pages of two known rates, visited at even gaps, both rates come out."""
    chance_of = Random("two rates")
    pages = []
    for rate in (0.002, 0.7):  # changes a gap of 100 seconds
        for _ in range(600):
            found = sum(chance_of.expovariate(rate) < 1 for _ in range(40))
            pages.append(WatchedPage(40, found, (40 - found) * 100.0, found * 100.0))
    rates = learn(pages)
    by_rate = [pages[:600], pages[600:]]
    for rate, group in zip((0.002, 0.7), by_rate, strict=True):
        expected = sum(chance(rates, page, 100.0) for page in group) / len(group)
        found = sum(page.changes for page in group) / (40 * len(group))
        assert isclose(expected, found, rel_tol=0.2), rate
