"""A news site: a front page, numbered lists, archives, tags, a feed and sitemaps.

Nothing on it is found in one way only by accident: `News` switches each way off, and `NewsTruth` says
what remains.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, NoReturn

from tests.site.access_log import AccessRecord
from tests.site.exchange import Request
from tests.worlds.answer import MISSING, Answer, redirect
from tests.worlds.news_lists import A_PAGE, MOST_PAGES, SECTIONS
from tests.worlds.news_pages import ABOUT, FEED, NewsPages, Switches
from tests.worlds.news_sitemaps import IN_FEED, NewsMaps, feed_of, robots_of
from tests.worlds.news_stories import Newsroom

ROBOTS = "/robots.txt"


@dataclass(frozen=True, slots=True)
class News:
    """The parameters. What is switched off is a 404, but for the switches of links:

    `pagination_links="first-two"`: page 2 of a list leads no further, though the pages are there.
    `month_links=False`: articles do not link the archive of their month, nor the months each other.
    """

    articles: int = 3000
    seed: int = 1
    sitemaps: bool = True
    archives: bool = True
    feed: bool = True
    pagination_links: Literal["all", "first-two"] = "all"
    month_links: bool = True

    def world(self) -> NewsWorld:
        return _built(self)

    def truth(self) -> NewsTruth:
        return _true_of(self)


class Tally(NamedTuple):
    """What the requests of a crawl were for. `repeated` were asked before; 304s are not counted."""

    requests: int
    articles: int  # different ones
    wasted: int
    repeated: int


@dataclass(frozen=True, slots=True)
class NewsTruth:
    """All by path, with the query, as the access log has them.

    `kinds` has every URL that exists, by what it is: article, front, list, archive, tag, page,
    sitemap, feed, robots. `linked` is what a crawler finds from the front page by links and rel=next.
    `listed` are the articles on any list page, which end after forty.
    """

    articles: frozenset[str]
    kinds: dict[str, frozenset[str]]
    linked: frozenset[str]
    listed: frozenset[str]
    in_feed: frozenset[str]

    @property
    def linked_articles(self) -> frozenset[str]:
        return self.articles & self.linked

    def wasted(self, path: str) -> bool:
        """Was it in vain to ask for this: a 404, a redirect, or another spelling of a page?"""
        return not any(path in paths for paths in self.kinds.values())

    def tally(self, records: Iterable[AccessRecord]) -> Tally:
        asked = [record for record in records if record.status != 304]
        times = Counter(record.path for record in asked)
        return Tally(
            len(asked),
            len(self.articles & times.keys()),
            sum(self.wasted(record.path) for record in asked),
            len(asked) - len(times),
        )


class NewsWorld:
    """See `answer.World`."""

    def __init__(self, parameters: News) -> None:
        self._parameters = parameters
        shares = {section.name: section.share for section in SECTIONS}
        self._newsroom = Newsroom(parameters.seed, parameters.articles, shares)
        switches = Switches(
            parameters.archives,
            parameters.feed,
            parameters.pagination_links == "all",
            parameters.month_links,
        )
        self._pages = NewsPages(self._newsroom, switches)
        self._maps = NewsMaps(self._newsroom)

    def answer(self, request: Request) -> Answer:
        path, origin = request.path, request.origin
        if path == ROBOTS:
            return robots_of(origin, names_sitemaps=self._parameters.sitemaps)
        if self._parameters.feed and path == FEED:
            return feed_of(self._newsroom, origin)
        if self._parameters.sitemaps and (found := self._maps.at(path, origin)):
            return found
        if page := self._pages.at(request.target):
            story = self._newsroom.by_path.get(path)
            return Answer(page.html(), changed=story.published if story else None)
        place = self._pages.elsewhere(request.target)
        return redirect(place) if place else MISSING

    def hear(self, words: Mapping[str, Any]) -> NoReturn:
        raise ValueError(f"a news site stays as it is: {words}")

    def truth(self) -> NewsTruth:
        articles = frozenset(self._newsroom.by_path)
        sections = self._newsroom.by_section.values()
        listed = (story for stories in sections for story in stories[: A_PAGE * MOST_PAGES])
        fed = self._newsroom.stories[: IN_FEED if self._parameters.feed else 0]
        return NewsTruth(
            articles,
            {"article": articles} | self._other_kinds(),
            self._linked(),
            frozenset(story.path for story in listed),
            frozenset(story.path for story in fed),
        )

    def _other_kinds(self) -> dict[str, frozenset[str]]:
        lists = (path for section in SECTIONS for path in self._pages.list_pages(section))
        return {
            "front": frozenset(["/"]),
            "list": frozenset(lists),
            "archive": frozenset(self._pages.archive_pages()),
            "tag": frozenset(f"/tag/{tag}" for tag in self._newsroom.by_tag),
            "page": frozenset([ABOUT]),
            "sitemap": frozenset(self._maps.paths() if self._parameters.sitemaps else ()),
            "feed": frozenset([FEED] if self._parameters.feed else ()),
            "robots": frozenset([ROBOTS]),
        }

    def _linked(self) -> frozenset[str]:
        found, queue = {"/"}, deque(["/"])
        while queue:
            new = set(self._pages.leads_to(queue.popleft())) - found
            found |= new
            queue.extend(new)
        return frozenset(found)


@lru_cache(maxsize=8)
def _built(parameters: News) -> NewsWorld:
    return NewsWorld(parameters)


@lru_cache(maxsize=8)
def _true_of(parameters: News) -> NewsTruth:
    return parameters.world().truth()
