"""Links of an HTML document, as a browser would follow them. Pure: bytes in, mentions out.

Images, scripts and style sheets are not pages and are left out, `srcset` with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl4r.model import FoundBy

_IN_HEAD = "base[href],link[href],meta[http-equiv],meta[name]"
_REFRESH_TIME = re.compile(r"[\d.]*[\s;,]*")
_REFRESH_NAME = re.compile(r"url\s*=\s*", re.IGNORECASE)
# Spelled out letter by letter: with IGNORECASE the scan takes fifteen times as long.
_RARE_TAGS = re.compile(rb"<(?:[aA][rR][eE][aA]|[iI]?[fF][rR][aA][mM][eE])")
_HEAD_TAGS = re.compile(rb"<(?:[bB][aA][sS][eE]|[mM][eE][tT][aA])[\s/]")
_STRAY_TAG = re.compile(
    rb"<(?!(?:meta|link|base|title|style|script|noscript|template|head|html)[\s/>])[a-z]",
    re.IGNORECASE,
)
_ALL_KINDS = [
    ("a", "href", FoundBy.LINK),
    ("area", "href", FoundBy.LINK),
    ("frame", "src", FoundBy.FRAME),
    ("iframe", "src", FoundBy.FRAME),
]
_LINK_RELS = {"canonical": FoundBy.CANONICAL, "next": FoundBy.NEXT, "prev": FoundBy.PREVIOUS}


class Document:
    """A parsed page: its base, its robots directives and its mentions of other URLs."""

    def __init__(self, html: bytes) -> None:
        self._tree = LexborHTMLParser(html)
        self.base_href = ""
        self.nofollow = False
        self.noindex = False
        self._in_head: list[tuple[str, FoundBy, LexborNode]] = []
        self._kinds = _kinds_in(html)
        self._has_late_head_tags = _has_late_head_tags(html)
        self._read_head()

    def mentions(self) -> Iterator[tuple[str, FoundBy, LexborNode]]:
        """Every link, once for each time it stands there: href, kind, and where.

        Plain tuples: this runs for each of the dozens of links of every page.
        """
        yield from self._in_head
        for tag, attribute, by in self._kinds:
            for node in self._tree.tags(tag):
                if href := node.attrs.get(attribute):
                    yield href, by, node

    def _read_head(self) -> None:
        for node in self._where_head_tags_are().css(_IN_HEAD):
            attributes = node.attributes
            if node.tag == "base":
                self.base_href = self.base_href or (attributes.get("href") or "").strip()
            elif node.tag == "link":
                self._read_link(node, attributes.get("rel") or "", bool(attributes.get("hreflang")))
            else:
                self._read_meta(node, attributes.get("content") or "")

    def _where_head_tags_are(self) -> LexborNode | LexborHTMLParser:
        """The head, or all of a page that has such tags in its body: browsers heed those too."""
        head = self._tree.head
        return head if head is not None and not self._has_late_head_tags else self._tree

    def _read_link(self, node: LexborNode, rel: str, has_language: bool) -> None:
        href = node.attributes.get("href") or ""
        for word in rel.lower().split():
            if word in _LINK_RELS:
                self._in_head.append((href, _LINK_RELS[word], node))
            elif word == "alternate" and has_language:
                self._in_head.append((href, FoundBy.HREFLANG, node))

    def _read_meta(self, node: LexborNode, content: str) -> None:
        attributes = node.attributes
        if (attributes.get("http-equiv") or "").lower() == "refresh":
            if href := _refresh_target(content):
                self._in_head.append((href, FoundBy.REFRESH, node))
        elif (attributes.get("name") or "").lower() == "robots":
            words = {word.strip().lower() for word in content[:1024].split(",")}
            self.nofollow |= bool(words & {"nofollow", "none"})
            self.noindex |= bool(words & {"noindex", "none"})


def _has_late_head_tags(html: bytes) -> bool:
    """Whether a base or meta may stand in the body, also because a stray tag ended the head."""
    body_at = html.find(b"<body")
    if body_at < 0 or _HEAD_TAGS.search(html, body_at):
        return True
    return _STRAY_TAG.search(html, 0, body_at) is not None


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


def _kinds_in(html: bytes) -> list[tuple[str, str, FoundBy]]:
    """Tags worth asking the tree for: a query costs as much when it finds nothing."""
    return _ALL_KINDS if _RARE_TAGS.search(html) else _ALL_KINDS[:1]
