"""Which raw hrefs led nowhere new, before anything is parsed."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.discovery.links.page_links import Mention
from crawl4r.model import FoundBy
from crawl4r.urls.canonical import split

_MOST = 250_000
_NEVER_NEW = -1
_LINK = FoundBy.LINK
_ABSOLUTE = ("https://", "http://")  # `http:a` and `httpd.conf` are relative


class SeenLinks:
    """The depths at which hrefs were seen.

    An href that starts with a slash or a scheme means the same on every page of an origin, any other
    the same on every page of a folder: so the text itself is the key, in a table of its own kind. Its
    64-bit hash stands for it, at a third of the memory: Python keys its hashes with a secret, so no
    site can make two of its links collide.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._tables: dict[str, dict[int, int]] = {}
        self.count = 0

    def on_page(self, base: str) -> LinksOfPage:
        """For the hrefs of one page."""
        if self.count > self._most:
            self._tables.clear()
            self.count = 0
        return LinksOfPage(self, base)

    def table(self, name: str) -> dict[int, int]:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = {}
            self.count += 1  # an empty table takes room too
        return table


class LinksOfPage:
    """What was seen of the hrefs that may stand on a page with this base."""

    def __init__(self, seen: SeenLinks, base: str) -> None:
        self._seen = seen
        self._page = base.partition("#")[0].partition("?")[0]
        self._by_origin = seen.table(split(self._page).origin)
        self._by_folder = seen.table(self._page[: self._page.rindex("/") + 1])
        self._by_folder[hash("")] = _NEVER_NEW  # a place on the page itself

    def without_known(self, mentions: Sequence[Mention], depth: int) -> list[Mention]:
        """The mentions without the links that were seen before, and no deeper: almost all of them."""
        origin, folder = self._by_origin.get, self._by_folder.get
        others = []
        for mention in mentions:
            href = mention[0]
            best = origin(hash(href))  # what is in there is whole: most links, and at once
            if best is None:
                key = hash(href.partition("#")[0])
                best = origin(key, folder(key))
            if best is None or best > depth or mention[1] is not _LINK:
                others.append(mention)
        return others

    def is_new(self, href: str, depth: int) -> bool:
        """Whether it is new, or was seen only at greater depths; from now on it is known."""
        href = href.partition("#")[0]
        if not href:
            return False
        table = self._table_of(href)
        key = hash(href)
        best = table.get(key)
        if best is not None and best <= depth:
            return False
        table[key] = depth
        self._seen.count += 1
        return True

    def _table_of(self, href: str) -> dict[int, int]:
        if href[0] == "/" or href.startswith(_ABSOLUTE):
            return self._by_origin
        return self._seen.table(self._page + "?") if href[0] == "?" else self._by_folder
