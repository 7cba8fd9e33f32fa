"""The guesses for a host without further links, and what their results teach."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawl4r.discovery.guesses.date_paths import DatePaths
from crawl4r.discovery.guesses.usual_places import (
    PatternRecord,
    Proposal,
    archive_places,
    feed_places,
    sitemap_places,
    tries_left,
    worth,
    worth_trying,
)
from crawl4r.urls.canonical import canonicalize
from tests.fetch.memory import MEGABYTE, watch_memory
from tests.properties import steady

ORIGIN = "https://e.org"
NOW = datetime(2024, 8, 20, tzinfo=UTC).timestamp()


def learnt(*paths: str) -> DatePaths:
    dates = DatePaths(ORIGIN)
    for path in paths:
        dates.add(ORIGIN + path)
    return dates


def proven(*patterns: str) -> dict[str, PatternRecord]:
    return {pattern: PatternRecord(pattern, 1, 1) for pattern in patterns}


def paths(proposals: list[Proposal]) -> list[str]:
    return [proposal.url.removeprefix(ORIGIN) for proposal in proposals]


def test_places_are_of_the_origin_and_the_best_come_first() -> None:
    assert sitemap_places(ORIGIN)[0] == "https://e.org/sitemap.xml"
    assert archive_places("http://e.org:8080/some/page?x=1")[0] == "http://e.org:8080/archive"
    for places in (sitemap_places(ORIGIN), archive_places(ORIGIN), feed_places(ORIGIN)):
        assert len(places) == len(set(places)) <= 20
        assert [canonicalize(url) for url in places] == places


def test_worth_is_even_at_first_and_follows_what_happens() -> None:
    assert worth(None) == worth(PatternRecord("/archive")) == 0.5
    good = [worth(PatternRecord("p", tried, tried)) for tried in range(6)]
    bad = [worth(PatternRecord("p", tried, 0)) for tried in range(6)]
    assert good == sorted(set(good))
    assert bad == sorted(set(bad), reverse=True)
    assert worth(PatternRecord("p", 2, 500)) <= 1


@steady
@given(st.integers(-5, 10**9), st.integers(-5, 10**9))
def test_worth_is_between_nothing_and_one(tried: int, yielded: int) -> None:
    assert 0 <= worth(PatternRecord("p", tried, yielded)) <= 1


def test_a_pattern_has_three_tries_before_its_first_success() -> None:
    assert [tries_left(PatternRecord("p", tried, 0), 50) for tried in range(5)] == [3, 2, 1, 0, 0]
    assert tries_left(PatternRecord("p", 9, 1), 50) == 50
    assert (tries_left(None, 50), tries_left(None, 2)) == (3, 2)


def test_places_that_work_elsewhere_come_first_and_those_that_never_do_not_at_all() -> None:
    records = {
        "/news": PatternRecord("/news", 4, 3),
        "/archive": PatternRecord("/archive", 3, 0),
        "/all": PatternRecord("/all", 2, 0),
    }
    found = worth_trying(archive_places(ORIGIN), records)
    assert found[0] == Proposal("https://e.org/news", "/news")
    assert found[-1] == Proposal("https://e.org/all", "/all")
    assert "/archive" not in [proposal.pattern for proposal in found]
    assert [each.url for each in worth_trying(archive_places(ORIGIN), {})] == archive_places(ORIGIN)


TEMPLATES = {
    "posts by day": ("/2024/05/17/slug", "/{year}/{month}/", "/2024/05/"),
    "posts by month": ("/blog/2024/05/slug.html", "/blog/{year}/{month}/", "/blog/2024/05/"),
    "posts by year": ("/news/2024/slug", "/news/{year}/", "/news/2024/"),
    "months of one digit": ("/2024/5/slug", "/{year}/{month}/", "/2024/5/"),
    "months by name": ("/world/2024/may/17/slug", "/world/{year}/{mon}/", "/world/2024/may/"),
    "months in one piece": ("/a/2024-05/slug", "/a/{year}-{month}/", "/a/2024-05/"),
    "digits alone": ("/a/202405/slug", "/a/{year}{month}/", "/a/202405/"),
    "days in one piece": ("/a/20240517/slug", "/a/{year}{month}{day}/", "/a/20240517/"),
    "days with underscores": ("/2024_05_17/slug", "/{year}_{month}_{day}/", "/2024_05_17/"),
}


@pytest.mark.parametrize(("page", "pattern", "listing"), TEMPLATES.values(), ids=TEMPLATES)
def test_the_date_of_a_page_suggests_a_listing(page: str, pattern: str, listing: str) -> None:
    assert learnt(page).propose(NOW)[0] == Proposal(ORIGIN + listing, pattern)


NEIGHBOURS = {
    "a folder": ("/news/2024/05/", "/news/{year}/{month}/", "/news/2024/04/", "/news/2024/06/"),
    "no slash": ("/news/2024/05", "/news/{year}/{month}", "/news/2024/04", "/news/2024/06"),
    "a file": ("/a/2024-05.html", "/a/{year}-{month}.html", "/a/2024-04.html", "/a/2024-06.html"),
    "a file in a folder": ("/2024/05.php", "/{year}/{month}.php", "/2024/04.php", "/2024/06.php"),
    "an index page": ("/2024/05/index.html", "/{year}/{month}/", "/2024/04/", "/2024/06/"),
}


@pytest.mark.parametrize(
    ("listing", "pattern", "before", "after"), NEIGHBOURS.values(), ids=NEIGHBOURS
)
def test_a_known_listing_suggests_the_months_beside_it(
    listing: str, pattern: str, before: str, after: str
) -> None:
    found = learnt(listing).propose(NOW, records=proven(pattern))
    of_it = [each.url.removeprefix(ORIGIN) for each in found if each.pattern == pattern]
    assert of_it[:2] == [after, before]
    assert listing not in of_it


def test_periods_that_exist_come_before_gaps_and_gaps_before_the_months_around() -> None:
    dates = learnt("/2024/03/a", "/2024/03/b", "/2024/06/c")
    found = dates.propose(NOW, records=proven("/{year}/{month}/"))
    months = [path for path in paths(found) if path.count("/") == 3]
    assert months[:4] == ["/2024/06/", "/2024/03/", "/2024/05/", "/2024/04/"]
    assert set(months[4:6]) == {"/2024/07/", "/2024/02/"}
    assert months[-1] == "/2023/03/"


def test_nothing_is_proposed_after_now_or_before_the_web() -> None:
    records = proven("/{year}/{month}/", "/{year}/")
    assert "/2024/08/" in paths(learnt("/2024/07/").propose(NOW, 100, records))
    assert "/2024/09/" not in paths(learnt("/2024/07/").propose(NOW, 100, records))
    assert paths(learnt("/2031/05/17/slug").propose(NOW, 100)) == []
    early = paths(learnt("/1991/03/").propose(NOW, 100, records))
    assert "/1991/01/" in early
    assert not [path for path in early if path.startswith("/1990")]


def test_a_new_pattern_is_tried_three_times_and_then_it_depends() -> None:
    dates = learnt(*(f"/2023/{month:02}/slug" for month in range(1, 13)))
    pattern = "/{year}/{month}/"

    def proposed(record: PatternRecord | None) -> int:
        found = dates.propose(NOW, 500, {pattern: record} if record else {})
        return len([each for each in found if each.pattern == pattern])

    assert proposed(None) == 3
    assert proposed(PatternRecord(pattern, 2, 0)) == 1
    assert proposed(PatternRecord(pattern, 3, 0)) == 0
    assert proposed(PatternRecord(pattern, 3, 1)) > 12


def test_a_pattern_that_yields_is_put_before_one_that_does_not() -> None:
    dates = learnt("/a/2024/05/x", "/b/2024/05/x")
    for good, bad in (("/a", "/b"), ("/b", "/a")):
        records = {
            f"{good}/{{year}}/{{month}}/": PatternRecord("", 5, 5),
            f"{bad}/{{year}}/{{month}}/": PatternRecord("", 5, 1),
        }
        assert paths(dates.propose(NOW, records=records))[0] == f"{good}/2024/05/"


def test_what_was_asked_for_is_not_proposed_again() -> None:
    dates = learnt("/2024/05/17/slug")
    seen: set[str] = set()
    records = proven("/{year}/{month}/", "/{year}/{month}/{day}/", "/{year}/")
    while found := dates.propose(NOW, 5, records):
        assert not seen & {each.url for each in found}
        seen |= {each.url for each in found}
        for each in found:
            dates.add(each.url, exists=False)  # a listing that is not there moves no border
    assert {ORIGIN + "/2024/05/", ORIGIN + "/2024/", ORIGIN + "/2024/05/17/"} <= seen
    assert len(seen) < 40


def test_each_month_that_is_found_leads_to_the_ones_before_it() -> None:
    dates = learnt("/2024/08/slug")
    records = proven("/{year}/{month}/")
    for _ in range(40):
        for each in dates.propose(NOW, 10, records):
            dates.add(each.url, exists=each.url >= f"{ORIGIN}/2020/01/")
    known = {f"/{year}/{month:02}/" for year in range(2020, 2024) for month in range(1, 13)}
    assert not known & set(paths(dates.propose(NOW, 500, records)))


def test_a_lone_year_may_be_any_number_but_two_are_a_row() -> None:
    assert paths(learnt("/item/2011").propose(NOW, records=proven("/item/{year}"))) == []
    found = paths(learnt("/a/2020/", "/a/2022/").propose(NOW, records=proven("/a/{year}/")))
    assert found == ["/a/2021/", "/a/2023/", "/a/2019/", "/a/2024/", "/a/2018/"]


NO_DATES = ["/", "/about", "/2024-05-17-slug/", "/item/1234/05/17", "/2024x/05/", "/p/99/2"] + [
    "/v1.2024/x",
    "/a/200013/x",
    "/a/20240532/x",
    "/a?date=2024-05",
    "//",
    "/1989/01/x",
]


@pytest.mark.parametrize("path", NO_DATES)
def test_numbers_that_are_no_dates_suggest_nothing(path: str) -> None:
    assert learnt(path).propose(NOW) == []


def test_a_page_of_a_listing_is_not_the_listing() -> None:
    assert "/2024/05/" in paths(learnt("/2024/05/?page=2").propose(NOW))


def test_urls_of_other_hosts_are_passed_over() -> None:
    dates = DatePaths(ORIGIN)
    dates.add("https://f.org/2024/05/17/slug")
    assert dates.propose(NOW) == []
    dates.add("http://e.org/2024/05/17/slug")  # the same host, before it had a certificate
    assert dates.propose(NOW)[0].url == "https://e.org/2024/05/"


def test_a_host_is_remembered_in_little_memory() -> None:
    dates = DatePaths(ORIGIN)
    with watch_memory() as growth:
        for number in range(50_000):
            year, month, day = 1991 + number % 40, number % 12 + 1, number % 28 + 1
            dates.add(f"{ORIGIN}/u{number % 5_000}/{year}/{month:02}/{day:02}/{number}")
    assert growth.remaining < 16 * MEGABYTE
    assert 0 < len(dates.propose(NOW, 50)) <= 50


def test_a_section_with_many_pages_is_not_forgotten_for_many_with_one() -> None:
    dates = learnt(
        *(f"/news/2024/05/{n}" for n in range(100)), *(f"/u{n}/2024/05/x" for n in range(500))
    )
    assert "/news/2024/05/" in paths(dates.propose(NOW, 200))


segments = st.sampled_from(
    ["2024", "1991", "2099", "05", "5", "12", "13", "may", "31", "2024-05", "20240517", "news", ""]
    + ["2024.html", "05.php", "index.html", "{year}", "é", "%2F", "2024_05", "٢٠٢٤", "?x=2024/05"]
)


@steady
@given(
    st.lists(st.lists(segments, max_size=6).map("/".join), max_size=15),
    st.floats(0, 4e9),
    st.integers(0, 30),
)
@example(["2024/05"], 0.0, 10)
def test_any_paths_give_urls_that_are_canonical_and_no_more_than_asked(
    texts: list[str], now: float, most: int
) -> None:
    dates = DatePaths(ORIGIN)
    known = {canonicalize(f"{ORIGIN}/{text}") for text in texts}
    for url in known:
        dates.add(url)
    found = dates.propose(now, most)
    assert len(found) == len({each.url for each in found}) <= most
    assert not known & {each.url for each in found}
    for each in found:
        assert canonicalize(each.url) == each.url
