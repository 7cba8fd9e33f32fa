"""The index of Common Crawl: its URLs and its answers."""

import json
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.discovery.listings.common_crawl import (
    COLLECTIONS_URL,
    MOST_ENTRIES,
    MOST_PAGES,
    CapturedPage,
    Collection,
    IndexPage,
    host_pattern,
    page_count_url,
    read_collections,
    read_page_count,
    read_results,
    results_url,
)
from crawl4r.urls.canonical import CanonicalRules, canonicalize
from tests.properties import steady

API = "https://index.commoncrawl.org/CC-MAIN-2024-22-index"
NOTHING = b'{"message": "No Captures found for: example.org/*"}'
AS_WRITTEN = CanonicalRules(drop_tracking=False, sort_params=False)


def line(url: str, timestamp: str = "20240517083000", **more: str) -> str:
    record = {
        "url": url,
        "timestamp": timestamp,
        "status": "200",
        "mime": "text/html",
        "digest": "D",
    }
    return json.dumps({**record, **more})


def test_a_query_asks_for_what_is_wanted() -> None:
    url = results_url(API, host_pattern("example.org"), 3)
    assert url == (
        f"{API}?url=example.org/*&output=json&fl=url,timestamp,status,mime,digest"
        "&filter==status:200&page=3"
    )
    assert ("filter", "=status:200") in parse_qsl(urlsplit(url).query)
    assert "filter" not in results_url(API, "example.org/*", only_ok=False)
    assert page_count_url(API, host_pattern("example.org", subdomains=True)) == (
        f"{API}?url=*.example.org&output=json&showNumPages=true"
    )


def test_queries_are_canonical_as_they_are() -> None:
    for url in (COLLECTIONS_URL, results_url(API, "e.org/*", 1), page_count_url(API, "*.e.org")):
        assert canonicalize(url, rules=AS_WRITTEN) == url


@steady
@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_a_pattern_arrives_as_it_was_meant(pattern: str) -> None:
    asked = dict(parse_qsl(urlsplit(results_url(API, pattern)).query, keep_blank_values=True))
    assert asked["url"] == pattern


def test_collections_are_listed_in_their_order() -> None:
    body = json.dumps(
        [
            {
                "id": "CC-MAIN-2024-22",
                "name": "May 2024 Index",
                "timegate": "https://index.commoncrawl.org/CC-MAIN-2024-22/",
                "cdx-api": API,
                "from": "2024-05-18T00:00:00",
                "to": "2024-05-31T23:59:59",
            },
            {
                "id": "CC-MAIN-2009-2010",
                "name": "2009 - 2010",
                "cdx-api": "https://f.org/old-index",
            },
            {"id": "no api"},
            {"id": "bad", "cdx-api": "file:///etc/passwd"},
            "no collection",
        ]
    ).encode()
    begin, end = datetime(2024, 5, 18, tzinfo=UTC), datetime(2024, 5, 31, 23, 59, 59, tzinfo=UTC)
    assert read_collections(body) == [
        Collection("CC-MAIN-2024-22", "May 2024 Index", API, begin.timestamp(), end.timestamp()),
        Collection("CC-MAIN-2009-2010", "2009 - 2010", "https://f.org/old-index"),
    ]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b"<html>", b"null", b'[{"cdx-api": 1}]', b"[1"]
)
def test_what_lists_no_collections_gives_none(body: bytes) -> None:
    assert read_collections(body) == []


@pytest.mark.parametrize(
    ("body", "pages"),
    [
        (b'{"pages": 85, "pageSize": 5, "blocks": 423}\n', 85),
        (b'{"pages": 0, "pageSize": 5, "blocks": 0}', 0),
        (b"12\n", 12),
        (NOTHING, 0),
        (b'{"error": "No Captures found for: e.org/*"}', 0),
        (b'{"pages": 99999999999}', MOST_PAGES),
        (b'{"pages": -1}', None),
        (b'{"pages": true}', None),
        (b'{"pages": "5"}', None),
        (b'{"message": "Please slow down"}', None),
        (b"<html>504 Gateway Time-out</html>", None),
        (b"", None),
    ],
)
def test_a_count_of_pages_is_read(body: bytes, pages: int | None) -> None:
    assert read_page_count(body) == pages


def test_captures_are_read_line_by_line() -> None:
    body = "\n".join(
        [
            line("https://example.org/a", status="301", mime="TEXT/html"),
            "",
            line("http://example.org:80/b?x=1&y=2", "2024"),
            line("https://example.org/c", "nonsense", status="-"),
        ]
    )
    moment = datetime(2024, 5, 17, 8, 30, tzinfo=UTC).timestamp()
    year = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    assert read_results(body.encode()) == IndexPage(
        [
            CapturedPage("https://example.org/a", moment, "text/html", 301, "D"),
            CapturedPage("http://example.org/b?x=1&y=2", year, "text/html", 200, "D"),
            CapturedPage("https://example.org/c", None, "text/html", None, "D"),
        ]
    )


def test_a_url_comes_once_with_its_latest_capture() -> None:
    stamps = ["20240501000000", "20240517083000", "20240510000000"]
    body = "\n".join(line("https://example.org/", stamp, digest=stamp) for stamp in stamps)
    (page,) = read_results(body.encode()).entries
    assert page.digest == "20240517083000"


def test_a_torn_last_line_costs_that_line_alone() -> None:
    whole = "\n".join(line(f"https://example.org/{number}") for number in range(10))
    found = read_results(whole[:-20].encode())
    assert (len(found.entries), found.problem) == (9, "lines that could not be read: 1")


def test_nothing_found_is_no_problem() -> None:
    assert read_results(NOTHING) == IndexPage([])
    assert read_results(b"") == IndexPage([])


def test_an_answer_that_is_an_error_says_so() -> None:
    refused = b'{"message": "Page 5 invalid: First Page is 0, Last Page is 4"}'
    assert read_results(refused) == IndexPage([], "Page 5 invalid: First Page is 0, Last Page is 4")
    assert (
        read_results(b"<html><h1>503 Slow down</h1></html>").problem
        == "lines that could not be read: 1"
    )


def test_one_answer_gives_at_most_fifty_thousand_entries() -> None:
    body = "\n".join(line(f"https://example.org/{number}") for number in range(MOST_ENTRIES + 1))
    found = read_results(body.encode())
    assert len(found.entries) == MOST_ENTRIES
    assert found.problem == "more than 50,000 entries: the rest was left out"
    assert "lines that could not be read" in read_results(b"x\n" * 200_000).problem


@steady
@given(
    st.lists(st.integers(0, 10**6).map("https://example.org/{}".format), unique=True, max_size=20),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_any_captures_come_back(urls: list[str], end: str) -> None:
    found = read_results(end.join(line(url) for url in urls).encode())
    assert [page.url for page in found.entries] == urls
    assert found.problem == ""
