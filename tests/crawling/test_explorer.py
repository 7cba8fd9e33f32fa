"""What is tried when a host runs dry, in which order and for how long; no page is fetched here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawl4r.crawling.explorer import Explorer, ExploringRules
from crawl4r.model import LISTING, Found, FoundBy, Lease, Response, UrlState
from crawl4r.storage.tables import RobotsRecord
from tests.crawling.small_crawl import HOST, NOW, PAGE, SITE, SmallCrawl, answer, small_crawl

NOTHING = ExploringRules(sitemaps=False, pagination=False, archives=False)
SITEMAPS = ExploringRules(pagination=False, archives=False)
LISTS = ExploringRules(sitemaps=False, archives=False)
PLACES = ExploringRules(sitemaps=False, pagination=False)
INDEX = ExploringRules(
    sitemaps=False, pagination=False, archives=False, common_crawl="http://index.org/CC"
)


def names(*paths: str) -> Response:
    """A page that links to these."""
    links = "".join(f"<a href='{path}'>story number {path}</a> " for path in paths)
    return answer(200, PAGE.replace(b"</p>", links.encode() + b"</p>"))


def robots(crawl: SmallCrawl, text: str) -> None:
    record = RobotsRecord(SITE, "rules", 200, text.encode(), NOW, NOW + 1e6)
    crawl.records.put(record)


def explorer_of(crawl: SmallCrawl, rules: ExploringRules) -> Explorer:
    wall = crawl.clock.wall
    return Explorer(crawl.database, crawl.crawl, crawl.frontier, rules, lambda: crawl.links, wall)


def visit_all(crawl: SmallCrawl, explorer: Explorer, answers: Mapping[str, Response]) -> list[str]:
    """Visit what is pending, keep it, and let the explorer learn of it; the paths."""

    async def visit(lease: Lease) -> None:
        given = answers.get(lease.url.removeprefix(SITE), answer(404))
        given = replace(given, sent_at=crawl.now)
        await keeper.keep(await crawl.judge.judge(lease, given), 1)

    keeper = crawl.keeper(learners=[explorer])
    leases = [*crawl.frontier.lease(HOST, 100), *crawl.frontier.lease("index.org", 100)]
    for lease in leases:
        asyncio.run(visit(lease))
    return [lease.url.removeprefix(SITE) for lease in leases]


def asked(
    crawl: SmallCrawl,
    rules: ExploringRules,
    known: Iterable[str],
    answers: Mapping[str, Response] | None = None,
) -> list[list[str]]:
    """What is asked for after pages of these paths are known, look by look, until nothing is."""
    answers = {path: answer(200, PAGE.replace(b"/next", b"#")) for path in known} | (answers or {})
    explorer = explorer_of(crawl, rules)
    found = [Found(SITE + path, HOST, 1, FoundBy.LINK, True, "") for path in known]
    crawl.frontier.add(found, None, NOW)
    visit_all(crawl, explorer, answers)
    looks: list[list[str]] = []
    while hosts := explorer.explore(HOST):
        assert len(looks) < 20, "it goes on without end"
        assert hosts
        looks.append(visit_all(crawl, explorer, answers))
    return looks


TRIES: dict[str, tuple[ExploringRules, list[str], str, list[list[str]]]] = {
    "nothing allowed": (NOTHING, ["/a"], "Sitemap: /map.xml", []),
    "nothing known": (ExploringRules(), [], "Sitemap: /map.xml", []),
    "sitemaps that are named": (
        SITEMAPS, ["/a"], "Sitemap: /1.xml\nSitemap: /2.xml", [["/1.xml", "/2.xml"]],
    ),
    "usual sitemaps, until four were in vain": (
        SITEMAPS, ["/a"], "",
        [["/sitemap.xml"], ["/sitemap_index.xml"], ["/sitemap-index.xml"], ["/wp-sitemap.xml"]],
    ),
    "usual sitemaps, where the named one is elsewhere": (
        SITEMAPS, ["/a", "/sitemap.xml"], "Sitemap: http://other.org/map.xml",
        [["/sitemap_index.xml"], ["/sitemap-index.xml"], ["/wp-sitemap.xml"], ["/sitemap.xml.gz"]],
    ),
    "the next page of a list": (LISTS, ["/list?page=2", "/list?page=3"], "", [["/list?page=4"]]),
    "no list": (LISTS, ["/a", "/b"], "", []),
    "usual archives": (
        PLACES, ["/a"], "", [["/archive"], ["/archives"], ["/sitemap"], ["/all"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rules", "known", "text", "looks"), TRIES.values(), ids=TRIES)
def test_a_dry_host_is_asked_for_what_it_may_have(
    tmp_path: Path, rules: ExploringRules, known: list[str], text: str, looks: list[list[str]]
) -> None:
    with small_crawl(tmp_path) as crawl:
        robots(crawl, text)
        found = asked(crawl, rules, known)
    assert found == looks


@pytest.mark.parametrize(
    ("story", "last"),
    [
        ("/{list}/{story}", 7),  # page 7 is not there
        ("/{story}", 5),  # each page names what the one before it named
    ],
)
def test_a_list_is_followed_while_its_pages_bring_something_new(
    tmp_path: Path, story: str, last: int
) -> None:
    pages = {
        f"/list?page={n}": names(*(story.format(list=n, story=each) for each in range(5)))
        for n in range(4, 7)
    }
    with small_crawl(tmp_path) as crawl:
        looks = asked(crawl, LISTS, ["/list?page=2", "/list?page=3"], pages)
    lists = [path for look in looks for path in look if path.startswith("/list")]
    assert lists == [f"/list?page={n}" for n in range(4, last + 1)]


def test_a_place_that_names_pages_is_the_one_that_is_used(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        looks = asked(crawl, PLACES, ["/a"], {"/archives": names("/1", "/2")})
        assert looks == [["/archive"], ["/archives"]]
        assert crawl.state_of("/1") == UrlState.PENDING


def test_what_was_in_vain_is_in_vain_for_the_next_run_too(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        assert len(asked(crawl, PLACES, ["/a"])) == 4
    with small_crawl(tmp_path) as crawl:
        assert explorer_of(crawl, PLACES).explore(HOST) == set()


@pytest.mark.parametrize(
    ("hours", "state"), [(1, UrlState.DONE), (25, UrlState.PENDING), (23.5, UrlState.DONE)]
)
def test_a_sitemap_is_read_again_by_a_run_of_the_next_day(
    tmp_path: Path, hours: float, state: UrlState
) -> None:
    with small_crawl(tmp_path) as crawl:
        robots(crawl, "Sitemap: /map.xml")
        asked(crawl, SITEMAPS, ["/a"])
        crawl.now += hours * 3600
        explorer = explorer_of(crawl, SITEMAPS)
        explorer.explore(HOST)
        assert crawl.state_of("/map.xml") == state
        visit_all(crawl, explorer, {})
        explorer.explore(HOST)
        assert crawl.state_of("/map.xml") == UrlState.DONE, "once a run"


def test_an_index_of_others_is_asked_for_the_host(tmp_path: Path) -> None:
    with small_crawl(tmp_path) as crawl:
        ((url,),) = asked(crawl, INDEX, ["/a"])
        ((host, by),) = crawl.database.read(
            "SELECT h.name, u.found_by FROM urls u JOIN hosts h ON h.id = u.host_id WHERE u.url = ?",
            (url,),
        )
    assert url.startswith("http://index.org/CC?url=e.org/*")
    assert (host, by) == ("index.org", FoundBy.COMMON_CRAWL)


def test_what_is_tried_says_why(tmp_path: Path) -> None:
    def row(crawl: SmallCrawl, path: str) -> Any:
        query = "SELECT found_by, rule, page_type FROM urls WHERE url = ?"
        (found,) = crawl.database.read(query, (SITE + path,))
        return found

    with small_crawl(tmp_path) as crawl:
        robots(crawl, "Sitemap: /map.xml")
        asked(crawl, ExploringRules(), ["/list?page=2", "/list?page=3"])
        assert row(crawl, "/map.xml") == ("sitemap", "named by robots.txt", LISTING)
        assert row(crawl, "/archive") == ("usual-place", "a usual place: /archive", "")
        assert row(crawl, "/list?page=4") == (
            "pagination", f"one past the last page of {SITE}/list?page={{n}}", "",
        )  # fmt: skip
