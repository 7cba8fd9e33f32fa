"""Which raw hrefs led nowhere new?"""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.discovery.links.known import KnownLinks
from crawl4r.discovery.links.page_links import Mention
from crawl4r.model import FoundBy

_MOST = 250_000
_NEVER_NEW = -1
_LINK = FoundBy.LINK


class SeenLinks:
    """The depths at which the hrefs of one page after the other were seen."""

    def __init__(self, most: int = _MOST) -> None:
        self._depths: KnownLinks[int] = KnownLinks(most)

    def turn_to(self, base: str) -> None:
        """The next hrefs stand on a page with this base."""
        self._depths.turn_to(base, _NEVER_NEW)

    def without_known(self, mentions: Sequence[Mention], depth: int) -> list[Mention]:
        """The mentions without the links that were seen before, and no deeper: almost all of them."""
        best, key = self._depths.get, self._depths.key
        return [
            mention
            for mention in mentions
            if best(key(mention[0]), depth + 1) > depth or mention[1] is not _LINK
        ]

    def is_new(self, href: str, depth: int) -> bool:
        """Whether it is new, or was seen only at greater depths; from now on it is known."""
        key = self._depths.key(href)
        if self._depths.get(key, depth + 1) <= depth:
            return False
        self._depths[key] = depth
        return True
