"""Every hostile route of the test site in one crawl: each has a named outcome, and it goes on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import crawl4r
from crawl4r.crawling.loop import EndedBy
from tests.fetch.memory import MEGABYTE, Growth, watch_memory
from tests.hostile.crawling import Crawled, crawl, quick_settings
from tests.site.pages import page_bytes, page_path
from tests.site.process import SiteProcess

NORMAL = 20  # pages of the well-behaved site beside the hostile ones
MOST_GROWTH = 150 * MEGABYTE

# path: verdict, words of the reason, state
ROWS: dict[str, tuple[str, str, str]] = {
    "/bomb/gzip?mb=48": ("too-large", "unpacks to more than 8388608 bytes", "failed"),
    "/bomb/br?mb=48": ("too-large", "unpacks to more than 8388608 bytes", "failed"),
    "/bomb/zstd?mb=48": ("too-large", "unpacks to more than 8388608 bytes", "failed"),
    "/bomb/double-gzip?mb=48": ("too-large", "unpacks to more than 8388608 bytes", "failed"),
    "/endless": ("too-large", "byte limit", "failed"),
    "/endless?chunked=1": ("too-large", "byte limit", "failed"),
    "/big?mb=20": ("too-large", "byte limit", "failed"),
    "/drip?ms=100": ("network-error", "timeout", "failed"),
    "/hang": ("network-error", "timeout", "failed"),
    "/slow-headers?ms=500&n=20": ("network-error", "timeout", "failed"),
    "/reset": ("network-error", "reset", "failed"),
    "/close": ("network-error", "empty-reply", "failed"),
    "/garbage": ("network-error", "not-http", "failed"),
    "/body/truncated": ("network-error", "truncated", "failed"),
    "/body/unended-chunks": ("network-error", "truncated", "failed"),
    "/body/broken-chunks": ("network-error", "chunk", "failed"),
    "/body/two-lengths": ("network-error", "Content-Length", "failed"),
    "/body/short-length": ("ok", "", "done"),
    "/body/empty": ("ok", "", "done"),
    "/body/204-with-body": ("ok", "", "done"),
    "/head/megabyte": ("hostile", "headers-too-large", "failed"),
    "/head/endless": ("hostile", "headers-too-large", "failed"),
    "/head/ten-thousand": ("hostile", "headers-too-large", "failed"),
    "/head/long-line": ("hostile", "headers-too-large", "failed"),
    "/head/no-colon": ("network-error", "not-http", "failed"),
    "/head/folded": ("ok", "", "done"),
    "/head/non-ascii": ("ok", "", "done"),
    "/encoded/plain-as-gzip": ("undecodable", "not gzip", "failed"),
    "/encoded/plain-as-br": ("undecodable", "not br", "failed"),
    "/encoded/plain-as-zstd": ("undecodable", "not zstd", "failed"),
    "/encoded/truncated-gzip": ("undecodable", "ends too early", "failed"),
    "/encoded/unknown": ("undecodable", "unknown content coding 'rot13'", "failed"),
    "/lying/binary-as-html": ("ok", "", "done"),
    "/lying/html-as-png": ("ok", "", "done"),
    "/lying/nonsense-type": ("ok", "", "done"),
    "/redirect-loop": ("redirect", "to ", "done"),
    "/redirect-endless/0": ("redirect", "to ", "done"),
    "/redirect-odd/no-location": ("http-error", "http-302", "done"),
    "/redirect-odd/unparsable": ("redirect", "which is no URL", "done"),
    "/redirect-odd/utf-8": ("redirect", "q=caf%C3%A9", "done"),
    "/nested": ("too-small", "next to nothing on it", "done"),
    "/stray": ("unreadable", "reading took longer than 2 s", "done"),
    "/attributes": ("unreadable", "reading took longer than 2 s", "done"),
    "/long-link": ("ok", "", "done"),
    "/status/403": ("http-error", "http-403", "done"),
    "/status/418": ("http-error", "http-418", "done"),
    "/status/429": ("http-error", "http-429 after 2 attempts", "failed"),
    "/status/500": ("http-error", "http-500 after 2 attempts", "failed"),
    "/status/999": ("http-error", "http-999", "done"),
}
SURVIVABLE = {"/stray", "/attributes"}  # a quicker reader gets through; either end is a good one


@dataclass(frozen=True, slots=True)
class Ordeal:
    """The one crawl that all tests of this module look at."""

    site: SiteProcess
    crawled: Crawled
    growth: Growth
    wrong_pages: list[str]
    timed_out: set[str]  # URLs of which an attempt took too long


@pytest.fixture(scope="module")
def ordeal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ordeal]:
    """A host for each row: what one does to its host must not colour the outcome of another."""
    hosts = ["127.0.0.1", *(f"127.1.0.{number + 1}" for number in range(len(ROWS)))]
    settings = quick_settings(fetch={"max_bytes": 4 * MEGABYTE, "max_decoded_bytes": 8 * MEGABYTE})
    wrong_pages: list[str] = []
    timed_out: set[str] = set()
    with SiteProcess(hosts=hosts) as site:

        def look_at(workspace: crawl4r.Workspace) -> None:
            attempts = {url: workspace.why(url)["failed_attempts"] for url in seeds}
            timed_out.update(url for url in seeds if "timeout" in str(attempts[url]))
            for number in range(NORMAL):
                url = site.url(page_path(NORMAL, number))
                page = workspace.get(url)
                if page is None or page.body != page_bytes(NORMAL, number, site.url("")):
                    wrong_pages.append(url)

        seeds = [site.url(path, host) for path, host in zip(ROWS, hosts[1:], strict=True)]
        seeds.insert(len(seeds) // 2, site.url(page_path(NORMAL, 0)))
        folder = tmp_path_factory.mktemp("hostile")
        with watch_memory() as growth:
            crawled = crawl(folder, seeds, settings, then=look_at)
        yield Ordeal(site, crawled, growth, wrong_pages, timed_out)


def url_of(ordeal: Ordeal, path: str) -> str:
    return ordeal.site.url(path, f"127.1.0.{list(ROWS).index(path) + 1}")


@pytest.mark.parametrize("path", ROWS)
def test_each_hostile_answer_has_a_named_outcome(ordeal: Ordeal, path: str) -> None:
    row = ordeal.crawled.rows[url_of(ordeal, path)]
    if path in SURVIVABLE and row.verdict == "ok":
        return
    verdict, words, state = ROWS[path]
    assert (row.verdict, row.state) == (verdict, state)
    assert words in (row.reason or "")


def test_the_crawl_went_on_to_its_end(ordeal: Ordeal) -> None:
    assert ordeal.crawled.ended_by is EndedBy.NOTHING_LEFT
    states = {row.state for row in ordeal.crawled.rows.values()}
    assert states <= {"done", "failed", "refused"}


def test_the_normal_site_beside_them_is_stored_whole_and_exact(ordeal: Ordeal) -> None:
    assert ordeal.wrong_pages == []


def test_endless_redirects_end_at_the_limit(ordeal: Ordeal) -> None:
    chain = [row for url, row in ordeal.crawled.rows.items() if "/redirect-endless/" in url]
    assert any(row.reason == "more than 10 redirects" for row in chain)


def test_what_is_hostile_is_still_kept_for_whoever_wants_to_see_it(ordeal: Ordeal) -> None:
    row = ordeal.crawled.rows[url_of(ordeal, "/stray")]
    assert row.bytes and row.bytes > 500_000
    assert row.sha256


def test_no_page_is_asked_for_more_often_than_the_retries_allow(ordeal: Ordeal) -> None:
    asked: dict[tuple[str, str], int] = {}
    for record in ordeal.site.requests():
        asked[record.host, record.path] = asked.get((record.host, record.path), 0) + 1
    assert max(asked.values()) <= 2


def test_what_cannot_become_better_is_asked_for_once(ordeal: Ordeal) -> None:
    """A retry of a bomb is another bomb. On a busy machine one may run out of time before it is
    known for one, and that may become better."""
    final = {
        path
        for path in ROWS
        if ROWS[path][0] in {"too-large", "undecodable", "hostile", "unreadable"}
    }
    asked = Counter(record.path for record in ordeal.site.requests() if record.path in final)
    assert asked == {path: 1 + (url_of(ordeal, path) in ordeal.timed_out) for path in final}


def test_memory_stays_bounded_through_it_all(ordeal: Ordeal) -> None:
    assert ordeal.growth.peak < MOST_GROWTH
