"""Links of an HTML document, as a browser would follow them. Pure: bytes in, mentions out.

Images, scripts and style sheets are not pages and are left out, `srcset` with them.
"""

from __future__ import annotations

import re

from turbohtml import Element

from crawl4r.errors import InvalidUrl
from crawl4r.formats.html import parse_html
from crawl4r.model import FoundBy
from crawl4r.urls.canonical import AS_WRITTEN, canonicalize

_FRAMES = ("frame", "iframe")
_NAMED = ("a", "area", *_FRAMES)
_REFRESH_TIME = re.compile(r"[\d.]*[\s;,]*")
_REFRESH_NAME = re.compile(r"url\s*=\s*", re.IGNORECASE)
FEED_TYPES = frozenset(["application/rss+xml", "application/atom+xml", "application/feed+json"])
_NOFOLLOW_LINKS, _NOFOLLOW_AREAS = "a[rel~=nofollow i]", "area[rel~=nofollow i]"
_LINK_RELS = {"canonical": FoundBy.CANONICAL, "next": FoundBy.NEXT, "prev": FoundBy.PREVIOUS}


Mention = tuple[str, FoundBy, Element]


class LinkDocument:
    """A parsed page: its base, its robots directives and its mentions of other URLs."""

    def __init__(self, html: bytes) -> None:
        self.tree = parse_html(html)
        self.base_href = ""
        self.nofollow = False
        self.noindex = False
        # Every link once for each time it stands there: href, kind, and where. Plain tuples, for
        # there are dozens on every page.
        self.mentions: list[Mention] = []
        find = self.tree.find_all
        for node in find("base"):
            self.base_href = self.base_href or (node.attr("href") or "").strip()
        for node in find("link"):
            self._read_link(node)
        for node in find("meta"):
            self._read_meta(node)
        if find("area") or find("frame") or find("iframe"):
            for node in self.tree.iter_elements(_NAMED):
                is_frame = node.tag in _FRAMES
                by = FoundBy.FRAME if is_frame else FoundBy.LINK
                self._mention(node.attr("src" if is_frame else "href"), by, node)
        else:  # the parser knows its elements by name: no walk over all of them
            link = FoundBy.LINK
            self.mentions += [(href, link, a) for a in find("a") if (href := a.attr("href"))]

    def has_rels(self) -> bool:
        """Whether any link says what it is: on most pages none needs to be asked."""
        return bool(self.tree.select("a[rel]") or self.tree.select("area[rel]"))

    def has_nofollow(self) -> bool:
        """Whether any link says that it is not to be followed."""
        return bool(self.tree.select(_NOFOLLOW_LINKS) or self.tree.select(_NOFOLLOW_AREAS))

    def base(self, url: str) -> str:
        """What links on the page are relative to, when it was found at `url`."""
        if not self.base_href:
            return url
        try:
            return canonicalize(self.base_href, url, AS_WRITTEN)
        except InvalidUrl:
            return url

    def _mention(self, href: str | None, by: FoundBy, node: Element) -> None:
        if href:
            self.mentions.append((href, by, node))

    def _read_link(self, node: Element) -> None:
        for word in (node.attr("rel") or "").lower().split():
            if word in _LINK_RELS:
                self._mention(node.attr("href"), _LINK_RELS[word], node)
            elif word == "alternate" and _is_feed(node.attr("type")):
                self._mention(node.attr("href"), FoundBy.FEED_LINK, node)
            elif word == "alternate" and node.attr("hreflang"):
                self._mention(node.attr("href"), FoundBy.HREFLANG, node)

    def _read_meta(self, node: Element) -> None:
        content = node.attr("content") or ""
        if (node.attr("http-equiv") or "").lower() == "refresh":
            self._mention(_refresh_target(content), FoundBy.REFRESH, node)
        elif (node.attr("name") or "").lower() == "robots":
            words = {word.strip().lower() for word in content[:1024].split(",")}
            self.nofollow |= bool(words & {"nofollow", "none"})
            self.noindex |= bool(words & {"noindex", "none"})


def _is_feed(media_type: str | None) -> bool:
    return (media_type or "").partition(";")[0].strip().lower() in FEED_TYPES


def _refresh_target(content: str) -> str:
    """`5; url='/x'` and its many spellings; an empty string for a mere reload."""
    content = content[:4096].strip()
    rest = content[_REFRESH_TIME.match(content).end() :]  # type: ignore[union-attr]
    if name := _REFRESH_NAME.match(rest):
        rest = rest[name.end() :]
    if rest[:1] in {"'", '"'}:
        rest = rest[1:].partition(rest[0])[0]
    return rest.strip()


def is_nofollow(node: Element) -> bool:
    return "nofollow" in (node.attr("rel") or "").lower().split()
