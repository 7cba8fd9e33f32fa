"""Links of an HTML document, as a browser would follow them. Pure: bytes in, mentions out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl4r.model import FoundBy

_FOLLOWED = "a[href],area[href],frame[src],iframe[src],link[href],meta[http-equiv],meta[name]"
_REFRESH = re.compile(r"^\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?(['\"]?)(.*?)\1\s*$", re.IGNORECASE)
_LINK_RELS = {"canonical": FoundBy.CANONICAL, "next": FoundBy.NEXT, "prev": FoundBy.PREVIOUS}
_BLANK = str.maketrans("", "", "\t\n\r")  # what the URL standard removes anywhere in a URL


class Mention(NamedTuple):
    """A link as it stands in the document."""

    href: str
    by: FoundBy
    nofollow: bool
    anchor: LexborNode | None  # where its text can be read, if anybody asks


class Document:
    """A parsed page: its base, its robots directives and its mentions of other URLs."""

    def __init__(self, html: bytes | str, url: str) -> None:
        self._tree = LexborHTMLParser(html)
        self.url = url
        self.nofollow = False
        self.noindex = False
        base = self._tree.css_first("base[href]")
        self.base_href = (base.attributes.get("href") or "").strip() if base else ""

    def mentions(self) -> Iterator[Mention]:
        """Every link once for each time it stands there; `nofollow` and `noindex` are then known."""
        for node in self._tree.css(_FOLLOWED):
            tag = node.tag
            if tag in ("a", "area"):
                attributes = node.attributes
                rel = attributes.get("rel")
                nofollow = rel is not None and "nofollow" in rel.lower().split()
                yield Mention(_clean(attributes.get("href")), FoundBy.LINK, nofollow, node)
            elif tag == "link":
                yield from _of_link(node)
            elif tag == "meta":
                yield from self._of_meta(node)
            else:
                yield Mention(_clean(node.attributes.get("src")), FoundBy.FRAME, False, None)

    def _of_meta(self, node: LexborNode) -> Iterator[Mention]:
        attributes = node.attributes
        content = attributes.get("content") or ""
        if (attributes.get("http-equiv") or "").lower() == "refresh":
            match = _REFRESH.match(content[:4096])
            if match and match.group(2):
                yield Mention(_clean(match.group(2)), FoundBy.REFRESH, False, None)
        elif (attributes.get("name") or "").lower() == "robots":
            words = {word.strip().lower() for word in content[:1024].split(",")}
            self.nofollow |= bool(words & {"nofollow", "none"})
            self.noindex |= bool(words & {"noindex", "none"})


def _of_link(node: LexborNode) -> Iterator[Mention]:
    attributes = node.attributes
    rels = (attributes.get("rel") or "").lower().split()
    href = _clean(attributes.get("href"))
    for rel in rels:
        if rel in _LINK_RELS:
            yield Mention(href, _LINK_RELS[rel], False, None)
        elif rel == "alternate" and attributes.get("hreflang"):
            yield Mention(href, FoundBy.HREFLANG, False, None)


def _clean(href: str | None) -> str:
    if not href:
        return ""
    href = href.strip()
    return href.translate(_BLANK) if not href.isprintable() else href
