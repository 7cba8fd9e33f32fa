"""Which page stands at which URL of a news site, and where it leads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.worlds.news_lists import A_PAGE, SECTIONS, Past, Section, page_count
from tests.worlds.news_stories import Month, Newsroom, Story
from tests.worlds.page import Link, Page

ON_THE_FRONT = 30
UNDER_A_TAG = 10
FEED = "/feed.xml"
ARCHIVE = "/archive"
ABOUT = "/about"
_NAVIGATION = (
    Link("/", "Front page"),
    *(Link(section.first, section.name.title()) for section in SECTIONS),
    Link(ABOUT, "About us"),
)


@dataclass(frozen=True, slots=True)
class Switches:
    """What of the site there is, and which of it is linked."""

    archives: bool
    feed: bool
    links_all_pages: bool
    links_months: bool


class NewsPages:
    """`at` knows the page of every URL that answers 200 with HTML; `elsewhere` the redirects."""

    def __init__(self, newsroom: Newsroom, switches: Switches) -> None:
        self._newsroom = newsroom
        self._switches = switches

    def at(self, target: str) -> Page | None:
        path = target.partition("?")[0]
        if path == "/":
            return self._page("The front page", self._newsroom.stories[:ON_THE_FRONT])
        if story := self._newsroom.by_path.get(path):
            return self._story(story, self._newsroom.text(story))
        if path == ABOUT:
            text = "We write down what happens, and who says so, every day but Sunday."
            return self._page("About us", text=(text,))
        if path.startswith("/tag/"):
            return self._tag(path.removeprefix("/tag/"))
        if self._switches.archives and (found := self._archive(path)):
            return found
        return self._listed(target)

    def leads_to(self, target: str) -> list[str]:
        """The hrefs of the page at a URL that is there. A story's text has none, so it is left out."""
        story = self._newsroom.by_path.get(target)
        page = self._story(story, ()) if story else self.at(target)
        assert page is not None, "a link that leads nowhere"
        return page.hrefs

    def elsewhere(self, target: str) -> str | None:
        """Where a URL redirects to: the other spelling with a slash, or page 1 of a list."""
        path = target.partition("?")[0]
        other = path.removesuffix("/") if path.endswith("/") else path + "/"
        if len(path) > 1 and self.at(path) is None and self.at(other) is not None:
            return other
        for section in SECTIONS:
            if section.past is Past.FIRST and self._is_past(section, target):
                return section.first
        return None

    def list_pages(self, section: Section) -> list[str]:
        count = page_count(len(self._newsroom.by_section[section.name]))
        return [section.page(number) for number in range(1, count + 1)]

    def archive_pages(self) -> list[str]:
        if not self._switches.archives:
            return []
        months = self._newsroom.months
        years = dict.fromkeys(f"/{month.year}/" for month in months)
        return [ARCHIVE, *years, *(month.path for month in months)]

    def _page(
        self,
        title: str,
        stories: Iterable[Story] = (),
        text: tuple[str, ...] = (),
        more: Iterable[Link] = (),
        next_page: str = "",
    ) -> Page:
        return Page(
            title,
            text,
            tuple(Link(story.path, story.title) for story in stories),
            _NAVIGATION,
            tuple(more),
            next_page,
            feed=FEED if self._switches.feed else "",
        )

    def _story(self, story: Story, text: tuple[str, ...]) -> Page:
        more = [Link(f"/tag/{tag}", tag) for tag in story.tags]
        if self._switches.archives and self._switches.links_months:
            more.append(_month_link(story.month))
        day = f"{story.published:%d %B %Y}"
        dated = (f"{story.section.title()}, {day}.", *text)
        return self._page(story.title, self._newsroom.related(story), dated, more)

    def _tag(self, tag: str) -> Page | None:
        stories = self._newsroom.by_tag.get(tag)
        return self._page(f"Stories about {tag}", stories[:UNDER_A_TAG]) if stories else None

    def _archive(self, path: str) -> Page | None:
        months = self._newsroom.months
        if path == ARCHIVE:
            return self._page("All months", more=map(_month_link, months))
        for place, month in enumerate(months):
            if path == f"/{month.year}/":
                shown = [other for other in months if other.year == month.year]
                return self._page(f"The year {month.year}", more=map(_month_link, shown))
            if path == month.path:
                return self._month(month, months[max(0, place - 1) : place + 2])
        return None

    def _month(self, month: Month, neighbours: list[Month]) -> Page:
        more = [_month_link(other) for other in neighbours if other != month]
        more += [Link(f"/{month.year}/", str(month.year)), Link(ARCHIVE, "All months")]
        shown = self._newsroom.by_month[month]
        links = more if self._switches.links_months else ()
        return self._page(f"Stories of {month.year}-{month.number:02}", shown, more=links)

    def _listed(self, target: str) -> Page | None:
        for section in SECTIONS:
            offset = section.offset(target)
            if offset is not None:
                return self._list(section, offset)
        return None

    def _list(self, section: Section, offset: int) -> Page | None:
        stories = self._newsroom.by_section[section.name]
        last = page_count(len(stories))
        number = offset // A_PAGE + 1
        if number > last:
            if section.past is Past.EMPTY:
                return self._page(section.name.title())
            if section.past is not Past.LAST:
                return None
            number, offset = last, (last - 1) * A_PAGE
        elif offset < 0:
            return None
        leads_on = number < (last if self._switches.links_all_pages else min(last, 2))
        following = section.page(number + 1) if leads_on else ""
        shown = stories[offset : offset + A_PAGE]
        title = f"{section.name.title()}, page {number}"
        if section.hides_next:
            return self._page(title, shown, next_page=following)
        more = [Link(section.page(number - 1), "Newer")] if number > 1 else []
        if leads_on:
            final = last if self._switches.links_all_pages else 2
            more += [Link(following, "Older"), Link(section.page(final), "Oldest")]
        return self._page(title, shown, more=more)

    def _is_past(self, section: Section, target: str) -> bool:
        offset = section.offset(target)
        count = page_count(len(self._newsroom.by_section[section.name]))
        return offset is not None and offset >= count * A_PAGE


def _month_link(month: Month) -> Link:
    return Link(month.path, f"Archive of {month.year}-{month.number:02}")
