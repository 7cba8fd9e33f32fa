"""Links of an HTML document, as a browser would follow them. Pure: bytes in, mentions out.

Images, scripts and style sheets are not pages and are left out, `srcset` with them.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl4r.model import FoundBy

# One query for all of it: each further one costs a walk over the whole tree, found or not.
_NAMED = (
    "a[href],area[href],frame[src],iframe[src],base[href],link[href],meta[http-equiv],meta[name]"
)
_REFRESH_TIME = re.compile(r"[\d.]*[\s;,]*")
_REFRESH_NAME = re.compile(r"url\s*=\s*", re.IGNORECASE)
FEED_TYPES = frozenset(["application/rss+xml", "application/atom+xml", "application/feed+json"])
_LINK_RELS = {"canonical": FoundBy.CANONICAL, "next": FoundBy.NEXT, "prev": FoundBy.PREVIOUS}


class Document:
    """A parsed page: its base, its robots directives and its mentions of other URLs."""

    def __init__(self, html: bytes) -> None:
        self.tree = LexborHTMLParser(html)
        self.base_href = ""
        self.nofollow = False
        self.noindex = False
        # Every link once for each time it stands there: href, kind, and where. Plain tuples, for
        # there are dozens on every page.
        self.mentions: list[tuple[str, FoundBy, LexborNode]] = []
        for node in self.tree.css(_NAMED):
            tag = node.tag
            if tag in ("a", "area"):
                self._mention(node.attrs.get("href"), FoundBy.LINK, node)
            elif tag in ("frame", "iframe"):
                self._mention(node.attrs.get("src"), FoundBy.FRAME, node)
            elif tag == "link":
                self._read_link(node)
            elif tag == "meta":
                self._read_meta(node)
            else:
                self.base_href = self.base_href or (node.attrs.get("href") or "").strip()

    def _mention(self, href: str | None, by: FoundBy, node: LexborNode) -> None:
        if href:
            self.mentions.append((href, by, node))

    def _read_link(self, node: LexborNode) -> None:
        attributes = node.attributes
        for word in (attributes.get("rel") or "").lower().split():
            if word in _LINK_RELS:
                self._mention(attributes.get("href"), _LINK_RELS[word], node)
            elif word == "alternate" and _is_feed(attributes.get("type")):
                self._mention(attributes.get("href"), FoundBy.FEED_LINK, node)
            elif word == "alternate" and attributes.get("hreflang"):
                self._mention(attributes.get("href"), FoundBy.HREFLANG, node)

    def _read_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content") or ""
        if (attributes.get("http-equiv") or "").lower() == "refresh":
            self._mention(_refresh_target(content), FoundBy.REFRESH, node)
        elif (attributes.get("name") or "").lower() == "robots":
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


def is_nofollow(node: LexborNode) -> bool:
    return "nofollow" in (node.attributes.get("rel") or "").lower().split()
