"""A page as a value: what it says and where it leads. The HTML is made of nothing else, so that what
a truth derives from `links` is what a reader of the HTML finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import NamedTuple


class Link(NamedTuple):
    href: str
    words: str


@dataclass(frozen=True, slots=True)
class Page:
    """`aside` stands beside the text (navigation, related pages); `next` and `canonical` are named in
    the head alone, as is `feed`. `form` is markup that goes in as it is."""

    title: str
    paragraphs: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    navigation: tuple[Link, ...] = ()
    aside: tuple[Link, ...] = ()
    next: str = ""
    canonical: str = ""
    feed: str = ""
    form: str = ""

    @property
    def hrefs(self) -> list[str]:
        """Every href that a crawler would follow from here: anchors, then rel=next."""
        anchors = [link.href for link in (*self.navigation, *self.links, *self.aside)]
        return [*anchors, self.next] if self.next else anchors

    def html(self) -> bytes:
        text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in self.paragraphs)
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title)}</title>{self._head()}</head>\n<body>\n"
            f"<nav>{_listed(self.navigation)}</nav>\n"
            f"<main><article><h1>{escape(self.title)}</h1>\n{text}\n{self.form}</article>\n"
            f"{_listed(self.links)}</main>\n"
            f"<aside>{_listed(self.aside)}</aside>\n</body></html>\n"
        ).encode()

    def _head(self) -> str:
        feed = 'alternate" type="application/rss+xml'
        named = (("next", self.next), ("canonical", self.canonical), (feed, self.feed))
        return "".join(f'<link rel="{rel}" href="{escape(href)}">' for rel, href in named if href)


def _listed(links: Iterable[Link]) -> str:
    items = "".join(
        f'<li><a href="{escape(href)}">{escape(words)}</a></li>' for href, words in links
    )
    return f"<ul>{items}</ul>" if items else ""
