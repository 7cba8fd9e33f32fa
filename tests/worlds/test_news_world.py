"""The news site is what it says: a reader who knows nothing of the truth finds it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from tests.site.exchange import Request
from tests.worlds.news import News
from tests.worlds.news_lists import SECTIONS, Section
from tests.worlds.process import WorldProcess
from tests.worlds.walking import get, in_sitemaps, linked_paths, path_of, walk

SMALL = 120  # articles


@pytest.fixture(scope="module")
def site() -> Iterator[WorldProcess]:
    with WorldProcess(News()) as site:
        yield site


def test_a_news_site_has_the_articles_months_and_sections_it_was_told_to_have() -> None:
    truth = News().truth()
    assert len(truth.articles) == 3000
    assert len({path[:9] for path in truth.articles}) == 12
    assert Counter(path.count("/") for path in truth.articles) == {4: 3000}
    assert len(truth.kinds["list"] & {section.first for section in SECTIONS}) == 8
    assert "/world?page=40" in truth.kinds["list"]
    assert "/world?page=41" not in truth.kinds["list"]
    assert 0 < len(truth.articles - truth.listed) < 200


@pytest.mark.parametrize(
    "switched",
    [
        News(SMALL),
        News(SMALL, archives=False, feed=False, sitemaps=False),
        News(SMALL, pagination_links="first-two", month_links=False),
    ],
    ids=["all", "no-archives", "few-links"],
)
def test_what_links_lead_to_on_a_news_site_is_what_the_truth_says(switched: News) -> None:
    with WorldProcess(switched) as site:
        found = walk(site.url("/"))
        truth = switched.truth()
        assert set(found.values()) == {200}
        assert found.keys() == truth.linked
        assert not any(map(truth.wasted, found))
        tally = truth.tally(site.requests())
        articles = len(truth.linked_articles)
        assert tally == (len(found), articles, 0, 0)


def test_with_few_links_most_of_a_news_site_is_out_of_reach_of_links() -> None:
    told = News(pagination_links="first-two", month_links=False)
    few = told.truth()
    hidden = few.kinds["list"] - few.linked
    assert len(hidden) == len(few.kinds["list"]) - 2 * len(SECTIONS)
    for path in hidden:
        asked = Request("127.0.0.1", "GET", path, "HTTP/1.1", ())
        assert told.world().answer(asked).status == 200
    assert 500 < len(few.linked_articles) < 1000
    assert few.articles == News().truth().articles == News().truth().linked_articles


@pytest.mark.parametrize("section", SECTIONS, ids=[section.name for section in SECTIONS])
def test_a_list_leads_on_to_its_last_page(site: WorldProcess, section: Section) -> None:
    pages = News().truth().kinds["list"]
    ours = {path for path in pages if path.startswith(f"/{section.name}")}
    assert len(ours) > 10
    assert walk(site.url(section.first), lambda p: p if p in ours else None).keys() == ours
    if section.hides_next:
        second = section.page(2)
        assert f'rel="next" href="{second}"'.encode() in get(site.url(section.first)).body
        assert f'<a href="{second}"'.encode() not in get(site.url(section.first)).body


def test_every_list_of_a_news_site_has_its_pages_and_its_own_answer_past_the_last(
    site: WorldProcess,
) -> None:
    truth = News().truth()
    articles: Counter[str] = Counter()
    assert Counter(section.past for section in SECTIONS) == {
        "missing": 5,
        "first": 1,
        "empty": 1,
        "last": 1,
    }
    for section in SECTIONS:
        pages = [path for path in truth.kinds["list"] if path.startswith(f"/{section.name}")]
        for path in pages:
            shown = linked_paths(site.url(path)) & truth.articles
            assert 0 < len(shown) <= 20
            articles.update(shown)
        past = section.page(len(pages) + 1)
        assert truth.wasted(past)
        answered = get(site.url(past))
        match section.past:
            case "missing":
                assert answered.status == 404
            case "first":
                assert (answered.status, answered.headers["Location"]) == (301, section.first)
            case "empty":
                assert not linked_paths(site.url(past)) & truth.articles
            case "last":
                assert answered.body == get(site.url(section.page(len(pages)))).body
    assert articles == Counter(dict.fromkeys(truth.listed, 1))


def test_robots_lead_to_sitemaps_that_name_every_article_and_when_it_appeared(
    site: WorldProcess,
) -> None:
    truth = News().truth()
    [index] = re.findall(r"Sitemap: (\S+)", get(site.url("/robots.txt")).body.decode())
    assert get(site.url("/sitemap.xml")).status == 404
    before = len(site.requests())
    named = {path_of(url) for url in in_sitemaps(index)}
    assert {record.path for record in site.requests()[before:]} == truth.kinds["sitemap"]
    assert named - truth.articles == {"/", *(section.first for section in SECTIONS)}
    assert named >= truth.articles
    newest = get(site.url("/sitemaps/news.xml")).body.decode()
    assert newest.count("<news:publication_date>") == newest.count("<lastmod>") > 5


def test_the_feed_of_a_news_site_has_the_newest_articles(site: WorldProcess) -> None:
    assert b'rel="alternate" type="application/rss+xml" href="/feed.xml"' in get(site.url()).body
    feed = ElementTree.fromstring(get(site.url("/feed.xml")).body)
    linked = [path_of(item.text or "") for item in feed.iterfind("channel/item/link")]
    assert len(linked) == 50
    assert frozenset(linked) == News().truth().in_feed
    assert [path[:12] for path in linked] == sorted((path[:12] for path in linked), reverse=True)


def test_what_is_switched_off_is_missing_and_nothing_names_it() -> None:
    switched = News(SMALL, sitemaps=False, archives=False, feed=False)
    truth = switched.truth()
    with WorldProcess(switched) as site:
        assert b"itemap" not in get(site.url("/robots.txt")).body
        assert b"alternate" not in get(site.url("/")).body
        for path in ("/sitemap.xml", "/sitemaps/index.xml", "/archive", "/2025/11/", "/feed.xml"):
            assert get(site.url(path)).status == 404
            assert truth.wasted(path)


def test_the_archive_leads_to_every_article_though_no_page_links_it() -> None:
    unlinked = News(SMALL, month_links=False)
    truth = unlinked.truth()
    assert not truth.kinds["archive"] & truth.linked
    with WorldProcess(unlinked) as site:
        months = linked_paths(site.url("/archive")) & truth.kinds["archive"]
        assert len(months) == 12
        found = set().union(*(linked_paths(site.url(month)) for month in months))
    assert found >= truth.articles
    assert not found & truth.kinds["archive"]


def test_an_article_says_what_no_other_says_and_is_not_sent_twice(site: WorldProcess) -> None:
    first, second = sorted(News().truth().articles)[:2]
    answers = [get(site.url(path)) for path in (first, second)]
    sentences = [set(re.findall(r"[^.>]+\.", a.body.decode())) for a in answers]
    assert len(sentences[0]) > 15
    assert len(sentences[0] & sentences[1]) <= 2  # the line with section and date
    etag, changed = answers[0].headers["ETag"], answers[0].headers["Last-Modified"]
    assert get(site.url(first), If_None_Match=etag).status == 304
    assert get(site.url(first), If_Modified_Since=changed).status == 304
    assert get(site.url(second), If_None_Match=etag).status == 200


@pytest.mark.parametrize(
    "path",
    ["/world?page=1", "/?from=feed", "/sport/page/0", "/2025/11", "/2026/01/", "/business?start=7"],
)
def test_other_spellings_and_guesses_are_wasted(path: str) -> None:
    assert News().truth().wasted(path)
