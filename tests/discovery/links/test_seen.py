"""A link is reported once, and again only with a smaller depth (the hot-link cache)."""

import tracemalloc

import pytest

from crawl4r.crawling.reader import Reader
from crawl4r.discovery.links.seen import SeenLinks
from crawl4r.model import Found, PageBody
from crawl4r.urls.policy import LinkRules

ROOT = "http://e.org/"


class Site:
    """Pages read one after the other by one reader."""

    def __init__(self, **rules: object) -> None:
        self._reader = Reader(LinkRules(**rules))

    def finds(self, html: str, url: str = ROOT, depth: int = 0) -> list[Found]:
        return self._reader.read(PageBody(html.encode(), url), depth).found

    def urls(self, html: str, url: str = ROOT, depth: int = 0) -> list[str]:
        return [found.url for found in self.finds(html, url, depth)]


@pytest.mark.parametrize("href", ["/x", "x", "?q=1", "http://f.org/x", "//f.org/x", "x#y"])
def test_a_link_seen_before_is_not_reported_again(href: str) -> None:
    site = Site()
    assert len(site.finds(f'<a href="{href}">')) == 1
    assert site.finds(f'<a href="{href}">') == []
    assert site.finds(f'<a href="{href}">', depth=3) == []


def test_a_link_at_a_better_depth_is_reported_again() -> None:
    site = Site()
    depths = [site.finds('<a href="/x">', depth=depth) for depth in (5, 6, 5, 2, 3, 0)]
    assert [[found.depth for found in finds] for finds in depths] == [[6], [], [], [3], [], [1]]


def test_one_text_in_two_folders_is_two_links() -> None:
    site = Site()
    assert site.urls('<a href="x">', ROOT + "a/") == [ROOT + "a/x"]
    assert site.urls('<a href="x">', ROOT + "b/") == [ROOT + "b/x"]
    assert site.urls('<a href="x">', ROOT + "a/other") == []
    assert site.urls('<a href="../x">', ROOT + "a/") == [ROOT + "x"]


@pytest.mark.parametrize("name", ["http", "httpd.conf", "https.html", "http-status/404"])
def test_a_relative_link_may_begin_like_a_scheme(name: str) -> None:
    site = Site()
    assert site.urls(f'<a href="{name}">', ROOT + "a/") == [f"{ROOT}a/{name}"]
    assert site.urls(f'<a href="{name}">', ROOT + "b/") == [f"{ROOT}b/{name}"]


def test_one_query_on_two_pages_is_two_links() -> None:
    site = Site()
    assert site.urls('<a href="?q=1">', ROOT + "a") == [ROOT + "a?q=1"]
    assert site.urls('<a href="?q=1">', ROOT + "b") == [ROOT + "b?q=1"]
    assert site.urls('<a href="?q=1">', ROOT + "a?q=7") == []
    assert site.urls('<a href="?q=1">', ROOT) == [ROOT + "?q=1"]


def test_one_path_on_two_origins_is_two_links() -> None:
    site = Site()
    urls = ["http://e.org/", "https://e.org/", "http://e.org:81/"]
    assert [site.urls('<a href="/x">', url) for url in urls] == [[url + "x"] for url in urls]
    assert site.urls('<a href="//f.org/">', "http://e.org/") == ["http://f.org/"]
    assert site.urls('<a href="//f.org/">', "https://e.org/") == ["https://f.org/"]


def test_one_text_under_two_bases_is_two_links() -> None:
    site = Site()
    assert site.urls('<base href="/a/"><a href="x">') == [ROOT + "a/x"]
    assert site.urls('<base href="/b/"><a href="x">') == [ROOT + "b/x"]
    assert site.urls('<base href="http://f.org/"><a href="/x">') == ["http://f.org/x"]


def test_fragments_make_no_new_link() -> None:
    site = Site()
    assert site.urls('<a href="/x#1"><a href="/x#2"><a href="/x">') == [ROOT + "x"]
    assert site.urls('<a href="#top">') == []


@pytest.mark.parametrize(
    "html",
    [
        '<a rel=nofollow href="/x"></a>',
        '<a rel="noopener\nNoFollow" href="/x"></a>',
        '<map><area rel=NOFOLLOW href="/x"></map>',
    ],
)
def test_a_link_refused_for_nofollow_counts_when_it_may_be_followed(html: str) -> None:
    site = Site(follow_nofollow=False)
    assert [found.admitted for found in site.finds(html)] == [False]
    assert [found.admitted for found in site.finds('<a href="/x">')] == [True]


def test_a_link_refused_and_admitted_on_one_page_is_admitted() -> None:
    finds = Site(follow_nofollow=False).finds('<a rel=nofollow href="/x"></a><a href="/x">')
    assert any(found.admitted for found in finds)


def test_a_pages_own_address_improves_on_a_link_seen_before() -> None:
    """At depth 1 a link leads to depth 2, a canonical address stays at depth 1."""
    site = Site(max_depth=1)
    assert [found.admitted for found in site.finds('<a href="/x">', depth=1)] == [False]
    finds = site.finds('<link rel=canonical href="/x">', ROOT + "x?print=1", depth=1)
    assert [(found.depth, found.admitted) for found in finds] == [(1, True)]


def test_what_was_forgotten_is_only_reported_again() -> None:
    seen = SeenLinks(most=10)
    seen.turn_to(ROOT)
    assert seen.is_new("/kept", 1)
    for number in range(50):
        seen.is_new(f"/{number}", 1)
    seen.turn_to(ROOT)
    assert seen.is_new("/kept", 1)
    assert not seen.is_new("/kept", 1)


def test_memory_does_not_grow_with_the_pages_that_name_nothing_new() -> None:
    seen = SeenLinks(most=100)
    tracemalloc.start()
    try:
        for number in range(20_000):
            seen.turn_to(f"{ROOT}{number}/page")
            seen.is_new("/home", 1)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 1_000_000


def test_a_link_that_is_not_to_be_followed_does_not_make_the_known_ones_new() -> None:
    site = Site(follow_nofollow=False)
    assert site.urls('<a href="/x">') == [ROOT + "x"]
    assert site.urls('<a href="/x"></a><a rel=nofollow href="/y">', ROOT + "p") == [ROOT + "y"]


def test_a_known_page_is_known_with_any_fragment_and_found_again_nearer() -> None:
    site = Site()
    assert site.urls('<a href="x">', depth=3) == [ROOT + "x"]
    for _ in range(2):
        assert site.urls('<a href="x#1"><a href="x#2"><a href="#3">', depth=3) == []
    assert site.urls('<a href="x#1">', depth=1) == [ROOT + "x"]
    assert site.urls('<a href="x#1"><a href="x">', depth=1) == []
    assert site.urls('<a href="x#2">', depth=2) == []
